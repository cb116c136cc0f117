"""Questions about both pictures of each pair, checked before a judge is asked about any."""

import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import pandas as pd
import pyarrow as pa
from dagster import AssetDep, AssetExecutionContext, AssetsDefinition, MaterializeResult

from assets.cdh_bench.common import SETS, table_asset
from assets.kit.collections import collection_key, read_collected_rows
from assets.kit.columns import TEXT, TEXTS, Columns, to_materialize_result
from assets.kit.previews import markdown_table
from generators.prompts.choices import write_choice_prompt
from generators.prompts.yes_no import write_yes_no_prompt
from resources.collections import CollectionError
from resources.collections.layouts import SIDES
from resources.storage.data_root import DataRoot

QUESTIONS = Columns(
    image_id=(TEXT, "Readable name: collection, pair, form and side"),
    set=(TEXT, "The collection"),
    location=(TEXT, "Where the pair stands in its file"),
    pair_id=(TEXT, "Collection and pair; intervals resample it"),
    category=(TEXT, "Category: of counting, relations or attributes"),
    subcategory=(TEXT, "Part of the category"),
    form=(TEXT, "binary (yes or no) or choice (of lettered options)"),
    side=(TEXT, "The picture: commonsense or counterfactual"),
    sha256=(TEXT, "Name of the picture in the image store; empty where it was rejected"),
    question=(TEXT, "Question with the form of the answer, as it is sent"),
    options=(TEXTS, "Options in the order of their letters; none for a binary question"),
    ground_truth=(TEXT, "Right answer about this picture: Yes or No, or a letter"),
    expected_bias=(TEXT, "Right answer about the commonsense picture"),
    outcome=(TEXT, "taken or rejected"),
    reason=(TEXT, "Reason for the rejection; empty if taken"),
)
FORMS = {"binary": "direct_qa", "choice": "multiple_choice"}
"""Name of each form of question in the file."""
LETTERS = "ABCDEFGH"
_OPTION = re.compile(r"\s*\(?([A-Z]|[a-z](?=[.):]\s))[.):]\s*(.*)", re.DOTALL)
"""A letter and its option: `A. Hot`, `(A) Hot`, `A: Hot`, `a. Hot`."""
_NEXT_OPTION = re.compile(r"(?: ?[•;,])? (?=\(?\b[B-H][.):] )")
"""What is between two options of one string."""
_MAX_SHOWN = 20


class UnfitQuestions(CollectionError):
    """A collection's questions cannot be asked; the message names a row and the remedy."""


def build_questions_asset() -> AssetsDefinition:
    """The asset `questions`."""

    @table_asset(
        partitions=SETS.build_partitions(),
        columns=QUESTIONS,
        deps=[AssetDep(collection_key(name)) for name in SETS.load()],
        description=(
            "Questions about pictures that contradict common sense, and about their counterparts; "
            "no judge is asked one whose labels or pictures contradict each other."
        ),
    )
    def questions(context: AssetExecutionContext, home: DataRoot) -> MaterializeResult[pa.Table]:
        """Check all pairs. Raises `UnfitQuestions` where no question is left."""
        name = context.partition_key
        rows = check_contrasts(read_collected_rows(home, name), name)
        rejected = [row for row in rows if row["reason"]]
        if len(rejected) == len(rows):
            raise UnfitQuestions(
                f"{name}: none of {len(rows):,} questions can be asked. "
                f"{rejected[0]['location']}: {rejected[0]['reason']} Correct the download, or the "
                "entry in collections.yaml."
            )
        columns = ["location", "form", "side", "reason"]
        return to_materialize_result(
            QUESTIONS.build_table(rows),
            taken=len(rows) - len(rejected),
            rejected=len(rejected),
            rejected_rows=markdown_table(pd.DataFrame(rejected, columns=columns).head(_MAX_SHOWN)),
        )

    return questions


def check_contrasts(collected: Iterable[Mapping[str, Any]], name: str) -> list[dict[str, Any]]:
    """A row for each pair, form and side, with `outcome` and `reason`."""
    pairs: dict[str, list[Mapping[str, Any]]] = defaultdict(list)
    for row in collected:
        pairs[row["image_id"].rpartition("/")[0]].append(row)
    uses = Counter(row["sha256"] for group in pairs.values() for row in group if row["sha256"])
    return [row for pair, group in pairs.items() for row in _list_rows(pair, group, uses, name)]


def _list_rows(
    pair: str, group: Sequence[Mapping[str, Any]], uses: Mapping[str, int], name: str
) -> Iterator[dict[str, Any]]:
    """The rows of a pair; a single one for a record that cannot be read."""
    reason = next((row["reason"] for row in group if row["reason"]), None)
    repeated = next((row["file"] for row in group if uses.get(row["sha256"], 0) > 1), None)
    if reason is None and repeated:
        reason = f"Its picture {repeated} is that of another row as well: download both again."
    records = [json.loads(row["other_columns"] or "{}") for row in group]
    shared = {"set": name, "location": group[0]["location"].partition(", picture")[0]}
    if not all(records):
        yield {**shared, "image_id": pair, "pair_id": pair, "outcome": "rejected", "reason": reason}
        return
    for form, field in FORMS.items():
        item = _read_item(form, records[0][field])
        problem = reason or _find_label_problem(form, item, records[0]["pair_name"])
        for row, record in zip(group, records, strict=True):
            yield {
                **shared,
                "image_id": f"{pair}/{form}/{record['part']}",
                "pair_id": pair,
                "category": row["domain"],
                "subcategory": record["subcategory"],
                "form": form,
                "side": record["part"],
                "sha256": row["sha256"],
                "question": item["prompt"],
                "options": [*item["options"].values()],
                "ground_truth": item[record["part"]],
                "expected_bias": item["commonsense"],
                "outcome": "rejected" if problem else "taken",
                "reason": problem,
            }


def _read_item(form: str, item: Mapping[str, Any]) -> dict[str, Any]:
    """Prompt, options by letter, and the right answer by side."""
    question = str(item.get("question") or "").strip()
    labels = {side: str(item.get(f"{side}_gt") or "").strip() for side in SIDES}
    if form == "binary":
        answers = {side: label.capitalize() for side, label in labels.items()}
        return {"prompt": write_yes_no_prompt(question), "options": {}, **answers, "text": question}
    values = item.get("options")
    values = values if isinstance(values, list) else []
    options = _join_options(values)
    return {
        "prompt": write_choice_prompt(question, options),
        "options": options,
        "has_options": bool(values),
        **{side: label.upper() for side, label in labels.items()},
        "text": question,
    }


def _join_options(values: Sequence[Any]) -> dict[str, str]:
    """Options by letter; a part without one belongs to the option before it.

    >>> _join_options(["A. Yes", "it glows", "B. No"])
    {'A': 'Yes, it glows', 'B': 'No'}
    >>> _join_options(["A. Hot • B. Cold"])
    {'A': 'Hot', 'B': 'Cold'}
    """
    options: dict[str, str] = {}
    for value in _split_options(values[0]) if len(values) == 1 else values:
        match = _OPTION.fullmatch(str(value))
        if match:
            options[match[1].upper()] = match[2].strip()
        elif options:
            last = [*options][-1]
            options[last] = f"{options[last]}, {str(value).strip()}"
    return options


def _split_options(value: Any) -> list[str]:
    """Options in one string; the string alone unless they are lettered A, B, C and so on."""
    parts = _NEXT_OPTION.split(" ".join(str(value).split()))
    letters = [match[1] for part in parts if (match := _OPTION.fullmatch(part))]
    return parts if "".join(letters) == LETTERS[: len(parts)] else [str(value)]


def _find_label_problem(form: str, item: Mapping[str, Any], pair_name: str) -> str | None:
    """Explain what is wrong with the labels of a question; None if nothing is seen to be."""
    options, labels = item["options"], [item[side] for side in SIDES]
    allowed = ("Yes", "No") if form == "binary" else tuple(options)
    wrong = next((label for label in labels if label not in allowed), None)
    texts = [options.get(label) for label in labels] if options else _split_question(item)
    unusual, _, usual = pair_name.partition(" vs ")
    if not item["text"]:
        return "Its question is empty or missing."
    if form == "choice" and "".join(allowed) != LETTERS[: max(2, len(allowed))]:
        problem = "not lettered from A on" if item["has_options"] else "missing, or no list"
        return f"Its options are {problem}: correct the file."
    if wrong is not None:
        return f"Its label {wrong!r} is none of {', '.join(allowed)}: correct the file."
    if labels[0] == labels[1] or any([*options.values()].count(text) > 1 for text in texts):
        return "Two of its answers are the same, one of them right: correct the file."
    if _count_shared(texts, (usual, unusual)) < _count_shared(texts, (unusual, usual)):
        return (
            f"Its labels are exchanged: common sense says {labels[0]}, but the pair is "
            f"{pair_name!r} (unusual vs usual): correct the file."
        )
    return None


def _split_question(item: Mapping[str, Any]) -> list[str]:
    """What common sense says and what it denies, by a binary question's label: "A and not B?"."""
    affirmed, _, denied = item["text"].partition(" and not ")
    return [affirmed, denied] if item["commonsense"] == "Yes" else [denied, affirmed]


def _count_shared(texts: Sequence[str], phrases: Sequence[str]) -> int:
    """Words that each text shares with its phrase, and no other phrase has."""
    words = [set(re.findall(r"\w+", phrase.casefold())) for phrase in phrases]
    others = words[::-1]
    return sum(
        len(set(re.findall(r"\w+", text.casefold())) & (phrase - other))
        for text, phrase, other in zip(texts, words, others, strict=True)
    )
