"""The Content Security Policy of pages: what a browser may load and run in one.

Pages show texts of models and of strangers' tables. Should one of these get past escaping, it can
still run nothing and send nothing anywhere.
"""

from base64 import b64encode
from collections.abc import Iterable
from hashlib import sha256


def content_policy(styles: Iterable[str] = (), scripts: Iterable[str] = ()) -> str:
    """The policy of a page, for its first `<meta>`: files that lie with it, and these texts alone.

    `styles` and `scripts` are the contents of the page's own elements, as they stand in its source.
    Attributes may set styles: bars are as long as their numbers.
    """
    parts = {
        "default-src": "'none'",
        "img-src": "'self' file: data:",
        "style-src": " ".join(["'self' file:", *map(_hash_source, styles)]),
        "style-src-attr": "'unsafe-inline'",
        "script-src": " ".join(["'self' file:", *map(_hash_source, scripts)]),
        "base-uri": "'none'",
        "form-action": "'none'",
    }
    return "; ".join(f"{name} {sources}" for name, sources in parts.items())


def _hash_source(text: str) -> str:
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"
