"""What asking models has taken, as an asset says it of itself."""

from typing import Any

from resources.models.client import Asked


def cost_of(*rounds: Asked) -> dict[str, Any]:
    """Metadata of how much was asked, and what it cost."""
    spent = [each.spent for each in rounds]
    return {
        "requests_sent": sum(each.sent for each in rounds),
        "requests_known_before": sum(each.known for each in rounds),
        "spent_usd": "unknown" if None in spent else round(sum(filter(None, spent)), 6),
    }
