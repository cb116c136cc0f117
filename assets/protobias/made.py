"""What the demo shows of ProtoBias."""

from typing import Any

from assets.protobias.common import key
from generators.prompts.concepts import DOMAINS
from resources.home import Home


def count_made(home: Home, painter: str) -> list[dict[str, Any]]:
    """By domain: triplets that passed their checks, pairs of pictures, and how many were kept."""
    return [_row(home, domain, painter) for domain in DOMAINS]


def _row(home: Home, domain: str, painter: str) -> dict[str, Any]:
    triplets = home.table(key("prompt_triplets"), domain, ["outcome"])
    pictures = home.table(key("filtered_pairs"), f"{domain}|{painter}", ["pair_id", "pair_kept"])
    pairs = pictures.drop_duplicates("pair_id")["pair_kept"]
    accepted = triplets["outcome"].eq("accepted").sum()
    return {
        "domain": domain,
        "triplets": int(accepted),
        "pairs": len(pairs),
        "kept": int(pairs.sum()),
    }
