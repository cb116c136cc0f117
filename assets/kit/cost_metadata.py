"""What a materialization cost, in its own metadata."""

from typing import Any

from resources.models.client import AskResult


def cost_metadata(*asked: AskResult) -> dict[str, Any]:
    """What was sent and what it cost, for an asset that asked models once or several times.

    `spent_usd` is "unknown" where a price is; what timed out or was broken off may have been paid,
    and is not in it but, at its upper bound, in `possibly_spent_usd`.
    """
    spent = [each.spent for each in asked]
    return {
        "requests_sent": sum(each.sent for each in asked),
        "requests_known_before": sum(each.known for each in asked),
        "spent_usd": "unknown" if None in spent else round(sum(filter(None, spent)), 9),
        "possibly_spent_usd": round(sum(each.possibly_spent for each in asked), 9),
    }
