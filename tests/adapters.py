"""Records of adapters, as training writes them."""

from hashlib import sha256
from typing import Any


def adapter_record(weights: bytes = b"", **fields: Any) -> dict[str, Any]:
    """A record that names a base, the digest of these weights, and further fields."""
    return {
        "base": {"model": "some/model", "revision": None, "sha256": "0" * 64},
        "weights": sha256(weights).hexdigest(),
        "files": {},
        "kind": "ranking",
        "data": "0",
        "recipe": {},
        "wording": "",
        "trained": {},
        "versions": {},
        **fields,
    }
