"""Results of VLMEvalKit: a table with the released TSV's columns, and `prediction`."""

from collections.abc import Callable, Iterable

from upath import UPath

from resources.harness_logs.log_answer import HarnessLog, LogAnswer, require_text, to_text
from resources.harness_logs.log_rows import read_log_rows
from resources.harness_logs.workbooks import read_workbook
from resources.user_files.rows import BadRow, Row, TableFormat, build_all

_FORMAT = TableFormat(columns=("index", "prediction"))
_FAILED = "Failed to obtain answer"


def read_vlmevalkit(path: UPath) -> HarnessLog:
    """Read a result file, as XLSX, TSV, CSV or JSON. Raises `UserFileError`."""
    is_workbook = path.suffix.lower() == ".xlsx"
    read: Callable[[UPath, TableFormat], Iterable[Row]]
    read = read_workbook if is_workbook else read_log_rows
    answers = build_all(path, read(path, _FORMAT), _build_answer)
    return HarnessLog(path=str(path), harness="VLMEvalKit", answers=answers)


def _build_answer(row: Row) -> LogAnswer:
    if row.problem is not None:
        raise BadRow(row.problem)
    cells = row.cells
    if "prediction" not in cells:
        raise BadRow("it has no `prediction`")
    reply = to_text(cells["prediction"]) or ""
    return LogAnswer(
        place=row.place,
        row_id=require_text(cells.get("index"), "index"),
        reply=None if _FAILED in reply else reply,
        prompt=to_text(cells.get("question")),
        ground_truth=to_text(cells.get("answer")),
        sha256=to_text(cells.get("sha256")),
    )
