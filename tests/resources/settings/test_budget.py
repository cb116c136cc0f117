"""Budgets: of the environment, and what a run's config makes of them."""

import re

import dagster as dg
import pytest

from resources.settings.budget import PER_MONTH, PER_RUN, Budget

BOTH = {PER_RUN: "5", PER_MONTH: "7.50"}


def account_of(environment, config=None, partitions=None):
    """What an asset is told that is materialized under a run config."""
    told = []

    @dg.asset(key_prefix="vlmbias", partitions_def=partitions)
    def answers(context: dg.AssetExecutionContext, budget: Budget) -> None:
        told.append((context.run.run_id, budget.build_account(context)))

    dg.materialize(
        [answers],
        resources={"budget": Budget.from_environment(environment)},
        run_config={"resources": {"budget": {"config": config}}} if config else {},
        partition_key="flags" if partitions else None,
    )
    ((run, account),) = told
    assert account.run == run
    return account


def test_it_is_that_of_the_environment_on_the_account_of_the_asset():
    account = account_of(BOTH, partitions=dg.StaticPartitionsDefinition(["flags"]))
    assert (account.asset, account.partition) == ("vlmbias/answers", "flags")
    assert (account.per_run, account.per_month) == (5, 7.5)
    assert not account.remake_lost_pictures


def test_without_one_there_is_no_limit():
    account = account_of({PER_RUN: " "})
    assert not account.has_budget
    assert (account.per_run, account.per_month, account.partition) == (None, None, "")


def test_a_run_may_change_one_and_keeps_the_other():
    account = account_of(BOTH, {"per_run_usd": 2})
    assert (account.per_run, account.per_month) == (2, 7.5)
    account = account_of(BOTH, {"per_run_usd": None, "remake_lost_pictures": True})
    assert not account.replace_damaged_answers
    assert (account.per_run, account.per_month) == (None, 7.5)
    assert account.remake_lost_pictures
    assert account_of({}, {"per_month_usd": 0}).has_budget
    assert account_of({}, {"replace_damaged_answers": True}).replace_damaged_answers
    assert not account.replace_malformed_answers
    assert account_of({}, {"replace_malformed_answers": True}).replace_malformed_answers


@pytest.mark.parametrize("value", ["five", "-1", "$5", "nan", "inf", "1,50", "1e300"])
@pytest.mark.parametrize("variable", [PER_RUN, PER_MONTH])
def test_what_is_no_amount_is_named(variable, value):
    with pytest.raises(
        ValueError, match=f"^{variable} is '{re.escape(value)}', which is no amount"
    ):
        Budget.from_environment({variable: value})


def test_a_negative_one_in_a_run_is_refused():
    with pytest.raises(Exception, match="budget") as error:
        account_of(BOTH, {"per_run_usd": -1})
    assert "greater than or equal to 0" in str(error.value.__cause__)


@pytest.mark.parametrize("value", [float("inf"), float("nan")])
def test_what_is_no_number_in_a_run_is_refused(value):
    with pytest.raises(Exception, match="budget") as error:
        account_of(BOTH, {"per_month_usd": value})
    assert "finite number" in str(error.value.__cause__)
