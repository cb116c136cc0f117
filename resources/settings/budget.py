"""Budgets, and the account that requests are booked on."""

import math
from collections.abc import Mapping
from copy import copy
from typing import Any

from dagster import AssetExecutionContext
from pydantic import Field, create_model

from resources.calls.spending import Account
from resources.settings.run_config import Resource

PER_RUN, PER_MONTH = "COUNTERFACTORY_BUDGET_PER_RUN", "COUNTERFACTORY_BUDGET_PER_MONTH"
"""The environment variables that hold budgets in US dollars."""
MAX_USD = 1_000_000_000
"""Above this, sums would not fit what the store keeps: whole billionths of a dollar."""


class Budget(Resource):
    """Spending limits, in US dollars; set once, or for one run in its config.

    With a budget, a request is only sent where its upper bound still fits, and a model without a
    price is refused.
    """

    per_run_usd: float | None = Field(
        default=None,
        ge=0,
        le=MAX_USD,
        allow_inf_nan=False,
        description="Limit for one run; none is no limit.",
    )
    per_month_usd: float | None = Field(
        default=None,
        ge=0,
        le=MAX_USD,
        allow_inf_nan=False,
        description="Limit for all runs on one call store in a month (UTC).",
    )

    remake_lost_pictures: bool = Field(
        default=False,
        description="Pay again for paid pictures that are missing from the image store; "
        "otherwise they are an error.",
    )
    replace_damaged_answers: bool = Field(
        default=False,
        description="Pay again for paid answers that are damaged in the call store; otherwise they "
        "are an error.",
    )
    replace_malformed_answers: bool = Field(
        default=False,
        description="Pay again for paid replies without a readable answer; otherwise they stay.",
    )

    @classmethod
    def from_environment(cls, environment: Mapping[str, str]) -> "Budget":
        """The budgets that the environment sets; raises `ValueError` for one that is no amount."""
        # As defaults of fields, since a run's config takes the place of all that is passed here:
        # one that changes the budget of its run would lift that of the month.
        defaults: dict[str, Any] = {}
        for name, variable in (("per_run_usd", PER_RUN), ("per_month_usd", PER_MONTH)):
            limit = copy(cls.model_fields[name])
            limit.default = _usd(environment, variable)
            defaults[name] = (float | None, limit)
        budget: Budget = create_model(cls.__name__, __base__=cls, __doc__=cls.__doc__, **defaults)()
        return budget

    def build_account(self, context: AssetExecutionContext) -> Account:
        """The account of the asset and partition that is being materialized."""
        return Account(
            asset=context.asset_key.to_user_string(),
            partition=context.partition_key if context.has_partition_key else "",
            run=context.run.run_id,
            per_run=self.per_run_usd,
            per_month=self.per_month_usd,
            remake_lost_pictures=self.remake_lost_pictures,
            replace_damaged_answers=self.replace_damaged_answers,
            replace_malformed_answers=self.replace_malformed_answers,
        )


def _usd(environment: Mapping[str, str], variable: str) -> float | None:
    value = environment.get(variable, "").strip()
    if not value:
        return None
    try:
        amount = float(value)
    except ValueError:
        amount = math.nan
    if not 0 <= amount <= MAX_USD:
        raise ValueError(
            f"{variable} is {value!r}, which is no amount of US dollars. Set it to a number as in "
            f"12.50, without a sign of currency and of at most {MAX_USD:,}, or unset it for no "
            "limit."
        )
    return amount
