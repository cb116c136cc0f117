"""Separation of damaged stored answers from sound ones."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from resources.faults import CorruptItem

_MAX_LISTED = 5

Read = TypeVar("Read")


class DamagedAnswers(CorruptItem):
    """Rows of a store do not fit their checksums; `keys` are those that they have now."""

    def __init__(self, store: str, models: Mapping[str, str]) -> None:
        named = [f"{key!a} of {model!a}" for key, model in list(models.items())[:_MAX_LISTED]]
        more = f" and {len(models) - _MAX_LISTED:,} more" if len(models) > _MAX_LISTED else ""
        super().__init__(
            f"{store}: {len(models):,} answers that were paid for are not what was written "
            f"there: {', '.join(named)}{more}. Restore a copy of the store, or import a cassette "
            "that has them. To forget them, and ask and pay for them again, set in the run config: "
            "resources: {budget: {config: {replace_damaged_answers: true}}}. Nothing was sent."
        )
        self.keys = set(models)


@dataclass(slots=True)
class CheckedRows(Generic[Read]):
    """Rows read by key: sound ones, and the models of damaged ones."""

    sound: dict[str, Read] = field(default_factory=dict)
    damaged: dict[str, str] = field(default_factory=dict)
