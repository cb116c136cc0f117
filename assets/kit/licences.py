"""Parts of releases that come with this project, by name, and their licences."""

from collections.abc import Mapping
from typing import NamedTuple

OWN, CHESS_PIECES, GLYPHS = "Counterfactory", "chess pieces", "IPAexGothic"
"""What code drew and wrote; the piece drawings and the outlines of letters in its pictures."""


class PartLicence(NamedTuple):
    """Licence of a part, by its SPDX name where it has one, and who made the part."""

    part: str
    licence: str
    source: str


LICENCES: Mapping[str, PartLicence] = {
    licence.part: licence
    for licence in (
        PartLicence(
            CHESS_PIECES,
            "BSD-3-Clause",
            "Piece drawings by Colin M. L. Burnett, from python-chess (also GFDL or GPL).",
        ),
        PartLicence(
            GLYPHS,
            "IPA",
            "Outlines of letters, digits and Chinese characters, from the font IPAexGothic by the "
            "Information-technology Promotion Agency, Japan.",
        ),
    )
}
"""Licences of third parties' parts, by name; whoever releases chooses that of `OWN`."""
