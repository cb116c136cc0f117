"""The cases of VHExpansion that judges are fine-tuned on, and those that are kept from that."""

from collections.abc import Iterator, Mapping, Sequence

import pandas as pd

from assets.kit.columns import Row, records, rows
from assets.kit.tuning import Evaluated, TuningCase, TuningTable, Wording
from assets.vhexpansion.adversarial_perturbations import METHODS
from assets.vhexpansion.asking import COMMON, FORMS
from assets.vhexpansion.common import GROUP, datasets, declared, key
from assets.vhexpansion.rephrased_cases import DONE
from generators.prompts.yes_no import yes_no_prompt
from resources.home import Home

_CASE = ["case_id", "dataset", "image_id", "sha256", "rehearsal"]


def answer_as_asked(answer: str) -> str:
    """An answer as judges are told to give it."""
    return f"{{{answer.title()}}}"


def _chosen(
    home: Home, dataset: str, perturbation: str, encoder: str | None
) -> Sequence[TuningCase]:
    """The cases of which both forms have all their wordings."""
    columns = [*_CASE, "form", "question", "answer", "wordings", "outcome"]
    table = home.find(key("rephrased_cases"), dataset, columns)
    if table is None:
        return []
    pictures = _perturbed(home, dataset, perturbation, encoder)
    found = []
    for _, held in table.groupby("case_id", sort=False):
        forms = {row.form: row for row in rows(held)}
        case = next(iter(forms.values()))
        if {*forms} != {*FORMS} or any(row.outcome != DONE for row in forms.values()):
            continue
        picture = pictures.get(case.case_id) or pictures.get(case.image_id)
        base = base_of(dataset, case.image_id)
        wordings = [each for form in FORMS for each in _wordings(forms[form])]
        found.append(
            TuningCase(
                *(case.case_id, dataset, base, case.sha256, picture, wordings, case.rehearsal)
            )
        )
    return found


def _wordings(row: Row) -> Iterator[Wording]:
    """A form of a case as it stands, and then rephrased, as judges are asked."""
    answer = answer_as_asked(row.answer)
    for version, question in enumerate((row.question, *row.wordings)):
        yield Wording(row.form, version, yes_no_prompt(question), answer)


def _perturbed(
    home: Home, dataset: str, perturbation: str, encoder: str | None
) -> Mapping[str, str]:
    """By case, or by picture: it perturbed, in the first of several settings."""
    if perturbation in METHODS:
        name, by, column, done = (
            f"adversarial_perturbations_{encoder}",
            "case_id",
            "method",
            "attacked",
        )
    else:
        name, by, column, done = "common_perturbations", "image_id", "perturbation", "perturbed"
    table = home.find(key(name), dataset, [by, column, "sha256", "outcome"])
    found: dict[str, str] = {}
    for row in [] if table is None else records(table):
        if row[column] == perturbation and row["outcome"] == done:
            found.setdefault(row[by], row["sha256"])
    return found


def _every(home: Home, dataset: str) -> Sequence[Evaluated]:
    table = home.find(key("negated_cases"), dataset, [*_CASE, "outcome"])
    return [
        Evaluated(
            *(row["case_id"], dataset, base_of(dataset, row["image_id"])),
            *(row["sha256"], bool(row["rehearsal"])),
        )
        for row in ([] if table is None else records(table))
        if row["outcome"] == "negated"
    ]


def base_of(dataset: str, image_id: str) -> str:
    """The base picture of a picture of a dataset: all of its sizes and versions have one."""
    table = declared().get(dataset)
    return table.base(image_id) if table else image_id


def with_bases(dataset: str, answers: pd.DataFrame) -> pd.DataFrame:
    """The answers with `base_id`, the base picture of their `image_id`."""
    bases = {name: base_of(dataset, name) for name in answers["image_id"].unique()}
    return answers.assign(base_id=answers["image_id"].map(bases))


TUNING = TuningTable(
    group=GROUP,
    assets=(key("rephrased_cases"), key("negated_cases")),
    datasets=lambda: datasets().get_partition_keys(),
    perturbations=(*METHODS, *COMMON),
    attacks=METHODS,
    chosen=_chosen,
    every=_every,
)
