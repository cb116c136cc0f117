"""The conditions of judges' answers, collected from their tables."""

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

import pandas as pd

from assets.kit.conditions import CONDITION_COLUMNS, CONDITIONS
from assets.kit.judge_tasks import JudgeTaskFinder
from assets.report.conditions import Conditions
from resources.faults import CorruptItem
from resources.models.replies import THOUGHT_CHARACTERS, THOUGHTS_CUT

_UNCUT = (None, "none")


def collect_conditions(task_finder: JudgeTaskFinder) -> Mapping[str, Sequence[Conditions]]:
    """Collect the conditions of answers by judge, those of one benchmark together.

    Tables of an older version, which do not say them, are left out.
    """
    collected: dict[str, dict[tuple[str, str], Conditions]] = defaultdict(dict)
    for judge, folder, day, table in _iterate_tables(task_finder):
        for text, rows in table.groupby(table[CONDITIONS].fillna("{}"), sort=True):
            conditions = _summarize(folder, day, str(text), rows)
            key = folder, str(text)
            earlier = collected[judge].get(key)
            collected[judge][key] = _add(earlier, conditions) if earlier else conditions
    return {judge: [*parts.values()] for judge, parts in collected.items()}


def _iterate_tables(
    task_finder: JudgeTaskFinder,
) -> Iterator[tuple[str, str, str, pd.DataFrame]]:
    """Iterate over judges' tables: the judge, the benchmark's folder, the day, its conditions."""
    for key, step in task_finder.steps.items():
        judge = step.asset.subject_model
        if judge is None or judge.is_stand_in or CONDITIONS not in step.table.columns.columns:
            continue
        for partition in task_finder.list_partitions(step):
            home, name = task_finder.home, partition or None
            try:
                table = home.find(key, name, [*CONDITION_COLUMNS])
            except CorruptItem:
                continue
            day = home.find_latest_date(key, [name])
            if table is not None and day is not None:
                replied = table[table[CONDITIONS].notna() | table[THOUGHTS_CUT].notna()]
                yield judge.name, key.path[0], day.isoformat(), replied


def _summarize(folder: str, day: str, text: str, rows: pd.DataFrame) -> Conditions:
    cut = rows[~rows[THOUGHTS_CUT].isin(_UNCUT) & rows[THOUGHTS_CUT].notna()]
    return Conditions(
        folder=folder,
        facts=json.loads(text),
        replies=len(rows),
        first_day=day,
        last_day=day,
        rules=sorted(cut[THOUGHTS_CUT].unique()),
        thoughtful=len(cut),
        characters=int(cut[THOUGHT_CHARACTERS].sum()),
    )


def _add(earlier: Conditions, other: Conditions) -> Conditions:
    """The conditions of two tables that share their facts."""
    return Conditions(
        folder=earlier.folder,
        facts=earlier.facts,
        replies=earlier.replies + other.replies,
        first_day=min(earlier.first_day, other.first_day),
        last_day=max(earlier.last_day, other.last_day),
        rules=sorted({*earlier.rules, *other.rules}),
        thoughtful=earlier.thoughtful + other.thoughtful,
        characters=earlier.characters + other.characters,
    )
