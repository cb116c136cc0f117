"""Questions negated by rule, and negations checked, on one core.

The questions are of the kinds that POPE, MMVP and VHTest have, and VLMBias's own, in turn.
"""

from collections.abc import Iterator
from itertools import cycle, islice
from time import process_time

from bench.figure import Figure
from generators.prompts.negation import check_negation, negate

_NOUNS = ("dog", "person", "traffic light", "umbrella", "dining table", "teddy bear")
_TEMPLATES = (
    "Is there a {} in the image?",
    "Are there 5 {}s in the picture?",
    "Is the {} facing left from the camera's perspective?",
    "In the image, is the {} on the left larger than the other one?",
    "Does the {} have a long shadow?",
    "Can you see the {} in the background?",
    "Is this the flag of the {}?",
    "Are there 14 stripes on this {}?",
)
QUESTIONS = tuple(template.format(noun) for template in _TEMPLATES for noun in _NOUNS)


def figures(number: int = 100_000) -> Iterator[Figure]:
    """Seconds for so many negations by rule, and for their checks; 20,000 a second are wanted."""
    asked = list(islice(cycle(QUESTIONS), number))
    started = process_time()
    negated = [negate(question).question for question in asked]
    seconds = process_time() - started
    wanted = number / 20_000
    note = f"{number / seconds:,.0f} a second"
    yield Figure(f"negating {number:,} questions by grammar", seconds, "s of a core", wanted, note)
    started = process_time()
    wrong = [each for each in zip(asked, negated, strict=True) if check_negation(*each)]
    seconds = process_time() - started
    assert not wrong
    note = f"{number / seconds:,.0f} a second"
    yield Figure(f"checking {number:,} negations", seconds, "s of a core", 2 * wanted, note)
