"""What may be spent, and on whose account."""

from dagster import AssetExecutionContext, ConfigurableResource
from pydantic import Field

from resources.models.account import Account


class Budget(ConfigurableResource[None]):
    """The most that may be spent, in US dollars; set once, or for one run in its config.

    With a budget, a request is only sent where its upper bound still fits, and a model without a
    price is refused.
    """

    per_run_usd: float | None = Field(
        default=None, ge=0, description="The most that one run may spend; none is no limit."
    )
    per_month_usd: float | None = Field(
        default=None,
        ge=0,
        description="The most that all runs on one call store may spend in a month (of UTC).",
    )

    remake_lost_pictures: bool = Field(
        default=False,
        description="Forget pictures that were paid for but are not in the image store any more, "
        "and have them made, and pay for them, again; otherwise they are an error.",
    )

    def account(self, context: AssetExecutionContext) -> Account:
        """The account of the asset and partition that is being materialized."""
        return Account(
            asset=context.asset_key.to_user_string(),
            partition=context.partition_key if context.has_partition_key else "",
            run=context.run.run_id,
            per_run=self.per_run_usd,
            per_month=self.per_month_usd,
            remake_lost_pictures=self.remake_lost_pictures,
        )
