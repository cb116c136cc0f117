"""Scores of a metric of the user's own, read from a file: one row per picture of a pair."""

from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import replace
from hashlib import file_digest
from typing import Any, Literal, NamedTuple

import pandas as pd

from assets.kit.limits import LimitConfig
from assets.kit.model_lookup import digest_entry
from assets.kit.previews import markdown_table
from assets.kit.step import Conversation
from assets.kit.step_run import Row as TableRow
from assets.kit.step_run import StepRun
from assets.protobias.common import split_pair_key
from assets.protobias.scores import PairScores
from generators.prompts.concepts import DOMAINS
from resources.models.catalog import Catalog, Model
from resources.models.formulas import read_scale
from resources.storage.atomic_writes import FilePath
from resources.storage.data_root import DataRoot
from resources.storage.files import open_file, resolve_path
from resources.storage.work_cache import build_work_key
from resources.user_files.reader import read_rows
from resources.user_files.rows import (
    BadRow,
    Number,
    Row,
    RowCells,
    TableFormat,
    UserFileError,
    to_cells,
)

_COLUMNS = ("pair", "side", "score")
_KINDS = (".csv", ".jsonl", ".parquet")


class ScoreFile(NamedTuple):
    """The version of a file's contents, and its rows."""

    path: FilePath
    version: str
    rows: Sequence[Row]


class _FiledScoreCells(RowCells):
    pair: str
    side: Literal["correct", "adversarial"]
    score: Number


class FiledScores(PairScores):
    """The scores of a metric of the user's own; nothing is asked.

    Raises `UserFileError` for a file that cannot be read; unusable rows are listed.
    """

    def __init__(self, catalog: Catalog, judge: Model) -> None:
        super().__init__(catalog, judge)
        description = f"Scores of a metric of your own, from {judge.model}."
        self.asset = replace(self.asset, description=description, is_automatic=False)
        self.example_request = None

    def model(self, partition: str, config: LimitConfig) -> None:
        """Return None: this step asks no model."""

    def rows(self, work: StepRun[LimitConfig]) -> list[dict[str, Any]]:
        """The pictures of the evaluation set, as the file scores them."""
        pictures = super().rows(work)
        score_file, outcomes, _ = self._read_outcomes(work, pictures)
        version = {"entry_version": score_file.version}
        return [row | version | ending for row, ending in zip(pictures, outcomes, strict=True)]

    def converse(self, work: StepRun[LimitConfig], row: TableRow) -> Conversation:
        """Ask nothing: `rows` have the scores."""
        yield from ()
        return {}

    def metadata(self, work: StepRun[LimitConfig], rows: Sequence[TableRow]) -> dict[str, Any]:
        """The file, and its unusable rows."""
        score_file, _, bad_rows = self._read_outcomes(work, rows)
        metadata = {**super().metadata(work, rows), "file": str(score_file.path)}
        if len(bad_rows):
            work.log.warning("%s: %d rows are unusable.", score_file.path, len(bad_rows))
            table = markdown_table(bad_rows.head(100))
            metadata |= {"bad_rows": len(bad_rows), "unusable_rows": table}
        return metadata

    def _read_outcomes(
        self, work: StepRun[LimitConfig], pictures: Sequence[TableRow]
    ) -> tuple[ScoreFile, list[dict[str, Any]], pd.DataFrame]:
        domain, painter = split_pair_key(work.partition)
        score_file = read_scores(self.judge, work.home, painter)
        pairs = list(work.tables["filtered_pairs"]["pair_id"])
        return score_file, *read_outcomes(score_file, self.judge, domain, pairs, pictures)


def score_file_path(model: Model, home: DataRoot, painter: str) -> FilePath:
    """The file of a painter's scores; a relative path starts at the data root."""
    return resolve_path(home.path(), model.model.replace("{painter}", painter))


def compute_file_version(model: Model, home: DataRoot, painter: str) -> str | None:
    """The version of a file's present contents; None where it does not exist."""
    try:
        with open_file(score_file_path(model, home, painter)) as file:
            digest = file_digest(file, "sha256").hexdigest()
    except FileNotFoundError:
        return None
    return build_work_key(digest_entry(model), digest)


def read_scores(model: Model, home: DataRoot, painter: str) -> ScoreFile:
    """The rows of a file (CSV, JSON lines, Parquet) that are about a painter.

    Raises `UserFileError`, as for a file that does not say which painter it is about.
    """
    path = score_file_path(model, home, painter)
    version = compute_file_version(model, home, painter)
    columns = ", ".join(_COLUMNS)
    remedy = f"Write it with the columns {columns}, or correct {model.name} in models.yaml."
    rows = list(read_rows(path, TableFormat(columns=_COLUMNS, remedy=remedy), _KINDS))
    if version is None or version != compute_file_version(model, home, painter):
        raise UserFileError(f"{path} has changed while it was read. Materialize again.")
    if "{painter}" not in model.model and not any("painter" in row.cells for row in rows):
        raise UserFileError(
            f"{path} does not name the painter of its pictures. Write {{painter}} in the path of "
            f"{model.name} in models.yaml, or add a column painter."
        )
    own_rows = [row for row in rows if row.cells.get("painter", painter) == painter]
    return ScoreFile(path, version, own_rows)


def read_outcomes(
    score_file: ScoreFile,
    model: Model,
    domain: str,
    pairs: Sequence[str],
    pictures: Sequence[TableRow],
) -> tuple[list[dict[str, Any]], pd.DataFrame]:
    """The outcome of each picture, and the unusable rows with the columns row and problem.

    `pairs` are all of the domain; rows about other domains are ignored. A picture without exactly
    one usable row has failed, and is never 0.
    """
    rows_of_pictures: dict[tuple[Any, Any], list[tuple[str, float | None, str]]] = defaultdict(list)
    problems: list[tuple[str, str]] = []
    known_pairs = set(pairs)
    other_domains = tuple(f"{name}/" for name in DOMAINS if name != domain)
    for row in score_file.rows:
        pair, side = str(row.cells.get("pair")), str(row.cells.get("side"))
        if row.problem is None and pair.startswith(other_domains) and pair not in known_pairs:
            continue
        score, problem = None, ""
        try:
            score = _read_score(row, model, known_pairs)
        except BadRow as error:
            problem = str(error)
        earlier_rows = rows_of_pictures[pair, side]
        if problem:
            problems.append((row.place, problem))
        elif earlier_rows:
            again = f"scores {pair} ({side}) again, as {earlier_rows[0][0]} does"
            problems.append((row.place, again))
        earlier_rows.append((row.place, score, problem))
    outcomes = [
        _decide_outcome(rows_of_pictures.get((picture["pair_id"], picture["side"]), []), score_file)
        for picture in pictures
    ]
    return outcomes, pd.DataFrame(problems, columns=["row", "problem"])


def _read_score(row: Row, model: Model, pairs: Collection[str]) -> float:
    """The score of a row. Raises `BadRow`."""
    cells = to_cells(row, _FiledScoreCells)
    if cells.pair not in pairs:
        raise BadRow(f"there is no pair {cells.pair!r} of this painter")
    low, high = read_scale(model.parameters)
    if not low <= cells.score <= high:
        raise BadRow(
            f"the score {cells.score:g} is not from {low:g} to {high:g} (`scale` in models.yaml)"
        )
    return cells.score


def _decide_outcome(
    rows: Sequence[tuple[str, float | None, str]], score_file: ScoreFile
) -> dict[str, Any]:
    if len(rows) == 1 and not rows[0][2]:
        return {"outcome": "scored", "raw": rows[0][1]}
    if len(rows) == 1:
        reason = f"{rows[0][0]}: {rows[0][2]}"
    elif rows:
        reason = f"{', '.join(place for place, *_ in rows)} all score it"
    else:
        reason = "it has no score of it"
    return {"outcome": "failed", "reason": f"{score_file.path.name}: {reason}."}
