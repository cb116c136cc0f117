"""Seed cases: a picture, a yes/no question about it, and the right answer."""

from assets.kit.columns import TEXT, Columns
from assets.vhexpansion.common import CASE, TRUTH

SEED_CASES = Columns(
    **CASE,
    **TRUTH,
    outcome=(TEXT, "taken or rejected"),
    reason=(TEXT, "Why it was rejected; empty where it was taken"),
)
