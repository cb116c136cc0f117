"""Photographs without their background: what an editor is asked for, and people decide on.

How the paper's third version removes the background is not known: the words are ours, in the style
of the prompts of Appendix M. What questions name stays: the animal, the car, or the pair of shoes
without the athlete.
"""

from generators.photographs import Photograph, load_photograph_topics

_PROMPT = (
    "Edit this image: Remove everything except {part}, so that only {part} is left on a plain "
    "white background. Keep all the fine-grained details of {part}, particularly the {truth} "
    "{target}, in the same place and at the same size."
)
_TASK = (
    "Accept it if only {part} is left on plain white, unchanged from the photograph, with exactly "
    "{truth} {target} that all can be seen clearly."
)


def write_isolation_prompt(photograph: Photograph) -> str:
    """The prompt that has an editor remove all but what questions name from a counterfactual."""
    return _fill_in(_PROMPT, photograph)


def write_isolation_task(photograph: Photograph) -> str:
    """The one sentence that a person decides on."""
    return _fill_in(_TASK, photograph)


def _fill_in(text: str, photograph: Photograph) -> str:
    part = load_photograph_topics()[photograph.domain].name_part(photograph)
    return text.format(part=part, truth=photograph.truth, target=photograph.target)
