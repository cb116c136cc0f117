"""Lines of an entry to change: none that would change nothing, or make an address of no use."""

import pytest

from assets.kit.entry_changes import suggest_changes
from assets.kit.entry_check import CheckQuestion, CheckResult
from resources.models.catalog import Model
from resources.models.outcomes import FailedOutcome
from resources.models.requests import LookRequest, Turn

NOT_FOUND = CheckResult(
    CheckQuestion("sees a picture", ("judge",), LookRequest((Turn("user", "?"),)), lambda _: None),
    FailedOutcome("unacceptable", "HTTP 404: not found", 1),
    "The server has no such model.",
    "model",
)


@pytest.mark.parametrize(
    ("address", "listed_ids", "changes"),
    [
        ("http://a:8000", [], {"base_url": "http://a:8000/v1"}),
        ("http://a:8000/", [], {"base_url": "http://a:8000/v1"}),
        ("http://a:8000/v1", [], {}),
        ("https://a.example/v1beta/openai", [], {}),
        (("http://a:8000", "http://b:8000"), [], {}),
        ("http://a:8000/v1", ["llava-7b"], {"model": "llava-7b"}),
        ("http://a:8000/v1", ["llava-7", "llava-7b"], {}),
    ],
)
def test_where_a_model_is_not_found(address, listed_ids, changes):
    fields = {"name": "m", "backend": "openai_compatible", "family": "f", "model": "llava-7"}
    model = Model(**fields, base_url=address, roles=("judge",))
    assert suggest_changes(model, [NOT_FOUND], listed_ids) == changes
