"""What an answer depends on beside its request: engine, versions, pixel limits, cut thoughts.

It is no part of a call's key, so that nothing is paid for again when a server is updated: it stands
in the row, and a step tells of what has changed since its table was stored.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from logging import Logger
from sys import intern
from typing import Any

from dagster import AssetKey

from assets.kit.columns import TEXT, WHOLE, select_values
from assets.kit.step_run import Row
from metrics.reply_parsing.reply_text import strip_thinking
from resources.faults import CorruptItem
from resources.models.outcomes import AnsweredOutcome, Outcome
from resources.models.replies import THOUGHT_CHARACTERS, THOUGHT_TOKENS, THOUGHTS_CUT
from resources.storage.data_root import DataRoot

CONDITIONS = "conditions"
CONDITION_COLUMNS = {
    CONDITIONS: (
        TEXT,
        "What the answer depends on beside the request, as JSON: engine, versions, device, dtype, "
        "pixel limits, digests of chat template and weights; empty if it is not known",
    ),
    THOUGHTS_CUT: (
        TEXT,
        "Rule that cut thoughts off the reply: none, by tags (<think>), or by provider; empty "
        "without a reply in words",
    ),
    THOUGHT_CHARACTERS: (WHOLE, "Characters of these thoughts; empty if they were not sent"),
}
"""The columns that the kit fills for each row of a step that declares them."""
_OF_ONE_REQUEST = frozenset({"batch", "place", "seed", THOUGHT_TOKENS})
"""Facts of a provenance that differ between the requests of one run."""


def condition_cells(outcome: Outcome | None) -> dict[str, Any]:
    """Build the `CONDITION_COLUMNS` of a row by the last outcome of its conversation."""
    if not isinstance(outcome, AnsweredOutcome):
        return dict.fromkeys(CONDITION_COLUMNS)
    facts = {
        name: fact
        for name, fact in (outcome.provenance or {}).items()
        if name not in _OF_ONE_REQUEST
    }
    rule, characters = facts.pop(THOUGHTS_CUT, None), facts.pop(THOUGHT_CHARACTERS, None)
    # What a cassette brings is any JSON.
    characters = characters if type(characters) is int and characters >= 0 else None
    if rule != "by provider":
        rule, characters = None, None
    if rule is None and outcome.text is not None:
        characters = len(outcome.text) - len(strip_thinking(outcome.text))
        rule = "by tags" if characters else "none"
    # Many rows share one text.
    conditions = intern(json.dumps(facts, sort_keys=True)) if facts else None
    return {CONDITIONS: conditions, THOUGHTS_CUT: rule, THOUGHT_CHARACTERS: characters}


def conditions_metadata(
    key: AssetKey, partition: str, rows: Sequence[Row], home: DataRoot, log: Logger
) -> dict[str, Any]:
    """Build metadata of the conditions in a table, and report what has changed since the last."""
    current = _distinct(row[0] for row in select_values(rows, CONDITIONS))
    if not current:
        return {}
    earlier = _load_earlier(key, partition, home)
    metadata: dict[str, Any] = {CONDITIONS: current}
    if len(current) > 1 or (earlier and earlier != current):
        change = describe_differences([*earlier, *current])
        log.warning("%s: its answers differ in %s", key.to_user_string(), change)
        metadata["conditions_changed"] = change
    return metadata


def describe_differences(conditions: Iterable[str]) -> str:
    """Name the facts in which conditions differ, with their values: "dtype (bfloat16, float32)"."""
    differences = find_differences([json.loads(text) for text in dict.fromkeys(conditions)])
    return ", ".join(f"{name} ({', '.join(values)})" for name, values in differences.items())


def find_differences(conditions: Sequence[Mapping[str, Any]]) -> dict[str, list[str]]:
    """Find the facts in which conditions differ, each with its values in words."""
    names = sorted({name for facts in conditions for name in facts})
    values = {
        name: list(dict.fromkeys(format_fact(facts.get(name)) for facts in conditions))
        for name in names
    }
    return {name: variants for name, variants in values.items() if len(variants) > 1}


def format_fact(fact: Any) -> str:
    """A fact in words: "torch 2.9.0, pillow 12.0" for a mapping, "unknown" for None."""
    if fact is None:
        return "unknown"
    if isinstance(fact, Mapping):
        return ", ".join(f"{name} {format_fact(value)}" for name, value in fact.items())
    if isinstance(fact, list):
        return "; ".join(map(format_fact, fact))
    return str(fact)


def _load_earlier(key: AssetKey, partition: str, home: DataRoot) -> list[str]:
    """The conditions in the stored table; none where there is no table, or one without them."""
    try:
        table = home.find(key, partition or None, [CONDITIONS])
    except CorruptItem:
        return []
    return [] if table is None else _distinct(table[CONDITIONS])


def _distinct(conditions: Iterable[Any]) -> list[str]:
    return sorted({text for text in conditions if isinstance(text, str)})
