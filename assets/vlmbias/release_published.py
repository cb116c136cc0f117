"""VLMBias in the splits and columns of its published data set, which harnesses' tasks load.

Departures: rows and files are named by our scenes, `metadata` has our settings, `original` asks the
sanity check (Appendix N) about our originals at their largest size, and of logos there are none.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from itertools import groupby
from typing import NamedTuple

from assets.kit.columns import BOOLEAN, TEXT, WHOLE, Columns
from assets.kit.release_tables import ReleaseInputs, ReleaseRow, ReleaseTable
from assets.kit.step_run import Row
from assets.vlmbias.isolated_pictures import (
    ISOLATED_KEY,
    find_isolated_photographs,
    find_isolated_pictures,
)
from assets.vlmbias.prompting import draw_titled_pictures
from assets.vlmbias.release_rows import DRAWN_KEY, QUESTIONS_KEY, build_row, read_questions
from assets.vlmbias.release_spelling import (
    find_subtopic,
    format_file_name,
    format_folder,
    format_topic,
)
from assets.vlmbias.yes_no import slugify
from generators.topics import PHOTOGRAPHED

_COLUMNS = Columns(
    image=(TEXT, "Picture as a judge gets it"),
    ID=(TEXT, "Name of the row, unique in its split"),
    image_path=(TEXT, "Path that tells topic, scene and size of the picture, as published ones do"),
    topic=(TEXT, "Topic, as the published data set spells it"),
    sub_topic=(TEXT, "Subtopic, as the published data set spells it"),
    prompt=(TEXT, "Text that a judge gets beside the picture"),
    ground_truth=(TEXT, "The right answer"),
    expected_bias=(TEXT, "Answer of a judge that does not look; empty in the split original"),
    with_title=(BOOLEAN, "Whether the subject's name stands above the picture"),
    type_of_question=(TEXT, "Q1 and Q2 count, Q3 identifies; N1 and N2 are the sanity check"),
    pixel=(WHOLE, "The longer side in px, without a title"),
    metadata=(TEXT, "Scene, change, counts, seed and settings of the picture, as JSON"),
)


class _Split(NamedTuple):
    is_included: Callable[[Row], bool]
    title: str = "notitle"
    """Part of names that says whether a title stands above the picture, or it is isolated."""


_REFUSED_SETS = ("unreviewed", "stand-in")
"""Image sets of photographs that a release is refused for: their rows say which they are."""


def _asks(*question_ids: str) -> Callable[[Row], bool]:
    """Return a test for questions about the counterfactual set; its illusions have originals."""

    def is_included(row: Row) -> bool:
        is_refused = row["image_set"] in _REFUSED_SETS and row["variant"] == "counterfactual"
        is_benchmark = is_refused or row["image_set"] == "benchmark"
        return is_benchmark and row["question_id"] in question_ids

    return is_included


def _checks_sanity(row: Row) -> bool:
    is_largest: bool = row["size"] == row["largest_size"]
    return is_largest and row["variant"] == "original" and row["question_id"] in ("N1", "N2")


def _asks_isolated(*question_ids: str) -> Callable[[Row], bool]:
    """Return a test for questions about scenes that may be isolated."""
    return lambda row: row["image_set"] == "benchmark" and row["question_id"] in question_ids


_TITLED, _ISOLATED, _ORIGINAL = "in_image_title", "remove_background", "original"
_SPLITS: Mapping[str, _Split] = {
    "main": _Split(_asks("Q1", "Q2")),
    "identification": _Split(_asks("Q3")),
    "withtitle": _Split(_asks("Q1", "Q2"), _TITLED),
    _ORIGINAL: _Split(_checks_sanity),
    "remove_background_q1q2": _Split(_asks_isolated("Q1", "Q2"), _ISOLATED),
    "remove_background_q3": _Split(_asks_isolated("Q3"), _ISOLATED),
}
_METADATA = ("image_id", "original_id", "subject", "modification", "variant", "target", "seed")


def _read_rows(inputs: ReleaseInputs, split: str) -> Iterator[ReleaseRow]:
    is_included, title = _SPLITS[split]
    for topic, topic_rows in groupby(read_questions(inputs), lambda row: row["topic"]):
        rows = filter(is_included, topic_rows)
        if title == _TITLED:
            # All titles of a topic are drawn together, by several processes.
            questions: list[Row] = list(rows)
            shown = draw_titled_pictures(questions, inputs.images, inputs.work_cache)
        elif title == _ISOLATED:
            questions, shown = _isolate_questions(inputs, topic, rows)
        else:
            yield from (_build_row(row, split, row["sha256"]) for row in rows)
            continue
        yield from (_build_row(row, split, shown[row["sha256"]]) for row in questions)


def _isolate_questions(
    inputs: ReleaseInputs, topic: str, rows: Iterator[Row]
) -> tuple[list[Row], dict[str, str]]:
    """The questions about pictures that are isolated, and the sha256 of what is shown for each.

    Those about photographs have the settings of what is shown, with the editor of its background.
    """
    questions: list[Row] = list(rows)
    if topic in PHOTOGRAPHED:
        photographs = find_isolated_photographs(topic, inputs.home.find)
        questions = [
            {**row, "settings": photographs[row["sha256"]]["settings"]}
            for row in questions
            if row["sha256"] in photographs
        ]
    elif not inputs.home.holds(ISOLATED_KEY, topic):
        questions = []
    return questions, (
        find_isolated_pictures(questions, topic, inputs.home.find) if questions else {}
    )


def format_row_name(row: Row, split: str) -> str:
    """Name the row of a question in a split."""
    scene, title = format_file_name(row["base_id"]), _SPLITS[split].title
    # The count of an original is asked for of all that its counterfactuals change.
    target = f"-{slugify(row['target'])}" if row["question_id"] == "N2" else ""
    return f"{scene}_{title}_{row['question_id']}{target}_px{row['size']}"


def _build_row(row: Row, split: str, shown_sha256: str) -> ReleaseRow:
    title, is_original = _SPLITS[split].title, split == _ORIGINAL
    is_titled = title == _TITLED
    subtopic = find_subtopic(row)
    scene = format_file_name(row["base_id"])
    folder = (
        "original_images" if is_original else f"vlms-are-biased-{title}/{format_folder(subtopic)}"
    )
    name = format_row_name(row, split)
    cells = {
        "image": shown_sha256,
        "ID": name,
        "image_path": f"{folder}/images/{scene}_{title}_px{row['size']}.png",
        "topic": format_topic(row["topic"]),
        "sub_topic": find_subtopic(row, is_original=is_original),
        "prompt": row["prompt"],
        "ground_truth": row["ground_truth"],
        "expected_bias": None if is_original else row["expected_bias"],
        "with_title": is_titled,
        "type_of_question": row["question_id"],
        "pixel": row["size"],
        "metadata": json.dumps(
            {name: row[name] for name in _METADATA} | {"settings": json.loads(row["settings"])},
            ensure_ascii=False,
            sort_keys=True,
        ),
    }
    return build_row(row, cells, row_id=name, is_titled=is_titled)


_FROM_PICTURES = ("image_path", "metadata")
_TSV = ("ground_truth", "expected_bias", "topic", "sub_topic", "with_title", "type_of_question")

PUBLISHED_LAYOUT = ReleaseTable(
    config="vlms_are_biased",
    description=(
        "The splits and columns of the published VLMBias, for tasks that load it: main (Q1 and "
        "Q2), identification (Q3), withtitle (Q1 and Q2 with the subject's name above the "
        "picture), original (the sanity check about originals, logos left out), "
        "remove_background_q1q2 and remove_background_q3 (what is counted is drawn alone, by a "
        "design of ours; photographs where a person has accepted one without its background)."
    ),
    columns=_COLUMNS,
    sources={
        **{name: QUESTIONS_KEY for name in _COLUMNS.columns if name != "with_title"},
        **dict.fromkeys(_FROM_PICTURES, DRAWN_KEY),
    },
    splits=tuple(_SPLITS),
    read_rows=_read_rows,
    splits_are_views=True,
    id_column="ID",
    prompt_column="prompt",
    truth_column="ground_truth",
    tsv_columns={
        "index": "ID",
        "image": "image",
        "question": "prompt",
        "answer": "ground_truth",
        **{name: name for name in (*_TSV, "pixel")},
    },
)
