"""Published files whose records have several pictures, as rows with one picture each.

Every row of a record has all of its words, its `record` and the `part` that its picture is of.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from generators.prompts.response_pairs import PICTURE_MARK
from resources.collections.folders import read_table_or_folder
from resources.collections.judge_biases import BIAS_SIDES, JUDGE_BIASES
from resources.user_files.rows import BadRow, Row, TableFormat, UserFileError, number_rows
from resources.user_files.text_rows import read_json, read_json_lines

SIDES = ("commonsense", "counterfactual")
"""The pictures of a record of CDH-Bench."""
_ITEM_TEXTS = ("bias_type", "response", "unbiased_instruction", "biased_instruction")
_ITEM_PICTURES = {side: f"{side}_image" for side in BIAS_SIDES}


def read_response_pairs(path: Path, table_format: TableFormat) -> Iterator[Row]:
    """The pictures of Multimodal RewardBench 2's `{"pairs": [...]}`, in the order of its lists.

    `part` is prompt, a or b. Raises `UserFileError` for a file that holds no such list.
    """
    value = read_json(path, table_format)
    pairs = value.get("pairs") if isinstance(value, Mapping) else None
    remedy = "Name a file that the scripts of Multimodal RewardBench 2 have written, as t2i.json"
    if not isinstance(pairs, list):
        raise UserFileError(f"{path}: no list `pairs`. {remedy}, or remove `layout`.")
    if pairs and not any("prompt_content" in pair for pair in pairs if isinstance(pair, Mapping)):
        raise UserFileError(
            f"{path}: no pair has a `prompt_content`. {remedy}, not t2i_response_only.json."
        )
    yield from _split_rows(number_rows(pairs, "pair"), _read_pair, "id")


def read_contrasts(path: Path, table_format: TableFormat) -> Iterator[Row]:
    """Both pictures of each line of CDH-Bench's file; `part` is the side."""
    return _split_rows(read_json_lines(path, table_format), _read_contrast, "pair_id")


def read_judge_biases(path: Path, table_format: TableFormat) -> Iterator[Row]:
    """The pictures of each item of MM-JudgeBias; `part` is the side.

    A picture that its table lacks is a file, named as the scripts of MM-JudgeBias name it.
    """
    columns = ("id", *_ITEM_TEXTS, *_ITEM_PICTURES.values())
    rows = read_table_or_folder(path, replace(table_format, columns=columns))
    return _split_rows(rows, _read_biased_item, "id")


def _split_rows(
    rows: Iterable[Row], read: Callable[[Mapping[str, Any]], "_Record"], id_field: str
) -> Iterator[Row]:
    """A row for each picture of each record, or one with the problem of the record."""
    places: dict[str, str] = {}
    for row in rows:
        try:
            if row.problem:
                raise BadRow(row.problem)
            name, cells, pictures = read(row.cells)
            if not pictures:
                raise BadRow("it has no picture")
            if name in places:
                raise BadRow(f"it has the `{id_field}` {name!r}, as does {places[name]}: keep one")
        except BadRow as problem:
            row_name = f"{_name_row(row.number)}/1"
            yield Row(row.number, row.place, problem=str(problem), name=row_name)
            continue
        if name:
            places[name] = row.place
        for index, (part, picture) in enumerate(pictures, 1):
            picture_id = f"{name or _name_row(row.number)}/{index}"
            picture_cells = {"picture": picture, "picture_id": picture_id, "part": part}
            yield Row(
                row.number,
                f"{row.place}, picture {index} of {len(pictures)}",
                {**cells, **picture_cells, "record": name},
                name=picture_id,
            )


def _name_row(number: int) -> str:
    """Name of a record without an id. A plain number could be another record's id."""
    return f"row-{number}"


_Record = tuple[str, Mapping[str, Any], Sequence[tuple[str, Any]]]
"""The name of a record, its cells, and its pictures with their parts."""


def _read_pair(pair: Mapping[str, Any]) -> _Record:
    if "prompt_content" not in pair:
        raise BadRow("it has no `prompt_content`")
    contents = {"prompt": pair["prompt_content"]}
    for letter in "ab":
        response = pair.get(f"response_{letter}")
        contents[letter] = (
            response.get("response_content") if isinstance(response, Mapping) else None
        )
    texts, pictures = {}, []
    for part, content in contents.items():
        texts[part], files = _read_content(content, part)
        pictures += [(part, file) for file in files]
    cells = {
        "prompt": texts["prompt"],
        "prompt_source": pair.get("prompt_source") or "all",
        "response_a": texts["a"],
        "response_b": texts["b"],
        "chosen": pair.get("chosen"),
        "human_annotations": pair.get("human_annotations"),
    }
    return str(pair.get("id") or pair.get("pair_id") or ""), cells, pictures


def _read_content(content: Any, part: str) -> tuple[str, list[str]]:
    """The text of a list of texts and pictures, with a mark for each picture, and the pictures."""
    words, files = [], []
    for item in content if isinstance(content, list) else [content]:
        match item:
            case ["text", str(text)]:
                words.append(text.replace(PICTURE_MARK, " ").strip())
            case ["image", str(file)]:
                words.append(PICTURE_MARK)
                files.append(file)
            case _:
                name = part if part == "prompt" else f"response_{part}"
                raise BadRow(f"its {name} holds {item!r:.60}, neither a text nor an image")
    return "\n".join(filter(None, words)), files


def _read_contrast(record: Mapping[str, Any]) -> _Record:
    names = ("pair_id", "subcategory", "pair_name", "category")
    for name in names:
        if not isinstance(record.get(name), str) or not record[name]:
            raise BadRow(f"its `{name}` is empty or no text")
    for name in ("direct_qa", "multiple_choice"):
        if not isinstance(record.get(name), Mapping):
            raise BadRow(f"its `{name}` is no JSON object")
    folder = "/".join(re.sub("[ /]", "_", record[name]) for name in ("subcategory", "pair_id"))
    pictures = [(side, f"images/{folder}/{side}.png") for side in SIDES]
    question = f"{record['pair_id']}: {record['pair_name']}"
    return record["pair_id"], {**record, "question": question}, pictures


def _read_biased_item(record: Mapping[str, Any]) -> _Record:
    name, bias_type = str(record.get("id")), record.get("bias_type")
    bias = JUDGE_BIASES.get(str(bias_type))
    if not name.isdecimal():
        raise BadRow(f"its `id` is {name!r:.60}, no whole number")
    if bias is None:
        raise BadRow(f"its `bias_type` is {bias_type!r:.60}, none of {', '.join(JUDGE_BIASES)}")
    texts = {column: str(record.get(column) or "").strip() for column in _ITEM_TEXTS}
    for column, text in texts.items():
        if not text and not (column == "biased_instruction" and bias.may_empty):
            raise BadRow(f"its `{column}` is empty")
    pictures = []
    for side, column in _ITEM_PICTURES.items():
        suffix = f"_{side}" if bias.change == "picture" else ""
        file = None if side == bias.bare_side else f"{int(name):04}{suffix}.jpg"
        picture = record.get(column) or file
        if picture:
            pictures.append((side, picture))
    return name, texts, pictures


LAYOUTS: Mapping[str, Callable[[Path, TableFormat], Iterator[Row]]] = {
    "cdh_bench": read_contrasts,
    "mm_judge_bias": read_judge_biases,
    "mmrb2": read_response_pairs,
}
"""Readers by the `layout` of an entry in collections.yaml."""
