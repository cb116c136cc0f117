"""Config of runs: mistakes are errors in words."""

import pytest
from pydantic import Field

from resources.settings.run_config import BadConfig, Config


class Sample(Config):
    limit: int | None = Field(None, ge=1)
    seed: int = 0


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"limits": 3}, "limits: unknown field. Allowed: limit, seed."),
        ({"limit": -1}, "limit: -1 should be greater than or equal to 1."),
        ({"seed": "many"}, "seed: 'many' should be a valid integer"),
    ],
)
def test_a_mistake_names_its_field(values, message):
    with pytest.raises(BadConfig, match=message):
        Sample(**values)


def test_all_mistakes_are_named_at_once():
    with pytest.raises(BadConfig, match=r"(?s)limit: 0 should.*sed: unknown field"):
        Sample(limit=0, sed=1)
