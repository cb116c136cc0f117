"""Cases made of the rows of a dataset: taken, or rejected with a reason; nothing is left out."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from hashlib import sha256
from typing import Any, NamedTuple

from assets.kit.step import Row
from assets.kit.yes_no import YesNoQuestion
from generators.prompts.binary_questions import (
    YES_NO,
    NotBinary,
    find_option_letter,
    parse_options,
    parse_yes_no,
    state_count,
    state_option,
)

AS_IT_STANDS, AS_IT_IS, AS_EXPECTED = "as it stands", "count as it is", "count as expected"
OPTION = "option"
YES, NO = "yes", "no"
_NOTHING: Mapping[str, Any] = dict.fromkeys(
    ("question", "answer", "origin", "topic", "familiar", "stated", "truth", "source_question")
)
_OF_ASKED = ("image_id", "sha256", "topic", "truth", "familiar", "is_stand_in")


def cases_from_questions(
    dataset: str, rows: Iterable[Row], asked: Callable[[Row], Iterable[YesNoQuestion]]
) -> Iterator[dict[str, Any]]:
    """The cases of another benchmark's questions.

    A yes/no question is one case. A counting question is two, one with the number that there is and
    one with the number that is usually so, so that yes and no have equal shares; where both are
    one number, it is none.
    """
    for row in rows:
        for question in asked(row):
            yield from _of_question(dataset, question)


def _of_question(dataset: str, asked: YesNoQuestion) -> Iterator[dict[str, Any]]:
    known = {
        **_NOTHING,
        **{name: of for name, of in asked._asdict().items() if name in _OF_ASKED},
        "case_id": asked.name,
        "dataset": dataset,
        "source_question": asked.full_question,
    }
    try:
        if asked.unfit_reason is not None:
            raise NotBinary(asked.unfit_reason)
        if asked.kind == "yes/no":
            yield _taken(known, asked.question, parse_yes_no(asked.truth), AS_IT_STANDS)
            return
        if asked.truth == asked.familiar_answer:
            raise NotBinary(
                "The number that is usually so is right: asked with both, it would stand there "
                "twice, and yes and no would have no equal shares."
            )
        turned = [
            state_count(asked.question, each) for each in (asked.truth, asked.familiar_answer)
        ]
    except NotBinary as why:
        yield _rejected(known, str(why))
        return
    as_it_is = known | {"case_id": f"{asked.name}/as-it-is", "stated": asked.truth}
    yield _taken(as_it_is, turned[0], YES, AS_IT_IS)
    as_expected = known | {"case_id": f"{asked.name}/as-expected", "stated": asked.familiar_answer}
    yield _taken(as_expected, turned[1], NO, AS_EXPECTED)


class _Read(NamedTuple):
    """What a row of a collection asks."""

    truth: str
    """The right answer, in its own words."""
    questions: Mapping[str, str]
    """By option: the question whether it is that one; nothing for a yes/no question."""


def cases_from_collection(dataset: str, rows: Sequence[Row], seed: int) -> list[dict[str, Any]]:
    """The cases of a user's collection, one a row.

    A question with options is asked with one of them. By lot one half of these state the right one
    and the other half another: yes and no have equal shares.
    """
    names = _names(dataset, rows)
    read = [_read(row) for row in rows]
    turned = [
        row["image_id"]
        for row, found in zip(rows, read, strict=True)
        if isinstance(found, _Read) and found.questions
    ]
    lots = sorted(turned, key=lambda name: _lot(seed, name))
    right = set(lots[: (len(lots) + 1) // 2])
    return [
        _of_row(_known(dataset, row, names), found, row["image_id"] in right, seed)
        for row, found in zip(rows, read, strict=True)
    ]


def reject_repeats(cases: Iterable[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """The cases, those rejected that ask the same of the same picture as one before.

    Where one of them has another answer, all are rejected: which is right nobody knows.
    """
    cases = list(cases)
    alike: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for case in cases:
        if case["outcome"] == "taken":
            alike.setdefault(_asking(case), []).append(case)
    for case in cases:
        same = alike[_asking(case)] if case["outcome"] == "taken" else [case]
        other = next((each for each in same if each["answer"] != case["answer"]), None)
        if other is not None:
            why = f"{other['case_id']}, where another answer is right. Correct the wrong one"
            yield _rejected(case, f"It asks the same of the same picture as {why}.")
        elif same[0] is not case:
            why = f"It asks the same of the same picture as {same[0]['case_id']}."
            yield _rejected(case, why)
        else:
            yield case


def _asking(case: Row) -> tuple[str, str]:
    return case["sha256"], " ".join(case["question"].lower().split())


def _names(dataset: str, rows: Iterable[Row]) -> Mapping[str, str]:
    """By sha256: the name of a picture, of its file where it has one."""
    names: dict[str, str] = {}
    for row in rows:
        if row["sha256"] is not None:
            named = f"{dataset}/{row['file']}" if row["file"] else row["image_id"]
            names.setdefault(row["sha256"], named)
    return names


def _known(dataset: str, row: Row, names: Mapping[str, str]) -> dict[str, Any]:
    is_taken = row["outcome"] == "taken"
    return {
        **_NOTHING,
        "case_id": row["image_id"] if is_taken else f"{dataset}#{row['row']}",
        "dataset": dataset,
        "image_id": names.get(row["sha256"] or "", row["image_id"]),
        **{name: row[name] for name in ("sha256", "width", "height")},
        "topic": row["domain"],
        "source_question": row["question"],
        "truth": row["answer"],
        "is_stand_in": False,
    }


def _read(row: Row) -> _Read | str:
    """What a row asks, or why no case can be made of it."""
    if row["outcome"] != "taken":
        return str(row["reason"])
    question, answer = row["question"], row["answer"]
    try:
        if not row["options"]:
            return _Read(_plain(answer), {})
        options = parse_options(row["options"])
        said = options[find_option_letter(answer, options)]
        if all(each.lower() in YES_NO for each in options.values()):
            return _Read(said, {})
        every = list(options.values())
        return _Read(said, {each: state_option(question, every, each) for each in every})
    except NotBinary as why:
        return str(why)


def _plain(answer: str) -> str:
    try:
        parse_yes_no(answer)
    except NotBinary as why:
        raise NotBinary(
            f"{why} If it is one of several, name the column `options` in collections.yaml."
        ) from None
    return answer


def _of_row(
    known: dict[str, Any], found: _Read | str, states_right: bool, seed: int
) -> dict[str, Any]:
    if isinstance(found, str):
        return _rejected(known, found)
    if not found.questions:
        return _taken(known, known["source_question"], parse_yes_no(found.truth), AS_IT_STANDS)
    others = [each for each in found.questions if each != found.truth]
    lot = _lot(seed, known["case_id"])
    stated = found.truth if states_right else others[lot % len(others)]
    case = known | {"truth": found.truth, "stated": stated}
    return _taken(case, found.questions[stated], YES if states_right else NO, OPTION)


def _lot(seed: int, name: str) -> int:
    return int.from_bytes(sha256(f"{seed}/{name}".encode()).digest()[:8])


def _taken(known: Mapping[str, Any], question: str, answer: str, origin: str) -> dict[str, Any]:
    said = {"question": question, "answer": answer, "origin": origin}
    return {**known, **said, "outcome": "taken", "reason": None}


def _rejected(known: Mapping[str, Any], why: str) -> dict[str, Any]:
    return {**known, "outcome": "rejected", "reason": why}
