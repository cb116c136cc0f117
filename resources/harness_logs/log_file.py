"""A log of any harness, told by its name and first row."""

from collections.abc import Callable, Mapping
from itertools import islice

from upath import UPath

from resources.harness_logs.inspect_logs import read_inspect
from resources.harness_logs.lmms_eval import read_lmms_eval
from resources.harness_logs.log_answer import HarnessLog
from resources.harness_logs.vlmevalkit import read_vlmevalkit
from resources.user_files.reader import read_rows
from resources.user_files.rows import TableFormat, UserFileError
from resources.user_files.text_rows import read_json

_BY_SUFFIX: Mapping[str, Callable[[UPath], HarnessLog]] = {
    ".eval": read_inspect,
    ".xlsx": read_vlmevalkit,
    ".tsv": read_vlmevalkit,
    ".csv": read_vlmevalkit,
}


def read_harness_log(path: UPath) -> HarnessLog:
    """Read a log of lmms-eval, VLMEvalKit or inspect_ai.

    Raises `UserFileError` where it is none, or where rows are damaged.
    """
    read = _BY_SUFFIX.get(path.suffix.lower()) or _recognize(path)
    log = read(path)
    if not log.answers:
        raise UserFileError(f"{path} has no answers. Name the log of a finished run.")
    return log


def _recognize(path: UPath) -> Callable[[UPath], HarnessLog]:
    if path.suffix.lower() not in (".json", ".jsonl"):
        raise UserFileError(
            f"{path} is no log. Name one of lmms-eval (*_samples_*.jsonl), VLMEvalKit (.xlsx, "
            ".tsv, .json; PRED_FORMAT=tsv) or inspect_ai (.eval, .json)."
        )
    if path.suffix.lower() == ".json" and _is_inspect(path):
        return read_inspect
    first = next((row.cells for row in islice(read_rows(path, TableFormat()), 1)), {})
    if "prediction" in first:
        return read_vlmevalkit
    return read_lmms_eval


def _is_inspect(path: UPath) -> bool:
    value = read_json(path, TableFormat())
    return isinstance(value, Mapping) and "eval" in value
