"""Adversarial perturbations: pictures changed within a bound, so that an encoder sees others."""

import json
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from types import MappingProxyType
from typing import Any

import pandas as pd
from dagster import AssetCheckResult, AssetCheckSeverity

from assets.kit.columns import BOOLEAN, REAL, TEXT, WHOLE, Columns
from assets.kit.forecast import PENDING
from assets.kit.model_lookup import digest_entry
from assets.kit.pictures import sample_contact_sheet
from assets.kit.previews import markdown_table
from assets.kit.step import Check, Extent, Problem, Step, StepAsset, StepTable
from assets.kit.step_run import Input, Row, StepRun
from assets.vhexpansion.attack_config import AttackSweepConfig
from assets.vhexpansion.attack_runs import (
    AttackRun,
    find_finished_attacks,
    make_attacks,
    mark_damaged,
)
from assets.vhexpansion.common import asset_key, dataset_partitions, limit_cases
from assets.vhexpansion.negated_cases import NEGATED_CASE_COLUMNS
from assets.vhexpansion.yes_no_step import ANSWERS
from generators.prompts.yes_no import write_yes_no_prompt
from resources.attacks.attack_parameters import (
    Objective,
    find_size_problem,
)
from resources.models.backend_pool import load_api_key
from resources.models.catalog import Catalog, Model

ADVERSARIAL_COLUMNS = Columns(
    case_id=(TEXT, "The case, as vhexpansion/seed_cases names it"),
    dataset=(TEXT, "The dataset"),
    image_id=(TEXT, "The original picture, as cases name it"),
    original=(TEXT, "Name of the original picture in the image store"),
    encoder=(TEXT, "Model whose encoder is attacked, as models.yaml names it"),
    method=(TEXT, "i_fgsm or pgd"),
    parameters=(TEXT, "The setting, as JSON; changes are in levels of 255"),
    seed=(WHOLE, "Random seed of the noise that an attack starts from and is compared with"),
    objective=(TEXT, "Aim for the similarity to the clean embedding: lower or raise"),
    hallucinates=(
        BOOLEAN,
        "True if at least half of the model's clean answers are wrong; empty without "
        "clean answers, which count as right",
    ),
    sha256=(TEXT, "Name of the attacked picture in the image store; empty where there is none"),
    similarity=(REAL, "Cosine of the embeddings of the saved picture and the original, -1 to 1"),
    noise_similarity=(
        REAL,
        "Similarity under random noise of the same bound: epsilon, or the start if raised",
    ),
    largest_change=(WHOLE, "Largest change of a channel in the saved picture, in levels of 255"),
    iterations=(WHOLE, "Number of steps taken"),
    outcome=(TEXT, "attacked, failed or inapplicable"),
    reason=(TEXT, "Reason for a missing attack; else empty"),
)
"""Table with one row per case, method and setting."""

_CLEAN = Columns(**ANSWERS.subset("case_id", "correct", "outcome"))
_FEW = 0.1
"""The share of attacks that may fail without a warning."""


class AdversarialPerturbations(Step[AttackSweepConfig]):
    """The pictures of a dataset's cases, attacked on one encoder; what is missing is made."""

    config = AttackSweepConfig
    asset = StepAsset(
        key=asset_key("adversarial_perturbations"),
        description=(
            "The pictures of cases, changed a little for the encoder of {name}: away from what it "
            "saw, or, where its own clean answers are wrong already, back to it (§3.2). What was "
            "made before is not made again."
        ),
        partitions_def=dataset_partitions,
        kinds=("image", "torch"),
        is_optional=True,
        is_automatic=False,
    )
    table = StepTable(
        columns=ADVERSARIAL_COLUMNS,
        key_columns=("case_id", "method", "parameters"),
        filled_columns=MappingProxyType(
            {"attacked": ("sha256",), "failed": ("reason",), "inapplicable": ("reason",)}
        ),
    )

    def __init__(self, catalog: Catalog, encoder: Model) -> None:
        super().__init__(catalog)
        self.encoder = encoder
        self.asset = self.asset.of_model(encoder, code_version=digest_entry(encoder))
        self.table = replace(self.table, find_problems=self._find_problems)
        self.inputs = {
            "cases": Input(
                asset_key("negated_cases"),
                row_columns=NEGATED_CASE_COLUMNS,
                uses_default_config=True,
            ),
            **_find_clean_answers(catalog, encoder),
        }

    def rows(self, work: StepRun[AttackSweepConfig]) -> list[dict[str, Any]]:
        """Build a row for each case that has a negation, method and setting."""
        settings = [setting.model_dump_json() for setting in work.config.list_settings()]
        hallucinates = self._find_hallucinations(work)
        rows = [
            self._row(case, method, setting, work.config.seed, hallucinates)
            for case in limit_cases(work.read_rows("cases"), "negated", work.config.limit)
            for setting in settings
            for method in work.config.methods
        ]
        return find_finished_attacks(rows, self.encoder, work.images, work.work_cache)

    def prepare(
        self, work: StepRun[AttackSweepConfig], rows: Sequence[dict[str, Any]]
    ) -> Sequence[dict[str, Any]]:
        """Run the missing attacks; raises `ModelUnavailable` without the encoder."""
        rows = mark_damaged(rows, work.images)
        if all(row["outcome"] != PENDING for row in rows):
            return rows
        attacking = AttackRun(self.encoder, load_api_key(self.encoder), work.config.batch, work.log)
        with closing(attacking):
            return make_attacks(rows, attacking, work.images, work.work_cache)

    def extent(self, work: StepRun[AttackSweepConfig], rows: Sequence[Row]) -> Extent:
        """Count the cases attacked, of all that have a negation."""
        total = work.tables["cases"]["outcome"].eq("negated").sum()
        return Extent(count=len({row["case_id"] for row in rows}), total=int(total), unit="cases")

    def metadata(self, work: StepRun[AttackSweepConfig], rows: Sequence[Row]) -> dict[str, Any]:
        """The similarities reached, by method and setting, and some of the pictures."""
        table = pd.DataFrame(rows, columns=list(ADVERSARIAL_COLUMNS.columns))
        attacked = table[table["outcome"].eq("attacked")].astype(
            {"similarity": float, "noise_similarity": float}
        )
        by = ["method", "objective", "parameters"]
        means = attacked.groupby(by, sort=False)[["similarity", "noise_similarity"]].mean()
        unknown = {row["case_id"] for row in rows if row["hallucinates"] is None}
        return {
            "similarity": markdown_table(means.round(4).reset_index()),
            "cases_without_clean_answers": len(unknown),
            "contact_sheet": sample_contact_sheet(rows, _caption, work.images),
        }

    def checks(self) -> list[Check]:
        """Check that few attacks fail."""
        return [
            Check("nothing_failed", f"At most {_FEW:.0%} of the attacks fail.", check_failure_rate),
        ]

    def _find_problems(
        self, work: StepRun[AttackSweepConfig], rows: Sequence[Row]
    ) -> Iterator[Problem]:
        """An attack beyond its bound, or no better than noise."""
        for row in rows:
            if row["outcome"] != "attacked":
                continue
            name = f"{row['case_id']} {row['method']}"
            bound = json.loads(row["parameters"])["epsilon"]
            if row["largest_change"] > bound:
                yield name, f"a change of {row['largest_change']} levels, above {bound:g}"
            gain = row["similarity"] - row["noise_similarity"]
            if (gain if row["objective"] == "raise" else -gain) <= 0:
                yield name, f"a similarity of {row['similarity']:.4f}, no better than noise"

    def _row(
        self,
        case: Row,
        method: str,
        setting: str,
        seed: int,
        hallucinates: Mapping[str, bool | str],
    ) -> dict[str, Any]:
        hallucination = hallucinates.get(case["case_id"])
        objective: Objective = "raise" if hallucination is True else "lower"
        row = {
            **{name: case[name] for name in ("case_id", "dataset", "image_id")},
            "question": write_yes_no_prompt(case["question"]),
            "original": case["sha256"],
            "encoder": self.encoder.name,
            "method": method,
            "parameters": setting,
            "seed": seed,
            "objective": objective,
            "hallucinates": hallucination,
        }
        if PENDING in (case["outcome"], hallucination):
            return row | {"hallucinates": None, "sha256": None, "outcome": PENDING}
        reason = find_size_problem(case["width"], case["height"])
        outcome = "inapplicable" if reason else None
        return row | {"sha256": None, "outcome": outcome, "reason": reason}

    def _find_hallucinations(self, work: StepRun[AttackSweepConfig]) -> Mapping[str, bool | str]:
        """Return, by case, whether at least half of the model's own clean answers are wrong.

        Cases without a usable clean answer are missing; those with open answers are `PENDING`.
        """
        correctness: dict[str, list[bool]] = defaultdict(list)
        pending: dict[str, str] = {}
        for row in work.read_rows("clean") if "clean" in self.inputs else ():
            if row["outcome"] == PENDING:
                pending[row["case_id"]] = PENDING
            elif row["correct"] is not None:
                correctness[row["case_id"]].append(row["correct"])
        is_mostly_wrong = {
            case: 2 * answers.count(False) >= len(answers) for case, answers in correctness.items()
        }
        return {**is_mostly_wrong, **pending}


def check_failure_rate(work: StepRun[Any], rows: Sequence[Row]) -> AssetCheckResult:
    """Passes where at most a tenth of the attacks that were tried has failed."""
    counts = Counter(row["outcome"] for row in rows)
    attempt_count = counts["attacked"] + counts["failed"]
    description = f"{counts['failed']:,} of {attempt_count:,} attacks failed"
    reasons = Counter(row["reason"] for row in rows if row["outcome"] == "failed")
    if reasons:
        description += f", most often with: {reasons.most_common(1)[0][0]}"
    return AssetCheckResult(
        passed=counts["failed"] <= _FEW * attempt_count,
        severity=AssetCheckSeverity.WARN,
        description=description,
        metadata=dict(counts),
    )


def _find_clean_answers(catalog: Catalog, encoder: Model) -> dict[str, Input]:
    """Return the clean answers of the encoder's own entry, or of one with the same weights."""
    judges = [model for model in catalog.select_role("judge") if model.model == encoder.model]
    if not judges:
        return {}
    judge = encoder if encoder in judges else judges[0]
    return {
        "clean": Input(
            asset_key(f"clean_answers_{judge.name}"), row_columns=_CLEAN, is_optional=True
        )
    }


def _caption(row: Row) -> str:
    return f"{row['method']}: {row['similarity']:.3f} (noise {row['noise_similarity']:.3f})"
