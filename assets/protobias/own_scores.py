"""Scores of a metric of the user's own, read from a file: one row a picture of a pair."""

import csv
import io
import json
import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from assets.kit.limits import LimitConfig
from assets.kit.model_lookup import digest_entry
from assets.kit.previews import markdown_table
from assets.kit.step import Conversation, Row, StepRun
from assets.protobias.common import split_pair_key
from assets.protobias.image_pairs import SIDES
from assets.protobias.scores import PairScores
from generators.prompts.concepts import DOMAINS
from resources.models.catalog import Catalog, Model
from resources.models.formulas import read_scale
from resources.storage.data_root import DataRoot
from resources.storage.work_cache import build_work_key

_COLUMNS = ("pair", "side", "score")


class BadScores(ValueError):
    """A file of scores cannot be used; the message says where and what to do."""


class Given(NamedTuple):
    """What a file says: the version of its contents, and its rows with their numbers in it."""

    path: Path
    version: str
    rows: Sequence[tuple[int, Mapping[str, Any]]]


class FiledScores(PairScores):
    """The scores of a metric of the user's own; nothing is asked.

    Raises `BadScores` for a file that cannot be read; unusable rows are listed.
    """

    is_automatic = False

    def __init__(self, catalog: Catalog, judge: Model) -> None:
        super().__init__(catalog, judge)
        self.description = f"Scores of a metric of your own, from {judge.model}."

    @property
    def may_send_requests(self) -> bool:
        """Whoever wrote the file did."""
        return False

    def model(self, partition: str, config: LimitConfig) -> None:
        """Nobody is asked."""

    def rows(self, work: StepRun[LimitConfig]) -> list[dict[str, Any]]:
        """The pictures of the evaluation set, as the file scores them."""
        pictures = super().rows(work)
        given, found, _ = self._outcomes(work, pictures)
        version = {"entry_version": given.version}
        return [row | version | ending for row, ending in zip(pictures, found, strict=True)]

    def converse(self, work: StepRun[LimitConfig], row: Row) -> Conversation:
        """All is said in `rows`."""
        yield from ()
        return {}

    def metadata(self, work: StepRun[LimitConfig], rows: Sequence[Row]) -> dict[str, Any]:
        """The file, and its unusable rows."""
        given, _, wrong = self._outcomes(work, rows)
        told = {**super().metadata(work, rows), "file": str(given.path)}
        if len(wrong):
            work.log.warning("%s: %d rows are unusable.", given.path, len(wrong))
            told |= {"bad_rows": len(wrong), "rows_of_no_use": markdown_table(wrong.head(100))}
        return told

    def _outcomes(
        self, work: StepRun[LimitConfig], pictures: Sequence[Row]
    ) -> tuple[Given, list[dict[str, Any]], pd.DataFrame]:
        domain, painter = split_pair_key(work.partition)
        given = read_scores(self.judge, work.home, painter)
        pairs = list(work.tables["filtered_pairs"]["pair_id"])
        return given, *read_outcomes(given, self.judge, domain, pairs, pictures)


def score_file_path(model: Model, home: DataRoot, painter: str) -> Path:
    """Where a painter's scores lie; a relative path is one below the data root."""
    return Path(home.root) / model.model.replace("{painter}", painter)


def version_in_file(model: Model, home: DataRoot, painter: str) -> str | None:
    """The version of what the file holds now; None where it is not there."""
    try:
        return _version(model, score_file_path(model, home, painter).read_bytes())
    except FileNotFoundError:
        return None


def read_scores(model: Model, home: DataRoot, painter: str) -> Given:
    """The rows of a file (CSV, JSON lines, Parquet) that are about a painter.

    Raises `BadScores`, as where nothing says which painter a file is about.
    """
    path = score_file_path(model, home, painter)
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        raise BadScores(
            f"{model.name}: {path} is not there. Write it with the columns {', '.join(_COLUMNS)}, "
            "or correct `model` in models.yaml."
        ) from None
    rows = _rows_in(path, data)
    columns = {name for _, row in rows for name in row}
    if lacking := [name for name in _COLUMNS if name not in columns]:
        raise BadScores(f"{path} has no column {', '.join(lacking)}: it takes pair, side, score.")
    if "{painter}" not in model.model and "painter" not in columns:
        raise BadScores(
            f"{path} does not say whose pictures it is about. Write {{painter}} in the path of "
            f"{model.name} in models.yaml, or add a column painter."
        )
    own = [(at, row) for at, row in rows if row.get("painter", painter) == painter]
    return Given(path, _version(model, data), own)


def read_outcomes(
    given: Given, model: Model, domain: str, pairs: Sequence[str], wanted: Sequence[Row]
) -> tuple[list[dict[str, Any]], pd.DataFrame]:
    """The outcome of each of the `wanted` pictures, and the unusable rows.

    `pairs` are all of the domain; a row about another domain is passed over. A picture without
    exactly one row of use has failed, and is never 0. Columns of the second: row, problem.
    """
    found: dict[tuple[str, str], list[tuple[int, float | None, str]]] = defaultdict(list)
    problems: list[tuple[int, str]] = []
    known, others = set(pairs), tuple(f"{name}/" for name in DOMAINS if name != domain)
    for at, row in given.rows:
        pair, side = str(row.get("pair")), str(row.get("side"))
        if pair not in known:
            if not pair.startswith(others):
                problems.append((at, f"there is no pair {pair!r} of this painter"))
            continue
        if side not in SIDES:
            problems.append((at, f"the side is {side!r}, not {' or '.join(SIDES)}"))
            continue
        score, problem = _number(row.get("score"), model)
        if problem:
            problems.append((at, problem))
        elif earlier := found[pair, side]:
            problems.append((at, f"scores {pair} ({side}) again, as row {earlier[0][0]} does"))
        found[pair, side].append((at, score, problem))
    ended = [_outcome(found.get((row["pair_id"], row["side"]), []), given) for row in wanted]
    return ended, pd.DataFrame(problems, columns=["row", "problem"])


def _outcome(rows: Sequence[tuple[int, float | None, str]], given: Given) -> dict[str, Any]:
    if len(rows) == 1 and not rows[0][2]:
        return {"outcome": "scored", "raw": rows[0][1]}
    if len(rows) == 1:
        why = f"row {rows[0][0]}: {rows[0][2]}"
    elif rows:
        why = f"rows {', '.join(str(at) for at, *_ in rows)} all score it"
    else:
        why = "it has no score of it"
    return {"outcome": "failed", "reason": f"{given.path.name}: {why}."}


def _number(written: Any, model: Model) -> tuple[float | None, str]:
    """A score, or what is wrong with it."""
    low, high = read_scale(model.parameters)
    if written is None or (isinstance(written, str) and not written.strip()):
        return None, "the score is missing"
    try:
        score = math.nan if isinstance(written, bool) else float(written)
    except (TypeError, ValueError, OverflowError):
        score = math.nan
    if math.isnan(score):
        return None, f"the score {str(written)[:40]!r} is no number"
    if not low <= score <= high:
        return None, f"the score {score:g} is not from {low:g} to {high:g} (`scale` in models.yaml)"
    return score, ""


def _version(model: Model, data: bytes) -> str:
    return build_work_key(digest_entry(model), sha256(data).hexdigest())


_KINDS = {".csv": "CSV in UTF-8", ".jsonl": "JSON lines", ".parquet": "Parquet"}


def _rows_in(path: Path, data: bytes) -> list[tuple[int, Mapping[str, Any]]]:
    """The rows of a file with their numbers in it. Raises `BadScores`."""
    try:
        match path.suffix:
            case ".csv":
                text = io.StringIO(data.decode("utf-8-sig"), newline="")
                lines = csv.DictReader(text, strict=True)
                return [(lines.line_num, row) for row in lines]
            case ".jsonl":
                told = enumerate(data.splitlines(), start=1)
                return [(at, _object(path, at, line)) for at, line in told if line.strip()]
            case ".parquet":
                return list(enumerate(pq.read_table(io.BytesIO(data)).to_pylist(), start=1))
    except (UnicodeDecodeError, csv.Error, pa.ArrowInvalid, OSError) as error:
        raise BadScores(f"{path} cannot be read as {_KINDS[path.suffix]}: {error}.") from None
    raise BadScores(f"{path} is none of {', '.join(_KINDS)}: save it as one of these.")


def _object(path: Path, at: int, line: bytes) -> Mapping[str, Any]:
    try:
        row = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise BadScores(f"{path}, line {at}, is no JSON: {error}.") from None
    if not isinstance(row, dict):
        raise BadScores(f'{path}, line {at}, is no object, as in {{"pair": …}}.')
    return row
