"""The topics of VLMBias, drawn and photographed, and their names for readers."""

from generators.changes import SceneChange, describe_difference
from generators.domains import load_domain, load_domains
from generators.photographs import load_photograph_topics

DRAWN = tuple(load_domains())
PLACED = tuple(name for name, domain in load_domains().items() if domain.has_change_places)
"""Drawn topics whose seed chooses where the changes are."""
PHOTOGRAPHED = tuple(load_photograph_topics())


def get_title(topic: str) -> str:
    """The name of a topic that readers see."""
    return (
        load_photograph_topics()[topic].TITLE if topic in PHOTOGRAPHED else load_domain(topic).title
    )


def format_caption(topic: str, subject: str) -> str:
    """A subject's name as it stands alone, as in "Ebbinghaus illusion"."""
    if topic in PHOTOGRAPHED:
        return subject[:1].upper() + subject[1:]
    return load_domain(topic).format_caption(subject)


def describe_change(topic: str, change: SceneChange) -> str:
    """What was changed in a counterfactual, as in "no pawn on f2"."""
    if topic in PHOTOGRAPHED:
        return describe_difference(change)
    return load_domain(topic).describe_change(change)
