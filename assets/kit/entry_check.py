"""Questions that show what an entry of models.yaml can do, and what their answers show."""

import json
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Literal, NamedTuple, TypeAlias

from assets.kit.conversations import find_longest_repair
from assets.kit.flaws import describe_wrong_size
from generators.number_picture import (
    COLOUR_NAMES,
    COLOUR_QUESTION,
    NUMBER_QUESTION,
    NumberPicture,
)
from generators.picture_inspection import inspect_picture
from generators.prompts.concepts import Concept
from generators.prompts.instructions import write_moderation_prompt
from generators.prompts.rating_prompts import JUDGE_SCALE, write_rating_prompt
from generators.prompts.templates import SCHEMA, write_triplet_prompt
from metrics.reply_parsing.bracketed_answers import read_count, read_yes_no
from metrics.reply_parsing.ratings import read_rating
from resources.models.catalog import Model, Role
from resources.models.fault_explanations import Cause, explain_fault
from resources.models.outcomes import AnsweredOutcome, FailedOutcome, MalformedOutcome, Outcome
from resources.models.pricing import find_output_limit, list_images
from resources.models.requests import (
    EditRequest,
    LookRequest,
    PaintRequest,
    Request,
    ScoreRequest,
    Turn,
    WriteRequest,
)
from resources.storage.image_store import ImageStore

Problem: TypeAlias = str | None
CheckCause: TypeAlias = Cause | Literal["blind", "form"]
"""Cause of a problem; blind: nobody saw the picture, form: an answer that cannot be read."""


class CheckQuestion(NamedTuple):
    """A request, the roles of the entry that need its answer, and what is wrong with one."""

    title: str
    roles: tuple[Role, ...]
    request: Request
    find_problem: Callable[[AnsweredOutcome], Problem]


class CheckResult(NamedTuple):
    """What came of a question; without a problem it works."""

    question: CheckQuestion
    outcome: Outcome
    problem: Problem = None
    cause: CheckCause | None = None
    remark: str = ""


class EntryCheck:
    """The questions for an entry, about a picture of a number that lies in the image store.

    `sample` counts how often they were asked before: each has its own answers.
    """

    def __init__(
        self,
        model: Model,
        picture: NumberPicture,
        images: ImageStore,
        concept: Concept,
        listed_ids: Sequence[str] = (),
        sample: int = 0,
    ) -> None:
        self.model, self._picture, self._images = model, picture, images
        self._digest = images.put(picture.png)
        self._concept, self._listed_ids = concept, listed_ids
        self._sample = sample
        self.questions = [*map(self._number, self._list_questions())]

    def run(self, ask: Callable[[Sequence[Request]], Sequence[Outcome]]) -> list[CheckResult]:
        """Ask everything at once, and about the colours where the number is not what is shown."""
        outcomes = ask([question.request for question in self.questions])
        results = _compare_scores([*map(self._read, self.questions, outcomes)])
        if not results or not self._is_unseen(results[0]):
            return results
        (colours,) = ask([self._colour_question.request])
        return self._judge_sight(results, self._read(self._colour_question, colours))

    def list_possible_requests(self) -> list[Request]:
        """All that may be asked: also the colours, and JSON once more."""
        requests = [question.request for question in self.questions]
        if self._looking_roles:
            requests.append(self._colour_question.request)
        repairs = (find_longest_repair(self.model, request) for request in requests)
        return [*requests, *filter(None, repairs)]

    @property
    def _looking_roles(self) -> tuple[Role, ...]:
        return self._select_roles("judge", "captioner")

    @property
    def _colour_question(self) -> CheckQuestion:
        request = LookRequest((Turn("user", COLOUR_QUESTION, (self._digest,)),))
        question = CheckQuestion("tells its colours", self._looking_roles, request, self._miscolour)
        return self._number(question)

    def _number(self, question: CheckQuestion) -> CheckQuestion:
        return question._replace(request=replace(question.request, sample=self._sample))

    def _select_roles(self, *roles: Role) -> tuple[Role, ...]:
        return tuple(role for role in self.model.roles if role in roles)

    def _list_questions(self) -> Iterator[CheckQuestion]:
        judges, writers = self._select_roles("judge"), self._select_roles("writer")
        number = self._picture.number
        if self._looking_roles:
            request = LookRequest((Turn("user", NUMBER_QUESTION, (self._digest,)),))
            yield CheckQuestion("sees a picture", self._looking_roles, request, self._misread)
            if judges:
                yield CheckQuestion("answers in curly brackets", judges, request, _miss_brackets)
                text = f"The number {number}, {self._picture.colours}."
                turn = Turn("user", write_rating_prompt(text), (self._digest,))
                yield CheckQuestion("rates", judges, LookRequest((turn,)), _miss_rating)
        if writers:
            turn = Turn("user", write_triplet_prompt(self._concept))
            write = WriteRequest((turn,), json.dumps(SCHEMA))
            yield CheckQuestion("writes JSON to a schema", writers, write, _find_no_problem)
        if moderators := self._select_roles("moderator"):
            write = WriteRequest((Turn("user", write_moderation_prompt("Paint a red apple.")),))
            yield CheckQuestion("moderates", moderators, write, _miss_yes_no)
        if detectors := self._select_roles("detector"):
            look = LookRequest((Turn("user", "number", (self._digest,)),))
            yield CheckQuestion("looks for boxes", detectors, look, _find_no_problem)
        seed = 0 if self.model.takes_seed else None
        if painters := self._select_roles("painter"):
            paint = PaintRequest("A red apple on a wooden table.", seed)
            yield CheckQuestion("paints", painters, paint, self._flaw)
        if editors := self._select_roles("editor"):
            edit = EditRequest("Make the background white.", (self._digest,), seed)
            yield CheckQuestion("edits", editors, edit, self._flaw)
        if metrics := self._select_roles("metric"):
            for title, text in (
                ("scores the right text", f"the number {number}"),
                ("scores a wrong text", "a dog on a beach"),
            ):
                score = ScoreRequest(text, self._digest)
                yield CheckQuestion(title, metrics, score, _find_no_problem)

    def _read(self, question: CheckQuestion, outcome: Outcome) -> CheckResult:
        problem: Problem
        match outcome:
            case AnsweredOutcome():
                problem = question.find_problem(outcome)
            case FailedOutcome(error=error):
                has_picture = bool(list_images(question.request))
                cause, sentence = explain_fault(
                    self.model, error, has_picture=has_picture, listed_ids=self._listed_ids
                )
                return CheckResult(question, outcome, sentence, cause)
            case _:
                problem = outcome.reason
        limit = find_output_limit(self.model)
        if problem and limit is not None and (outcome.usage.output_tokens or 0) >= limit:
            problem = f"Its limit of {limit:,} tokens cut the answer off: raise it."
            return CheckResult(question, outcome, problem, "limit")
        return CheckResult(question, outcome, problem, "form" if problem else None)

    def _is_unseen(self, result: CheckResult) -> bool:
        is_sight = result.question.find_problem == self._misread
        return is_sight and result.problem is not None and result.cause == "form"

    def _judge_sight(
        self, results: Sequence[CheckResult], colours: CheckResult
    ) -> list[CheckResult]:
        sight, *others = results
        if colours.problem is None:
            misread = sight._replace(problem=None, cause=None, remark="misreads the number")
            return [misread, colours, *others]
        if colours.cause != "form":
            return [sight, colours, *others]
        problem = (
            f"{self.model.name} answers as if there was no picture: its server drops pictures "
            "silently, or the model has no vision; serve it with its vision part and chat "
            "template, or take another model."
        )
        blind = sight._replace(problem=problem, cause="blind")
        return [blind, colours._replace(cause="blind"), *others]

    def _misread(self, outcome: AnsweredOutcome) -> Problem:
        if str(self._picture.number) in re.findall(r"\d+", outcome.text or ""):
            return None
        return f"It does not say {self._picture.number}, which the picture shows."

    def _miscolour(self, outcome: AnsweredOutcome) -> Problem:
        words = set(re.findall(r"[a-z]+", (outcome.text or "").lower()))
        if words & COLOUR_NAMES == {self._picture.ink, self._picture.ground}:
            return None
        return f"It does not say {self._picture.colours}, which the picture shows."

    def _flaw(self, outcome: AnsweredOutcome) -> Problem:
        (digest,) = outcome.images
        if digest == self._digest:
            return "It gave the same picture back."
        inspection = inspect_picture(self._images.get(digest))
        wrong_size = describe_wrong_size(*inspection[:2], self.model.parameters)
        return wrong_size or (f"It is {inspection.blank}." if inspection.blank else None)


def _compare_scores(results: list[CheckResult]) -> list[CheckResult]:
    """Remark on a metric's second score, of a wrong text, how it stands to the first."""
    scores = [
        result.outcome.score
        for result in results
        if isinstance(result.outcome, AnsweredOutcome) and result.outcome.score is not None
    ]
    if len(scores) < 2:
        return results
    right_score, wrong_score = scores
    remark = "lower, as it should be" if wrong_score < right_score else "not lower"
    return [*results[:-1], results[-1]._replace(remark=remark)]


def _find_no_problem(outcome: AnsweredOutcome) -> Problem:
    return None


def _miss_brackets(outcome: AnsweredOutcome) -> Problem:
    if read_count(outcome.text or "").outcome == "answered":
        return None
    return "It gives no number in curly brackets: its answers would be unparsed."


def _miss_rating(outcome: AnsweredOutcome) -> Problem:
    return read_rating(outcome.text or "", *JUDGE_SCALE).reason


def _miss_yes_no(outcome: AnsweredOutcome) -> Problem:
    if read_yes_no(outcome.text or "").outcome == "answered":
        return None
    return "It gives no {Yes} or {No}."


def describe_outcome(outcome: Outcome, images: ImageStore) -> str:
    """What came, on one line: words, a score, or the size of a picture."""
    match outcome:
        case AnsweredOutcome(images=(digest, *_)):
            width, height = images.sizes([digest])[digest]
            return f"{width} × {height} px"
        case AnsweredOutcome(score=score) if score is not None:
            return f"{score:.6g}"
        case AnsweredOutcome(text=text) | MalformedOutcome(text=text) if text:
            return _escape(text)
    return ""


def _escape(text: str) -> str:
    words = " ".join(text.split())
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in words)
