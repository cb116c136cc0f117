"""Prompt triplets of a user's own, from a CSV or JSON-lines file."""

import csv
import io
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any

from generators.name_suggestions import suggest_names
from generators.prompts.concepts import DOMAINS, Concept, Triplet
from generators.prompts.knobs import VALUES, is_change
from generators.prompts.phrasing import tidy_sentence
from generators.prompts.sampling import to_slug
from generators.prompts.taxonomy import list_labels
from generators.prompts.triplet_check import find_faults

REQUIRED = (
    "domain", "knob", "value", "changed_value", "hypernym", "non_prototype", "prototype",
    "extra_element", *Triplet._fields,
)  # fmt: skip
OF_PEOPLE = ("attribute", "disadvantaged", "advantaged")
"""What a row of demography needs as well."""
OPTIONAL = ("group", "concept", "environment_hint", "socio_attribute", "pole")
COLUMNS = (*REQUIRED, *OF_PEOPLE, *OPTIONAL)
_OWN = "own"


class OwnFileError(ValueError):
    """A file of a user's own cannot be used at all; the message says why."""


@dataclass(slots=True)
class OwnTriplets:
    """What a file holds of one domain."""

    rows: int = 0
    triplets: list[tuple[Concept, Triplet]] = field(default_factory=list)
    wrong: list[tuple[int, str]] = field(default_factory=list)
    """Rows that are not used: the line, and why. Those of no domain are of every domain's."""


def own_triplets(path: str, domain: str, groups: tuple[str, ...] = ()) -> OwnTriplets:
    """The triplets of a domain in a file, each checked by the rules for all.

    A row has the columns `REQUIRED`, those `OF_PEOPLE` in demography, and any of `OPTIONAL`.
    `groups` are the groups of people that no text may name. Raises `OwnFileError` for a file that
    cannot be read, or lacks a column.
    """
    found, lines = OwnTriplets(), dict[str, int]()
    for line, row in _rows(Path(path)):
        try:
            if row.get("domain") in DOMAINS and row["domain"] != domain:
                continue
            found.rows += 1
            concept, triplet = _read(row, groups)
            earlier = lines.setdefault(concept.concept_id, line)
            if earlier != line:
                raise ValueError(f"the same triplet is on line {earlier}: keep one")
            if broken := find_faults(concept, triplet):
                raise ValueError(" ".join(f"{rule}: {problem}" for rule, problem in broken))
        except ValueError as problem:
            found.wrong.append((line, str(problem)))
        else:
            found.triplets.append((concept, triplet))
    return found


def is_own(concept_id: str) -> bool:
    """Whether an id is of a triplet of a user's own: no sampled one has as many parts."""
    return concept_id.split("/")[1:2] == [_OWN] and concept_id.count("/") == 4


def _rows(path: Path) -> Iterator[tuple[int, Mapping[str, Any]]]:
    """Each row with the line on which it begins."""
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except OSError as error:
        raise OwnFileError(
            f"{path} cannot be read ({error.strerror}). Name a file that is there."
        ) from None
    except UnicodeDecodeError:
        raise OwnFileError(f"{path} is not text in UTF-8. Save it as UTF-8.") from None
    if path.suffix == ".csv":
        yield from _of_csv(path, text)
    elif path.suffix == ".jsonl":
        yield from _of_json_lines(text)
    else:
        raise OwnFileError(f"{path} is neither .csv nor .jsonl. Save it as one of these.")


def _of_csv(path: Path, text: str) -> Iterator[tuple[int, Mapping[str, Any]]]:
    reader = csv.DictReader(io.StringIO(text, newline=""), restkey="", strict=True)
    try:
        names = reader.fieldnames or ()
        if lacking := [name for name in REQUIRED if name not in names]:
            raise OwnFileError(
                f"{path} has no column {', '.join(lacking)}. Add it to its first line."
            )
        for name in names:
            if name not in COLUMNS:
                raise OwnFileError(f"{path}: {name!r} is no column{suggest_names(name, COLUMNS)}.")
        for row in reader:
            within = sum(cell.count("\n") for cell in row.values() if isinstance(cell, str))
            yield reader.line_num - within, row
    except csv.Error as error:
        raise OwnFileError(f"{path}, line {reader.line_num}: {error}. Mend it there.") from None


def _of_json_lines(text: str) -> Iterator[tuple[int, Mapping[str, Any]]]:
    for line, told in enumerate(text.split("\n"), start=1):
        if told.strip():
            try:
                row = json.loads(told)
            except (ValueError, RecursionError):
                row = {"": "this is no JSON object on one line"}
            yield line, row if isinstance(row, dict) else {"": "this is no JSON object"}


def _read(row: Mapping[str, Any], groups: tuple[str, ...]) -> tuple[Concept, Triplet]:
    """What a row says; raises ValueError, with what is wrong."""
    if "" in row:
        what = row[""]
        raise ValueError(what if isinstance(what, str) else "it has more cells than columns")
    told = {name: _text(name, value) for name, value in row.items()}
    for name in told:
        if name not in COLUMNS:
            raise ValueError(f"{name!r} is no column{suggest_names(name, COLUMNS)}")
    if told.get("domain", "") not in DOMAINS:
        raise ValueError(
            f"domain is {told.get('domain', '')!r}{suggest_names(told.get('domain', ''), DOMAINS)}"
        )
    people = told["domain"] == "demography"
    if lacking := [
        name for name in (*REQUIRED, *(OF_PEOPLE if people else ())) if not told.get(name)
    ]:
        raise ValueError(f"{', '.join(lacking)}: empty")
    return _concept(told, groups if people else ()), Triplet(
        *(tidy_sentence(told[name]) for name in Triplet._fields)
    )


def _text(name: str, value: Any) -> str:
    if value is None:
        return ""
    if not isinstance(value, str):
        raise ValueError(f"{name} is {value!r}, and has to be text")
    try:
        value.encode()
    except UnicodeEncodeError:
        raise ValueError(f"{name} holds half of a character (\\ud800 to \\udfff)") from None
    return " ".join(value.split())


def _concept(told: Mapping[str, str], groups: tuple[str, ...]) -> Concept:
    knob, values = told["knob"], (told["value"], told["changed_value"])
    if knob not in VALUES:
        raise ValueError(f"knob is {knob!r}{suggest_names(knob, VALUES)}")
    for value in values:
        if value not in VALUES[knob]:
            raise ValueError(f"{value!r} is no value of {knob}{suggest_names(value, VALUES[knob])}")
    if not is_change(knob, *values):
        raise ValueError(f"value and changed_value of {knob} have to differ as in the paper")
    pair = (told["non_prototype"], told["prototype"])
    named = tuple(told[name] for name in OF_PEOPLE[1:]) if groups else ()
    labels = (*groups, *named) if groups else (*list_labels(pair[0]), *list_labels(pair[1]))
    name = told.get("concept") or " / ".join(named or pair)
    digest = sha256(json.dumps([told.get(each, "") for each in COLUMNS]).encode()).hexdigest()
    return Concept(
        concept_id=f"{told['domain']}/{_OWN}/{to_slug(name)}/{knob}/{digest[:10]}",
        domain=told["domain"],
        group=told.get("group") or _OWN,
        concept=name,
        hypernym=told["hypernym"],
        non_prototype=pair[0],
        prototype=pair[1],
        attribute=told.get("attribute", ""),
        socio_attribute=told.get("socio_attribute", ""),
        pole=told.get("pole", ""),
        disadvantaged=told.get("disadvantaged", ""),
        advantaged=told.get("advantaged", ""),
        labels=tuple(dict.fromkeys(labels)),
        knob=knob,
        values=values,
        extra_element=told["extra_element"],
        environment_hint=told.get("environment_hint", ""),
        source="user",
    )
