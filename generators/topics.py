"""All topics of VLMBias, drawn and photographed, and what readers call them."""

from generators.domains import domain, domains
from generators.photographs import photographed

DRAWN = tuple(domains())
PHOTOGRAPHED = tuple(photographed())


def title(topic: str) -> str:
    """The name of a topic that readers see."""
    return photographed()[topic].TITLE if topic in PHOTOGRAPHED else domain(topic).title


def caption(topic: str, subject: str) -> str:
    """What a subject is called where its name stands alone, as in "Ebbinghaus illusion"."""
    if topic in PHOTOGRAPHED:
        return subject[:1].upper() + subject[1:]
    return domain(topic).caption(subject)
