"""Seed cases: a picture, a yes/no question about it, and the right answer."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pandas as pd
from dagster import AssetCheckResult, AssetCheckSeverity, AssetDep, StaticPartitionMapping
from pydantic import Field

from assets.kit.checks import build_check_result
from assets.kit.collections import COLLECTION_COLUMNS, collection_key
from assets.kit.columns import TEXT, Columns
from assets.kit.forecast import NotCountable
from assets.kit.limits import LimitConfig
from assets.kit.pictures import sample_contact_sheet
from assets.kit.previews import markdown_table
from assets.kit.step import Check, Extent, Step, StepAsset, StepTable
from assets.kit.step_run import Row, StepRun
from assets.vhexpansion.case_sources import (
    cases_from_collection,
    cases_from_questions,
    reject_repeats,
)
from assets.vhexpansion.common import (
    CASE_COLUMNS,
    TRUTH_COLUMNS,
    asset_key,
    dataset_partitions,
    limit_cases,
    load_declared_tables,
    load_question_collections,
)
from resources.models.catalog import Catalog
from resources.storage.image_store import ImageStore

SEED_CASES = Columns(
    **CASE_COLUMNS,
    **TRUTH_COLUMNS,
    outcome=(TEXT, "taken or rejected"),
    reason=(TEXT, "Reason for the rejection; empty if taken"),
)
ACCEPTED = "taken"
_MAX_SHOWN = 20


class SeedCasesConfig(LimitConfig):
    """Settings of the cases; a limit is on accepted cases."""

    seed: int = Field(
        default=0,
        ge=0,
        description="Random seed for the choice of options to state, right or wrong.",
    )


class SeedCases(Step[SeedCasesConfig]):
    """The cases of a dataset, made by code; no model is asked."""

    config = SeedCasesConfig
    asset = StepAsset(
        key=asset_key("seed_cases"),
        partitions_def=dataset_partitions,
        kinds=("image",),
        description=(
            "Pictures with a yes/no question and its right answer, from collections with "
            "questions and from other benchmarks. Unsuitable rows are rejected with a reason "
            "(§3)."
        ),
    )
    table = StepTable(columns=SEED_CASES, key_columns=("case_id",))

    def __init__(self, catalog: Catalog) -> None:
        super().__init__(catalog)
        tables = {table.asset: table.partitions for table in load_declared_tables().values()}
        deps = [
            *(
                AssetDep(asset, partition_mapping=StaticPartitionMapping({n: n for n in names}))
                for asset, names in tables.items()
            ),
            *(AssetDep(collection_key(name)) for name in load_question_collections()),
        ]
        self.asset = replace(self.asset, deps=deps)

    def rows(self, work: StepRun[SeedCasesConfig]) -> list[dict[str, Any]]:
        """Build rows for all rejected cases, and for accepted cases up to the limit."""
        cases = self._cases(work)
        case_ids = {row["case_id"] for row in limit_cases(cases, ACCEPTED, work.config.limit)}
        return [row for row in cases if row["outcome"] != ACCEPTED or row["case_id"] in case_ids]

    def extent(self, work: StepRun[SeedCasesConfig], rows: Sequence[Row]) -> Extent:
        """Count the accepted cases, of all that could be accepted."""
        total = sum(row["outcome"] == ACCEPTED for row in self._cases(work))
        return Extent(
            count=sum(row["outcome"] == ACCEPTED for row in rows), total=total, unit="cases"
        )

    def metadata(self, work: StepRun[SeedCasesConfig], rows: Sequence[Row]) -> dict[str, Any]:
        """Count the cases by origin and answer; show some pictures and the rejected rows."""
        taken_rows = [row for row in rows if row["outcome"] == ACCEPTED]
        counts = Counter((row["origin"], row["answer"]) for row in taken_rows)
        table = [(*labels, number) for labels, number in sorted(counts.items())]
        return {
            "cases": len(taken_rows),
            "pictures": len({row["sha256"] for row in taken_rows}),
            "by_origin": markdown_table(pd.DataFrame(table, columns=["origin", "answer", "cases"])),
            "contact_sheet": sample_contact_sheet(
                taken_rows, lambda row: f"{row['question']} {row['answer']}"[:60], work.images
            ),
            "rejected_rows": _reasons([row for row in rows if row["outcome"] != ACCEPTED]),
        }

    def checks(self) -> list[Check]:
        """Check that no row of the dataset was rejected."""
        return [
            Check("every_case_is_taken", "No row of the dataset was rejected.", _check_rejected)
        ]

    def _cases(self, work: StepRun[SeedCasesConfig]) -> list[dict[str, Any]]:
        """Build all cases in dataset order. Raises `NotCountable` for a dataset without a table."""
        name, table = work.partition, load_declared_tables().get(work.partition)
        key = table.asset if table else collection_key(name)
        stored = work.find_table(key, name if table else "")
        if stored is None:
            raise NotCountable(f"{key.to_user_string()}{f' ({name})' if table else ''}")
        seed = work.config.seed
        cases = (
            cases_from_questions(name, table.columns.read_rows(stored, key), table.to_questions)
            if table
            else cases_from_collection(name, COLLECTION_COLUMNS.read_rows(stored, key), seed)
        )
        distinct_cases = [
            case | {"seed": seed} for case in _add_sizes(list(reject_repeats(cases)), work.images)
        ]
        return [case | {"case_number": place} for place, case in enumerate(distinct_cases)]


def _add_sizes(cases: list[dict[str, Any]], images: ImageStore) -> list[dict[str, Any]]:
    """The cases with the sizes of their pictures; one whose picture is not there is rejected."""
    sizes = images.sizes({case["sha256"] for case in cases if case["outcome"] == ACCEPTED})
    sized_cases = []
    for case in cases:
        width, height = sizes.get(case["sha256"], (None, None))
        sized_cases.append({"width": width, "height": height} | case)
        if case["outcome"] == ACCEPTED and width is None:
            reason = "Its picture is not in the image store. Make the table that it is from again."
            sized_cases[-1] |= {"outcome": "rejected", "reason": reason}
    return sized_cases


def _reasons(rejected: Sequence[Row]) -> Any:
    counts = Counter(row["reason"] for row in rejected)
    table = [
        (number, reason, next(row["case_id"] for row in rejected if row["reason"] == reason))
        for reason, number in counts.most_common(_MAX_SHOWN)
    ]
    return markdown_table(pd.DataFrame(table, columns=["rows", "reason", "first"]))


def _check_rejected(work: StepRun[SeedCasesConfig], rows: Sequence[Row]) -> AssetCheckResult:
    """A warning where rows were rejected, an error where all were."""
    rejected = [row for row in rows if row["outcome"] != ACCEPTED]
    taken_count = len(rows) - len(rejected)
    rejected_table = pd.DataFrame(rejected, columns=["case_id", "reason"])
    result = build_check_result(
        f"{taken_count:,} cases were taken, and {len(rejected):,} rejected.", rejected_table
    )
    return result._replace(
        severity=AssetCheckSeverity.WARN if taken_count else AssetCheckSeverity.ERROR,
        passed=not rejected or (taken_count > 0 and work.partition in load_declared_tables()),
    )
