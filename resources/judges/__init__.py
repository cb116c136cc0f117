"""Who answers: the interface of every judge, and the reference judges that bracket real ones.

A judge gets a prompt and an image's bytes, and nothing else. A reference judge that must be told
more than that is an `InformedJudge`, so that nothing real is ever informed by mistake.
"""

from resources.judges.base import InformedJudge, Judge
from resources.judges.pixels import PixelsJudge
from resources.judges.reference import PriorJudge, RandomJudge

__all__ = ["InformedJudge", "Judge", "PixelsJudge", "PriorJudge", "RandomJudge"]
