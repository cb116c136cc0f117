"""Versions of assets: an entry with another backend changes those that may ask a model alone."""

import dagster as dg
import pytest

from resources.execution.asset_versions import add_code_version
from resources.execution.code_versions import read_code_versions


def read_version(required_resources, backends):
    @dg.asset(group_name="vlmbias", required_resource_keys=required_resources, code_version="1")
    def table():
        return None

    versioned = add_code_version(table, read_code_versions(), (), backends)
    return next(iter(versioned.specs)).code_version


@pytest.mark.parametrize(("required_resources", "is_changed"), [({"models"}, True), (set(), False)])
def test_another_backend_changes_what_may_ask_a_model(required_resources, is_changed):
    before, after = (
        read_version(required_resources, backends)
        for backends in (["stand_in"], ["stand_in", "imported"])
    )
    assert before.startswith("1 ")
    assert (before != after) is is_changed
