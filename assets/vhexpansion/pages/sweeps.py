"""Table 6: symmetric accuracy where one setting is varied, where answers to such settings exist."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from assets.vhexpansion.pages.dataset_page import SHORT, Answered, Numbers, parameters_of, told

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
    at: float
    of: str
    """What else it is of: the judge, and the attack."""
    row: Numbers


def sweep(dataset: Answered) -> list[Point]:
    """The points of every setting that has two values or more, all else being equal."""
    points = [*_of_attacks(dataset), *_of_repeats(dataset), *_of_temperature(dataset)]
    values: dict[tuple[str, str], set[float]] = {}
    for point in points:
        values.setdefault((point.setting, point.of), set()).add(point.at)
    varied = [point for point in points if len(values[point.setting, point.of]) > 1]
    order = [*_OF_ATTACKS.values(), "repeats", "temperature"]
    return sorted(varied, key=lambda each: (order.index(each.setting), each.of, each.at))


def _of_attacks(dataset: Answered) -> Iterator[Point]:
    """Each setting of an attack, told apart by all of its other parameters."""
    for row in dataset.attacks:
        parameters = parameters_of(row)
        for name, setting in _OF_ATTACKS.items():
            if name in parameters:
                rest = {key: of for key, of in parameters.items() if key != name}
                same = _same(dataset.attacks, row, name, rest)
                of = f"{_attack(row)}{_told(rest, same)}"
                yield Point(setting, float(parameters[name]), of, row)


def _of_repeats(dataset: Answered) -> Iterator[Point]:
    for row in dataset.rows:
        yield Point("repeats", float(row["repeats"]), _attack(row) + _setting(dataset, row), row)


def _of_temperature(dataset: Answered) -> Iterator[Point]:
    for row in dataset.whole:
        if row["temperature"] is not None:
            of = _attack({**row, "model": row["variant_of"]}) + _setting(dataset, row)
            yield Point("temperature", row["temperature"], of, row)


def _attack(row: Numbers) -> str:
    """`judge, I-FGSM for encoder`."""
    done = SHORT[row["perturbation"]] + (f" for {row['encoder']}" if row["encoder"] else "")
    return f"{row['model']}, {done}"


def _same(
    attacks: Sequence[Numbers], row: Numbers, name: str, rest: Mapping[str, Any]
) -> list[Mapping[str, Any]]:
    """The other parameters of attacks by that method, for that encoder and judge."""
    named = ("model", "perturbation", "encoder")
    alike = [each for each in attacks if all(each[of] == row[of] for of in named)]
    others = ({k: of for k, of in parameters_of(each).items() if k != name} for each in alike)
    return [each for each in others if each != rest]


def _told(rest: Mapping[str, Any], others: Sequence[Mapping[str, Any]]) -> str:
    """The parameters by which a setting differs from others, as in ` (epsilon 8)`."""
    differing = {
        name: value
        for name, value in rest.items()
        if any(each.get(name) != value for each in others)
    }
    return f" ({told(differing)})" if differing else ""


def _setting(dataset: Answered, row: Numbers) -> str:
    """The parameters of an attack by which it differs from others of its method."""
    if not row["encoder"]:
        return ""
    rest = parameters_of(row)
    return _told(rest, _same(dataset.attacks, row, "", rest))
