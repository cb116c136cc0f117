"""Table 6: symmetric accuracy where one setting is varied, where answers to such settings exist."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from assets.vhexpansion.pages.dataset_page import (
    SHORT,
    AnsweredDataset,
    Numbers,
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


class Point(NamedTuple):
    """The numbers at one value of a setting."""

    setting: str
    value: float
    label: str
    """What else it is of: the judge, and the attack."""
    row: Numbers


def sweep(dataset: AnsweredDataset) -> list[Point]:
    """The points of every setting that has two values or more, all else being equal."""
    points = [*_of_attacks(dataset), *_of_repeats(dataset), *_of_temperature(dataset)]
    values: dict[tuple[str, str], set[float]] = {}
    for point in points:
        values.setdefault((point.setting, point.label), set()).add(point.value)
    varied = [point for point in points if len(values[point.setting, point.label]) > 1]
    order = [*_OF_ATTACKS.values(), "repeats", "temperature"]
    return sorted(varied, key=lambda point: (order.index(point.setting), point.label, point.value))


def _of_attacks(dataset: AnsweredDataset) -> Iterator[Point]:
    """Yield each setting of an attack, told apart by all of its other parameters."""
    for row in dataset.attacks:
        parameters = parse_parameters(row)
        for name, setting in _OF_ATTACKS.items():
            if name in parameters:
                rest = {key: value for key, value in parameters.items() if key != name}
                same = _same(dataset.attacks, row, name, rest)
                label = f"{_attack(row)}{_told(rest, same)}"
                yield Point(setting, float(parameters[name]), label, row)


def _of_repeats(dataset: AnsweredDataset) -> Iterator[Point]:
    for row in dataset.rows:
        yield Point("repeats", float(row["repeats"]), _attack(row) + _setting(dataset, row), row)


def _of_temperature(dataset: AnsweredDataset) -> Iterator[Point]:
    for row in dataset.main_rows:
        if row["temperature"] is not None:
            label = _attack({**row, "model": row["variant_of"]}) + _setting(dataset, row)
            yield Point("temperature", row["temperature"], label, row)


def _attack(row: Numbers) -> str:
    """`judge, I-FGSM for encoder`."""
    done = SHORT[row["perturbation"]] + (f" for {row['encoder']}" if row["encoder"] else "")
    return f"{row['model']}, {done}"


def _same(
    attacks: Sequence[Numbers], row: Numbers, name: str, rest: Mapping[str, Any]
) -> list[Mapping[str, Any]]:
    """The other parameters of attacks by that method, for that encoder and judge."""
    named = ("model", "perturbation", "encoder")
    alike = [attack for attack in attacks if all(attack[column] == row[column] for column in named)]
    others = (
        {k: value for k, value in parse_parameters(attack).items() if k != name} for attack in alike
    )
    return [parameters for parameters in others if parameters != rest]


def _told(rest: Mapping[str, Any], others: Sequence[Mapping[str, Any]]) -> str:
    """The parameters by which a setting differs from others, as in ` (epsilon 8)`."""
    differing = {
        name: value
        for name, value in rest.items()
        if any(other.get(name) != value for other in others)
    }
    return f" ({format_parameters(differing)})" if differing else ""


def _setting(dataset: AnsweredDataset, row: Numbers) -> str:
    """The parameters of an attack by which it differs from others of its method."""
    if not row["encoder"]:
        return ""
    rest = parse_parameters(row)
    return _told(rest, _same(dataset.attacks, row, "", rest))
