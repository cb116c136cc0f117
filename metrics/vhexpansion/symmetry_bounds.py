"""Bounds of symmetric accuracy, from accuracy and the number of new cases.

Both answers of a pair are right in at most as many pairs as one of them is, and in at least as many
as are left once each wrong answer has spoilt a pair of its own.
"""

_ROUNDED = 0.001
"""Two printed shares are off by at most half a thousandth each."""


def symmetric_accuracy_bounds(
    cases: int, accuracy: float | None, wrong: float
) -> tuple[float, float]:
    """The least and the largest symmetric accuracy of so many pairs.

    `wrong` counts the wrong negations (Table 3); without `accuracy`, wrong cases and negations
    together (Tables 4 and 5). All are of the same answers.

    >>> [round(end, 3) for end in symmetric_accuracy_bounds(300, 0.638, 145)]
    [0.155, 0.517]
    """
    share = wrong / cases
    if accuracy is None:
        return max(0.0, 1 - share), 1 - share / 2
    return max(0.0, accuracy - share), min(accuracy, 1 - share)


def find_contradiction(cases: int, accuracy: float | None, symmetric: float, wrong: float) -> str:
    """The reason why printed numbers cannot be of the same answers; empty where they can.

    >>> find_contradiction(9000, None, 0.017, 7588)
    'at least 0.157 by the new cases'
    """
    least, most = symmetric_accuracy_bounds(cases, accuracy, wrong)
    if symmetric < least - _ROUNDED:
        return f"at least {least:.3f} by the new cases"
    return f"at most {most:.3f} by the new cases" if symmetric > most + _ROUNDED else ""
