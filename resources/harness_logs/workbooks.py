"""Workbooks (XLSX): stored values of the first sheet; formulas and macros are never run."""

from collections.abc import Iterator
from zipfile import BadZipFile, ZipFile

from python_calamine import CalamineError, CalamineWorkbook
from upath import UPath

from resources.storage.files import open_file
from resources.user_files.rows import Row, TableFormat, UserFileError, require_columns

MAX_UNPACKED = 200_000_000
"""Bytes of a workbook's or log's members together, unpacked."""


def read_workbook(path: UPath, table_format: TableFormat) -> Iterator[Row]:
    """The rows of the first sheet, below the names of its columns. Raises `UserFileError`."""
    with open_file(path) as file:
        try:
            with ZipFile(file) as archive:
                require_bounded(path, archive)
            file.seek(0)
            lines = CalamineWorkbook.from_filelike(file).get_sheet_by_index(0).iter_rows()
            heads = [str(cell) for cell in next(lines, [])]
            require_columns(path, heads, table_format)
            for number, cells in enumerate(lines, 1):
                values = (_to_cell(cell) for cell in cells)
                yield Row(number, f"line {number + 1:,}", dict(zip(heads, values, strict=False)))
        except (BadZipFile, CalamineError) as error:
            raise UserFileError(
                f"{path} is no workbook ({error}). Save it again, or as TSV."
            ) from None


def require_bounded(path: UPath, archive: ZipFile) -> None:
    """Raise `UserFileError` where a ZIP archive unpacks to more than is taken."""
    size = sum(member.file_size for member in archive.infolist())
    if size > MAX_UNPACKED:
        raise UserFileError(
            f"{path} unpacks to {size / 1e6:,.0f} MB; at most {MAX_UNPACKED // 1_000_000} are "
            "taken. Export the answers as JSON lines or TSV, without pictures."
        )


def _to_cell(cell: object) -> object:
    """Whole numbers, which workbooks store as 5.0, as such."""
    return int(cell) if isinstance(cell, float) and cell.is_integer() else cell
