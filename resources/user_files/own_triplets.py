"""Prompt triplets of a user's own, from a CSV or JSON-lines file."""

import json
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator, ConfigDict, model_validator

from generators.name_suggestions import suggest_names
from generators.prompts.concepts import DOMAINS, Concept, Triplet
from generators.prompts.knobs import VALUES, is_change
from generators.prompts.phrasing import tidy_sentence
from generators.prompts.sampling import to_slug
from generators.prompts.taxonomy import list_labels
from generators.prompts.triplet_check import find_faults
from resources.user_files.reader import read_rows
from resources.user_files.rows import BadRow, Row, RowCells, TableFormat, Text, to_cells

_PEOPLE_COLUMNS = ("attribute", "disadvantaged", "advantaged")
"""Columns that rows of demography need as well."""
_OWN = "own"


def _join_words(text: str) -> str:
    if "\ufffd" in text:
        raise ValueError("holds half of a character (\\ud800 to \\udfff)")
    return " ".join(text.split())


def _require_domain(domain: str) -> str:
    if domain not in DOMAINS:
        raise ValueError(f"is {domain!r}{suggest_names(domain, DOMAINS)}")
    return domain


_Words = Annotated[Text, AfterValidator(_join_words)]
_OptionalWords = Annotated[
    str, BeforeValidator(lambda cell: "" if cell is None else cell), AfterValidator(_join_words)
]


class _TripletCells(RowCells):
    model_config = ConfigDict(extra="forbid")

    domain: Annotated[_Words, AfterValidator(_require_domain)]
    knob: _Words
    value: _Words
    changed_value: _Words
    hypernym: _Words
    non_prototype: _Words
    prototype: _Words
    extra_element: _Words
    text: _Words
    correct: _Words
    adversarial: _Words
    attribute: _OptionalWords = ""
    disadvantaged: _OptionalWords = ""
    advantaged: _OptionalWords = ""
    group: _OptionalWords = ""
    concept: _OptionalWords = ""
    environment_hint: _OptionalWords = ""
    socio_attribute: _OptionalWords = ""
    pole: _OptionalWords = ""

    @model_validator(mode="after")
    def _check_change(self) -> "_TripletCells":
        values = (self.value, self.changed_value)
        if self.knob not in VALUES:
            raise ValueError(f"`knob` is {self.knob!r}{suggest_names(self.knob, VALUES)}")
        for value in values:
            if value not in VALUES[self.knob]:
                alternatives = suggest_names(value, VALUES[self.knob])
                raise ValueError(f"{value!r} is no value of {self.knob}{alternatives}")
        if not is_change(self.knob, *values):
            raise ValueError(
                f"`value` and `changed_value` of {self.knob} have to differ as in the paper"
            )
        return self

    @model_validator(mode="after")
    def _require_people(self) -> "_TripletCells":
        if self.domain == "demography":
            for name in _PEOPLE_COLUMNS:
                if not getattr(self, name):
                    raise ValueError(f"`{name}` is empty")
        return self


COLUMNS = tuple(_TripletCells.model_fields)
_FORMAT = TableFormat(
    columns=[name for name, column in _TripletCells.model_fields.items() if column.is_required()]
)


@dataclass(slots=True)
class OwnTriplets:
    """The triplets of one domain in a file."""

    rows: int = 0
    triplets: list[tuple[Concept, Triplet]] = field(default_factory=list)
    unusable_rows: list[tuple[str, str]] = field(default_factory=list)
    """Place and reason; rows without a domain are listed for every domain."""


def read_own_triplets(path: str, domain: str, groups: tuple[str, ...] = ()) -> OwnTriplets:
    """The triplets of a domain in a file, each checked by the rules for all.

    `groups` are the groups of people that no text may name. Raises `UserFileError` for a file that
    cannot be read, or lacks a column.
    """
    triplet_table = OwnTriplets()
    places: dict[str, str] = {}
    for row in read_rows(Path(path), _FORMAT, (".csv", ".jsonl")):
        if _is_of_other(row.cells.get("domain"), domain):
            continue
        triplet_table.rows += 1
        try:
            concept, triplet = _build_triplet(row, groups)
            if concept.concept_id in places:
                raise BadRow(f"the same triplet is on {places[concept.concept_id]}: keep one")
            places[concept.concept_id] = row.place
            if faults := find_faults(concept, triplet):
                raise BadRow(" ".join(f"{rule}: {problem}" for rule, problem in faults))
        except BadRow as problem:
            triplet_table.unusable_rows.append((row.place, str(problem)))
        else:
            triplet_table.triplets.append((concept, triplet))
    return triplet_table


def is_own(concept_id: str) -> bool:
    """Return whether an id is of a user's own triplet: no sampled one has as many parts."""
    return concept_id.split("/")[1:2] == [_OWN] and concept_id.count("/") == 4


def _is_of_other(cell: Any, domain: str) -> bool:
    return isinstance(cell, str) and cell in DOMAINS and cell != domain


def _build_triplet(row: Row, groups: tuple[str, ...]) -> tuple[Concept, Triplet]:
    """The triplet of a row. Raises `BadRow`."""
    cells = to_cells(row, _TripletCells)
    is_demography = cells.domain == "demography"
    pair = (cells.non_prototype, cells.prototype)
    names = (cells.disadvantaged, cells.advantaged) if is_demography and groups else ()
    labels = (*groups, *names) if names else (*list_labels(pair[0]), *list_labels(pair[1]))
    name = cells.concept or " / ".join(names or pair)
    digest = sha256(json.dumps(list(cells.model_dump().values())).encode()).hexdigest()
    concept = Concept(
        concept_id=f"{cells.domain}/{_OWN}/{to_slug(name)}/{cells.knob}/{digest[:10]}",
        domain=cells.domain,
        group=cells.group or _OWN,
        concept=name,
        hypernym=cells.hypernym,
        non_prototype=pair[0],
        prototype=pair[1],
        attribute=cells.attribute,
        socio_attribute=cells.socio_attribute,
        pole=cells.pole,
        disadvantaged=cells.disadvantaged,
        advantaged=cells.advantaged,
        labels=tuple(dict.fromkeys(labels)),
        knob=cells.knob,
        values=(cells.value, cells.changed_value),
        extra_element=cells.extra_element,
        environment_hint=cells.environment_hint,
        source="user",
    )
    sentences = (tidy_sentence(getattr(cells, name)) for name in Triplet._fields)
    return concept, Triplet(*sentences)
