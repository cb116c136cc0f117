"""Logs of lmms-eval: `*_samples_<task>.jsonl`, with `*_results.json` beside it.

A line has the prompt, the reply and the metrics, but of the row its position alone: the metric
`row` of our task files adds its id. The limit of tokens is in the results.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from upath import UPath

from resources.harness_logs.log_answer import HarnessLog, LogAnswer, require_text, to_count, to_text
from resources.harness_logs.log_rows import read_log_rows
from resources.user_files.rows import BadRow, Row, TableFormat, UserFileError, build_all
from resources.user_files.text_rows import read_json

DEFAULT_LIMIT = 32
"""Tokens of a reply in lmms-eval's own task of VLMBias."""
_FAILED = "[LMMS_EVAL_REQUEST_FAILED"
_SAMPLES = "_samples_"


def read_lmms_eval(path: UPath) -> HarnessLog:
    """Read the samples of a task. Raises `UserFileError`."""
    answers = build_all(path, read_log_rows(path, TableFormat()), _build_answer)
    results = _read_results(path)
    task = path.stem.partition(_SAMPLES)[2]
    generation = _find(results, "configs", task, "generation_kwargs")
    limit = to_count(_find(generation, "max_new_tokens")) or _guess_limit(answers)
    return HarnessLog(
        path=str(path),
        harness="lmms-eval",
        model=to_text(_find(results, "model_name")),
        max_tokens=limit,
        answers=[replace(answer, is_cut=_is_cut(answer, limit)) for answer in answers],
    )


def _build_answer(row: Row) -> LogAnswer:
    if row.problem is not None:
        raise BadRow(row.problem)
    cells = row.cells
    released = cells.get("row")
    if not isinstance(released, Mapping):
        if not any(name in cells for name in ("resps", "filtered_resps", "doc_id")):
            raise BadRow(
                "it has neither `resps` nor `prediction`. Name a log of lmms-eval, VLMEvalKit or "
                "inspect_ai"
            )
        raise BadRow(
            "it names its row by position alone. Run the task in integrations/lmms_eval, which "
            "adds the id"
        )
    reply = _first_text(cells["resps"] if "resps" in cells else cells.get("filtered_resps"))
    if reply is None:
        raise BadRow("it has no reply")
    counts = cells.get("token_counts")
    count = counts[0] if isinstance(counts, Sequence) and counts else None
    return LogAnswer(
        place=row.place,
        row_id=require_text(released.get("id"), "row.id"),
        reply=None if reply.startswith(_FAILED) else reply,
        prompt=to_text(cells.get("input")),
        ground_truth=to_text(cells.get("target")),
        sha256=to_text(released.get("sha256")),
        output_tokens=to_count(_find(count, "output_tokens")),
    )


def _first_text(value: Any) -> str | None:
    while isinstance(value, list) and value:
        value = value[0]
    return value if isinstance(value, str) else None


def _read_results(path: UPath) -> Any:
    results = path.with_name(f"{path.name.partition(_SAMPLES)[0]}_results.json")
    try:
        return read_json(results, TableFormat()) if results.exists() else None
    except UserFileError:
        # It says no more than the limit and the model's name.
        return None


def _guess_limit(answers: Sequence[LogAnswer]) -> int | None:
    longest = max((answer.output_tokens or 0 for answer in answers), default=0)
    return DEFAULT_LIMIT if longest == DEFAULT_LIMIT else None


def _is_cut(answer: LogAnswer, limit: int | None) -> bool:
    tokens = answer.output_tokens
    return limit is not None and tokens is not None and tokens >= limit


def _find(value: Any, *names: str) -> Any:
    for name in names:
        value = value.get(name) if isinstance(value, Mapping) else None
    return value
