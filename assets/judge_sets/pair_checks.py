"""Checks of the pairs of a collection: each is taken, or rejected with the reason."""

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from hashlib import sha256
from pathlib import PurePosixPath
from statistics import fmean
from typing import Any

from generators.prompts.response_pairs import PICTURE_MARK
from metrics.judge_sets.belonging import Belonging, measure_belonging
from resources.collections import Collection

_MIDDLE = 3.5
"""Middle of the scale of annotators."""


def check_pairs(
    collected: Iterable[Mapping[str, Any]], collection: Collection
) -> tuple[list[dict[str, Any]], Mapping[str, Belonging]]:
    """The rows with `outcome` and `reason`, and how far responses belong, by source.

    A source is a folder of pictures, or in a layout with several pictures a prompt source.
    """
    groups: dict[int, list[Mapping[str, Any]]] = defaultdict(list)
    for row in collected:
        groups[row["row"]].append(row)
    rows = [_build_row(group, collection) for group in groups.values()]
    _reject_repeated(rows)
    sources: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for row in rows:
        if row["reason"] is None:
            sources[row["source"]].append(row)
    results = {}
    for source, source_rows in sources.items():
        if collection.layout or collection.columns.name:
            _reject_other_names(source_rows)
        results[source] = measure_belonging(
            [row["question"] for row in source_rows],
            [f"{row['response_a']} {row['response_b']}" for row in source_rows],
        )
        if results[source].is_permuted:
            reason = (
                f"The responses of {source} share no more words with their own questions than with "
                f"those of other rows ({results[source].share:.0%}; by chance 50%): they are "
                "another row's. Get the version of the source that the responses were made from."
            )
            for row in source_rows:
                row["reason"] = row["reason"] or reason
    for row in rows:
        row["outcome"] = "rejected" if row["reason"] else "taken"
        del row["stray_file"]
    return rows, results


def _find_pair_name(row: Mapping[str, Any], collection: Collection) -> str:
    """The name of the pair that a collected picture is of."""
    name: str = row["image_id"]
    return name.rpartition("/")[0] if collection.layout else name


def _build_row(group: Sequence[Mapping[str, Any]], collection: Collection) -> dict[str, Any]:
    """The row of a pair, from the rows of its pictures."""
    row, others = group[0], [json.loads(picture["other_columns"] or "{}") for picture in group]
    pair_name = _find_pair_name(row, collection)
    names, column = collection.columns.responses or ("", ""), collection.columns.preferred or ""
    texts = [str(others[0].get(name) or "").strip() for name in names]
    label = str(others[0].get(column) or "").strip()
    labels = dict(zip((*names, "A", "B"), "abab", strict=True))
    file = PurePosixPath(row["file"] or "")
    cells = {
        **{name: row[name] for name in ("row", "location", "sha256", "question", "file")},
        "image_id": pair_name,
        "set": collection.name,
        "domain": row["domain"] or "all",
        "source": file.parent.as_posix(),
        "pictures": [picture["sha256"] for picture in group],
        "prompt_id": row["sha256"],
        "response_a": texts[0],
        "response_b": texts[1],
        "preferred": labels.get(label),
        "stray_file": None if _is_named_by(pair_name, file.stem) else str(file),
        "reason": next((picture["reason"] for picture in group if picture["reason"]), None),
    }
    if not collection.layout:
        for name in ("question", "response_a", "response_b"):
            cells[name] = (cells[name] or "").replace(PICTURE_MARK, " ").strip()
    elif cells["reason"] is None:
        question, digests = split_content(cells)[0]
        cells |= {
            "location": f"pair {row['row']:,}",
            "source": cells["domain"],
            "prompt_id": sha256("\0".join((question, *digests)).encode()).hexdigest(),
            "stray_file": _find_stray_file(group, others),
        }
    cells["reason"] = (
        cells["reason"]
        or _find_problem(cells, label, names)
        or _find_other_label(cells["preferred"], others[0].get("human_annotations"))
    )
    return cells


def _find_problem(cells: Mapping[str, Any], label: str, names: tuple[str, str]) -> str | None:
    columns = ("question", "response_a", "response_b")
    for column, name in zip(columns, ("question", *names), strict=True):
        if not cells[column]:
            return f"Its `{name}` is empty or missing."
    _, first, second = split_content(cells)
    if first == second:
        return "Both responses are the same."
    if cells["preferred"] is None:
        return f"Its preferred response is {label!r}: write {names[0]} or {names[1]}, or A or B."
    return None


def split_content(row: Mapping[str, Any]) -> list[tuple[str, tuple[str, ...]]]:
    """Text and pictures of a pair's question, of response a, and of b."""
    parts, start = [], len(row["pictures"])
    for name in ("response_b", "response_a"):
        end, start = start, start - row[name].count(PICTURE_MARK)
        parts.append((row[name], (*row["pictures"][start:end],)))
    return [(row["question"], (*row["pictures"][:start],)), *reversed(parts)]


def _find_other_label(preferred: str | None, annotations: Any) -> str | None:
    """Explain how annotators' numbers, 1 for b to 6 for a, contradict the preference."""
    numbers = annotations if isinstance(annotations, list) else []
    if not numbers or not all(isinstance(number, int | float) for number in numbers):
        return None
    mean = fmean(numbers)
    if mean == _MIDDLE or (mean > _MIDDLE) == (preferred == "a"):
        return None
    return (
        f"Its preferred response is {str(preferred).upper()}, but its annotators prefer the other "
        f"(mean {mean:.1f} of 1 to 6, where 6 is A): download the file again."
    )


def _reject_repeated(rows: Iterable[dict[str, Any]]) -> None:
    """Reject pairs that show the same as an earlier one, in either order of the responses.

    If one of them prefers the other response, all are rejected, since the right one is unknown.
    """
    groups: dict[Any, list[tuple[dict[str, Any], Any]]] = defaultdict(list)
    for row in rows:
        if row["reason"] is None:
            prompt, *responses = split_content(row)
            preferred = responses["ab".index(row["preferred"])]
            groups[prompt, frozenset(responses)].append((row, preferred))
    for group in groups.values():
        first_row, _ = group[0]
        for row, preferred in group:
            opposite = next((other for other, choice in group if choice != preferred), None)
            if opposite is not None:
                row["reason"] = (
                    f"It shows the same as {opposite['location']}, where the other response is "
                    "preferred: correct the wrong one."
                )
            elif row is not first_row:
                row["reason"] = f"It shows the same as {first_row['location']}: keep one."


def _reject_other_names(rows: list[dict[str, Any]]) -> None:
    """Reject rows whose pictures are not named as theirs, where most of the source's are."""
    others = [row for row in rows if row["stray_file"]]
    if 2 * len(others) < len(rows):
        for row in others:
            row["reason"] = (
                f"It has the picture {row['stray_file']}, which is not named after it and in "
                f"order, as the pictures of {len(rows) - len(others):,} of {len(rows):,} rows of "
                f"{row['source']} are: one of the two is another row's."
            )


def _find_stray_file(
    group: Sequence[Mapping[str, Any]], others: Sequence[Mapping[str, Any]]
) -> str | None:
    """The first picture of the responses not named by its pair, as `<pair>_0` or `<pair>_a_0`."""
    last: list[str] = []
    for picture, cells in zip(group, others, strict=True):
        if cells.get("part") in ("a", "b"):
            head, _, rest = PurePosixPath(picture["file"]).stem.partition(f"{cells['record']}_")
            places = [part.zfill(9) for part in rest.split("_")]
            if head or not rest or places <= last or rest[0] not in f"0123456789{cells['part']}":
                return str(picture["file"])
            last = places
    return None


def _is_named_by(name: str, stem: str) -> bool:
    """True for visitbench_235 and the file 235.jpg, false for 35.jpg or a picture without one."""
    head, ending = name[: -len(stem)], name[-len(stem) :]
    return bool(stem) and ending == stem and not head[-1:].isalnum()
