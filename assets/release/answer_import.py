"""Import of a harness's log: its replies become stored answers of a judge, by the ids of rows."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import NamedTuple

from assets.kit.benchmarks import Benchmark
from assets.kit.release_tables import ReleaseInputs
from assets.release.contents import ReleaseSources
from assets.release.parts import find_parts, list_partitions
from resources.calls import Call
from resources.harness_logs import HarnessLog, LogAnswer
from resources.models.catalog import Model
from resources.models.recording import build_call, record_answer
from resources.models.replies import ModelReply, Refusal, Usage
from resources.models.requests import LookRequest, Turn, compute_call_keys
from resources.user_files.rows import require_none

_LONGEST = 80


class ReleasedQuestion(NamedTuple):
    """A released row as a judge is asked about it: text, pictures and the right answer."""

    prompt: str
    images: tuple[str, ...]
    ground_truth: str | None

    @property
    def request(self) -> LookRequest:
        """The request that the judge's answers are made of."""
        return LookRequest((Turn("user", self.prompt, self.images),))


@dataclass(frozen=True, kw_only=True)
class ImportedAnswers:
    """Counts of an import; `new` are calls that were not stored before."""

    answers: int
    new: int
    questions: int
    """All questions of the released tables that the log has rows of."""
    failed: Sequence[str]
    """Rows of which the harness recorded no reply; they count as missing."""
    cut: Sequence[str]
    """Rows whose reply was cut off at the limit of tokens."""
    doubles: Sequence[str]
    """Rows that ask another row's question about the same picture: its reply counts for both."""


def import_answers(
    log: HarnessLog, benchmark: Benchmark, judge: Model, sources: ReleaseSources
) -> ImportedAnswers:
    """Store the replies of a log as a judge's answers; nothing is stored if any row is unfit.

    Raises `UserFileError` that names the rows, `NotMaterialized` where nothing is released, and
    `ValueError` for a benchmark without tables to release or a judge of another backend.
    """
    if judge.backend != "imported":
        raise ValueError(
            f"{judge.name}: answers through {judge.backend} and from a log are not mixed. "
            f"Name an entry of the backend imported."
        )
    if not benchmark.release_tables:
        raise ValueError(f"{benchmark.name}: it declares no tables to release, so it has no logs.")
    parts = find_parts(sources, benchmark.release_tables, ())
    tables = list_questions(benchmark, sources.to_inputs(list_partitions(parts)))
    questions = {name: question for table in tables for name, question in table.items()}
    require_none(log.path, list(_find_problems(log, benchmark, questions)))
    names = {answer.row_id for answer in log.answers}
    calls, doubles = _build_calls(log, judge, questions, sources)
    _require_same_answers(log, judge, calls, sources)
    stored_calls = sources.calls.keep([*calls.values()])
    # Another import may have stored others meanwhile.
    _require_same_answers(log, judge, calls, sources)
    return ImportedAnswers(
        answers=len(calls) + len(doubles),
        new=len(stored_calls),
        questions=sum(len(table) for table in tables if not names.isdisjoint(table)),
        failed=[answer.row_id for answer in log.answers if _has_failed(answer)],
        cut=[answer.row_id for answer in log.answers if answer.is_cut],
        doubles=doubles,
    )


def list_questions(
    benchmark: Benchmark, inputs: ReleaseInputs
) -> list[Mapping[str, ReleasedQuestion]]:
    """List the questions of each table and split of a release, by row id."""
    return [
        {
            row.row_id: ReleasedQuestion(
                prompt=row.cells[table.prompt_column],
                images=tuple(row.cells[name] for name in table.image_columns),
                ground_truth=row.cells.get(table.truth_column),
            )
            for row in table.read_rows(inputs, split)
        }
        for table in benchmark.release_tables
        if table.prompt_column
        for split in table.splits
    ]


def _find_problems(
    log: HarnessLog, benchmark: Benchmark, questions: Mapping[str, ReleasedQuestion]
) -> Iterable[str]:
    places: dict[str, str] = {}
    for answer in log.answers:
        question = questions.get(answer.row_id)
        if answer.row_id in places:
            problem = f"answered twice, first in {places[answer.row_id]}. Keep one of the two."
        elif question is None:
            problem = (
                f"no such row is in {benchmark.name} as it is here. Name the log's benchmark by "
                "--benchmark, or materialize the seed and partitions that it was run on."
            )
        else:
            problem = _explain_difference(answer, question)
        places.setdefault(answer.row_id, answer.place)
        if problem:
            yield f"{log.path}, {answer.place}: {answer.row_id}: {problem}"


def _explain_difference(answer: LogAnswer, question: ReleasedQuestion) -> str:
    """Explain why an answer is none to our question; empty where it is one."""
    prompt, own_prompt = (answer.prompt or "").strip(), question.prompt.strip()
    if answer.sha256 is not None and answer.sha256 not in question.images:
        return f"of another picture ({answer.sha256[:12]}…). {_OTHER_SEED}"
    if prompt and prompt != own_prompt:
        if own_prompt in prompt:
            added = prompt.replace(own_prompt, "…")[:_LONGEST]
            return (
                f"the harness added to the prompt ({added!r}), on which answers depend. Run it "
                "without system message, prefix and suffix."
            )
        return f"another question ({prompt[:_LONGEST]!r}). {_OTHER_SEED}"
    truth = answer.ground_truth
    if truth is not None and question.ground_truth and truth != question.ground_truth:
        return f"the right answer is {question.ground_truth!r}, not {truth!r}. {_OTHER_SEED}"
    return ""


_OTHER_SEED = "Materialize the seed that was released, or run the harness on a release of this one."


def _has_failed(answer: LogAnswer) -> bool:
    return answer.reply is None and not answer.is_filtered and not answer.is_cut


def _build_calls(
    log: HarnessLog,
    judge: Model,
    questions: Mapping[str, ReleasedQuestion],
    sources: ReleaseSources,
) -> tuple[dict[str, Call], list[str]]:
    """Build the calls of all replies, by key, and list the rows that have another row's call."""
    answers = [answer for answer in log.answers if not _has_failed(answer)]
    # Whichever row a log has first.
    answers.sort(key=lambda answer: answer.row_id)
    requests = [questions[answer.row_id].request for answer in answers]
    keys, imported_at = compute_call_keys(judge, requests), datetime.now(UTC)
    calls: dict[str, Call] = {}
    doubles = []
    for key, request, answer in zip(keys, requests, answers, strict=True):
        if key in calls:
            doubles.append(answer.row_id)
            continue
        reply = _build_reply(log, answer)
        stored = record_answer(reply, sources.images)
        calls[key] = build_call(
            judge, key, request, reply, stored, 0.0, "online", finished_at=imported_at
        )
    return calls, doubles


def _build_reply(log: HarnessLog, answer: LogAnswer) -> ModelReply:
    facts = {"harness": log.harness, "max_tokens": log.max_tokens}
    facts |= {"cut_off": True} if answer.is_cut else {}
    reply = ModelReply(
        served_model=log.model,
        usage=Usage(output_tokens=answer.output_tokens),
        text=answer.reply,
        provenance={name: fact for name, fact in facts.items() if fact is not None},
    )
    if answer.is_filtered:
        filtered = Refusal("content filter", f"{log.harness} logged a content filter.")
        return ModelReply(refusal=filtered, served_model=log.model, usage=reply.usage)
    if answer.is_cut and not answer.reply:
        reason = f"The limit of tokens ({log.max_tokens or 'unknown'}) left no text."
        return ModelReply(malformed_reason=reason, served_model=log.model, usage=reply.usage)
    return reply


def _require_same_answers(
    log: HarnessLog, judge: Model, calls: Mapping[str, Call], sources: ReleaseSources
) -> None:
    """Raise `UserFileError` where the judge has other answers already."""
    stored = sources.calls.find_answers(calls)
    others = [key for key, answer in stored.items() if answer.answer != calls[key].answer]
    if others:
        require_none(
            log.path,
            [
                f"{log.path}: {len(others):,} of {len(calls):,} questions have another answer of "
                f"{judge.name} already. Import it under another judge, with another `model`."
            ],
        )
