"""Six optical illusions, each in its classical form and with parts that really differ.

VLMBias, section 4.5 and Appendix H: 66 originals, whose parts are equal though they look
different, and 66 modified ones, whose parts differ. Strength (the trap) and difference (the
truth) are those of Pyllusion (Makowski et al., 2021); the layout is our own.
"""

from generators.changes import SceneChange

TITLE = "Optical illusions"
CAPTION = "{subject} illusion"


def describe_change(change: SceneChange) -> str:
    """Whether the real difference is the one that the illusion suggests."""
    if change.modification == "congruent":
        return "parts differ as they seem to"
    return "parts differ the other way than they seem to"
