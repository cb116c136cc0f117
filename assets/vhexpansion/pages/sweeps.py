"""Table 6: symmetric accuracy where one setting is varied, where answers to such settings exist."""

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from assets.kit.step_run import Row
from assets.vhexpansion.pages.dataset_page import (
    SHORT,
    AnsweredDataset,
    format_parameters,
    parse_parameters,
)

_OF_ATTACKS: Mapping[str, str] = {
    "epsilon": "epsilon",
    "step": "step",
    "raising_iterations": "iterations_hallucinating",
    "iterations": "iterations",
}
"""Parameters of attacks that Table 6 varies, by its names of them."""
_ORDER = [*_OF_ATTACKS.values(), "repeats", "temperature"]


class Point(NamedTuple):
    """The numbers at one value of a setting; `label` is what else they are of."""

    setting: str
    value: float
    label: str
    row: Row


def sweep(dataset: AnsweredDataset) -> list[Point]:
    """The points of every setting that has two values or more, all else being equal."""
    points = [*_list_points(dataset)]
    values: dict[tuple[str, str], set[float]] = {}
    for point in points:
        values.setdefault((point.setting, point.label), set()).add(point.value)
    varied = [point for point in points if len(values[point.setting, point.label]) > 1]
    return sorted(varied, key=lambda point: (_ORDER.index(point.setting), point.label, point.value))


def _list_points(dataset: AnsweredDataset) -> Iterator[Point]:
    for row in dataset.attacks:
        parameters = parse_parameters(row)
        for name, setting in _OF_ATTACKS.items():
            if name in parameters:
                label = _name(dataset, row, row["model"], name)
                yield Point(setting, float(parameters[name]), label, row)
    for row in dataset.rows:
        yield Point("repeats", float(row["repeats"]), _name(dataset, row, row["model"]), row)
    for row in dataset.main_rows:
        if row["temperature"] is not None:
            label = _name(dataset, row, row["variant_of"])
            yield Point("temperature", row["temperature"], label, row)


def _name(dataset: AnsweredDataset, row: Row, model: str, varied: str = "") -> str:
    """`judge, I-FGSM for encoder (epsilon 8)`: the parameters by which it differs from others."""
    name = f"{model}, {SHORT[row['perturbation']]}"
    if not row["encoder"]:
        return name
    same = dataset.main_rows.select(
        **{column: row[column] for column in ("model", "perturbation", "encoder")}
    )
    others = [parse_parameters(attack) for attack in same]
    differing = {
        name: value
        for name, value in parse_parameters(row).items()
        if name != varied and any(other.get(name) != value for other in others)
    }
    suffix = f" ({format_parameters(differing)})" if differing else ""
    return f"{name} for {row['encoder']}{suffix}"
