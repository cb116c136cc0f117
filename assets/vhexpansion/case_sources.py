"""Cases made of the rows of a dataset: taken, or rejected with a reason; nothing is left out."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from hashlib import sha256
from typing import Any, NamedTuple

from assets.kit.step_run import Row
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
    (
        "question",
        "answer",
        "origin",
        "topic",
        "familiar_answer",
        "stated",
        "truth",
        "source_question",
    )
)
_QUESTION_COLUMNS = ("image_id", "sha256", "topic", "truth", "familiar_answer", "is_stand_in")


def cases_from_questions(
    dataset: str, rows: Iterable[Row], to_questions: Callable[[Row], Iterable[YesNoQuestion]]
) -> Iterator[dict[str, Any]]:
    """The cases of another benchmark's questions.

    A yes/no question is one case. A counting question is two, one with the number that there is and
    one with the number that is usually so, so that yes and no have equal shares; if both are one
    number, no case is built.
    """
    for row in rows:
        for question in to_questions(row):
            yield from _build_question_cases(dataset, question)


def _build_question_cases(dataset: str, question: YesNoQuestion) -> Iterator[dict[str, Any]]:
    fixed_columns = {
        **_NOTHING,
        **{name: value for name, value in question._asdict().items() if name in _QUESTION_COLUMNS},
        "case_id": question.name,
        "dataset": dataset,
        "source_question": question.full_question,
    }
    try:
        if question.unfit_reason is not None:
            raise NotBinary(question.unfit_reason)
        if question.kind == "yes/no":
            yield _accept_case(
                fixed_columns, question.question, parse_yes_no(question.truth), AS_IT_STANDS
            )
            return
        if question.truth == question.familiar_answer:
            raise NotBinary(
                "The number that is usually so is right: asked with both, it would stand there "
                "twice, and yes and no would have no equal shares."
            )
        stated_questions = [
            state_count(question.question, number)
            for number in (question.truth, question.familiar_answer)
        ]
    except NotBinary as error:
        yield _reject_case(fixed_columns, str(error))
        return
    true_case = fixed_columns | {"case_id": f"{question.name}/as-it-is", "stated": question.truth}
    yield _accept_case(true_case, stated_questions[0], YES, AS_IT_IS)
    familiar_case = fixed_columns | {
        "case_id": f"{question.name}/as-expected",
        "stated": question.familiar_answer,
    }
    yield _accept_case(familiar_case, stated_questions[1], NO, AS_EXPECTED)


class _Read(NamedTuple):
    """Question and right answer of a collection's row."""

    truth: str
    """The right answer, in its own words."""
    questions: Mapping[str, str]
    """Yes/no questions by option; empty for a yes/no question."""


def cases_from_collection(dataset: str, rows: Sequence[Row], seed: int) -> list[dict[str, Any]]:
    """The cases of a user's collection, one per row.

    A question with options is asked with one of them. By lot one half of these state the right one
    and the other half another: yes and no have equal shares.
    """
    names = _names(dataset, rows)
    readings = [_read(row) for row in rows]
    option_images = [
        row["image_id"]
        for row, reading in zip(rows, readings, strict=True)
        if isinstance(reading, _Read) and reading.questions
    ]
    shuffled_images = sorted(option_images, key=lambda name: _draw_lot(seed, name))
    right_images = set(shuffled_images[: (len(shuffled_images) + 1) // 2])
    return [
        _build_case(
            _build_fixed_columns(dataset, row, names),
            reading,
            row["image_id"] in right_images,
            seed,
        )
        for row, reading in zip(rows, readings, strict=True)
    ]


def reject_repeats(cases: Iterable[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """The cases, those rejected that ask the same of the same picture as one before.

    If one of them has another answer, all are rejected, since the right one is unknown.
    """
    cases = list(cases)
    cases_by_question: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for case in cases:
        if case["outcome"] == "taken":
            cases_by_question.setdefault(_build_question_key(case), []).append(case)
    for case in cases:
        same_cases = (
            cases_by_question[_build_question_key(case)] if case["outcome"] == "taken" else [case]
        )
        contradicting_case = next(
            (candidate for candidate in same_cases if candidate["answer"] != case["answer"]), None
        )
        if contradicting_case is not None:
            case_id = contradicting_case["case_id"]
            reason = f"{case_id}, where another answer is right. Correct the wrong one"
            yield _reject_case(case, f"It asks the same of the same picture as {reason}.")
        elif same_cases[0] is not case:
            reason = f"It asks the same of the same picture as {same_cases[0]['case_id']}."
            yield _reject_case(case, reason)
        else:
            yield case


def _build_question_key(case: Row) -> tuple[str, str]:
    return case["sha256"], " ".join(case["question"].lower().split())


def _names(dataset: str, rows: Iterable[Row]) -> Mapping[str, str]:
    """Map each picture's sha256 to its name: its file's name where it has a file."""
    names: dict[str, str] = {}
    for row in rows:
        if row["sha256"] is not None:
            picture_name = f"{dataset}/{row['file']}" if row["file"] else row["image_id"]
            names.setdefault(row["sha256"], picture_name)
    return names


def _build_fixed_columns(dataset: str, row: Row, names: Mapping[str, str]) -> dict[str, Any]:
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
    """Return the question of a row, or the reason why no case can be made from it."""
    if row["outcome"] != "taken":
        return str(row["reason"])
    question, answer = row["question"], row["answer"]
    try:
        if not row["options"]:
            return _Read(_require_yes_no(answer), {})
        options = parse_options(row["options"])
        truth = options[find_option_letter(answer, options)]
        if all(text.lower() in YES_NO for text in options.values()):
            return _Read(truth, {})
        choices = list(options.values())
        return _Read(truth, {choice: state_option(question, choices, choice) for choice in choices})
    except NotBinary as error:
        return str(error)


def _require_yes_no(answer: str) -> str:
    try:
        parse_yes_no(answer)
    except NotBinary as error:
        raise NotBinary(
            f"{error} If it is one of several, name the column `options` in collections.yaml."
        ) from None
    return answer


def _build_case(
    fixed_columns: dict[str, Any], reading: _Read | str, states_right: bool, seed: int
) -> dict[str, Any]:
    if isinstance(reading, str):
        return _reject_case(fixed_columns, reading)
    if not reading.questions:
        return _accept_case(
            fixed_columns,
            fixed_columns["source_question"],
            parse_yes_no(reading.truth),
            AS_IT_STANDS,
        )
    wrong_options = [option for option in reading.questions if option != reading.truth]
    lot = _draw_lot(seed, fixed_columns["case_id"])
    stated_option = reading.truth if states_right else wrong_options[lot % len(wrong_options)]
    case = fixed_columns | {"truth": reading.truth, "stated": stated_option}
    return _accept_case(case, reading.questions[stated_option], YES if states_right else NO, OPTION)


def _draw_lot(seed: int, name: str) -> int:
    return int.from_bytes(sha256(f"{seed}/{name}".encode()).digest()[:8])


def _accept_case(
    fixed_columns: Mapping[str, Any], question: str, answer: str, origin: str
) -> dict[str, Any]:
    answer_columns = {"question": question, "answer": answer, "origin": origin}
    return {**fixed_columns, **answer_columns, "outcome": "taken", "reason": None}


def _reject_case(fixed_columns: Mapping[str, Any], reason: str) -> dict[str, Any]:
    return {**fixed_columns, "outcome": "rejected", "reason": reason}
