"""FRAME's part of the demo."""

from typing import Any

from assets.frame.common import key
from generators.prompts.visual_concepts import DOMAINS
from resources.home import Home


def count_made(home: Home, painter: str) -> list[dict[str, Any]]:
    """By domain: how many instructions are used, and how many of those are changed."""
    return [_row(home, domain) for domain in DOMAINS]


def _row(home: Home, domain: str) -> dict[str, Any]:
    perturbed = home.table(key("perturbed_instructions"), domain, ["changes"])
    return {
        "domain": domain,
        "instructions": len(perturbed),
        "changed": int(perturbed["changes"].gt(0).sum()),
    }
