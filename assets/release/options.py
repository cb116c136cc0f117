"""Options of a release."""

from collections.abc import Sequence
from dataclasses import dataclass

from assets.release.licences import DEFAULT_LICENCE
from resources.spdx_licences import find_spdx_name


@dataclass(frozen=True, kw_only=True)
class ReleaseOptions:
    """Choice of what is released of a benchmark, and in which forms."""

    partitions: Sequence[str] = ()
    """Partitions, or parts of their keys; empty: all that are materialized."""
    licence: str = DEFAULT_LICENCE
    """Licence of what code drew and wrote."""
    has_webdataset: bool = False
    """True where WebDataset's shards are to lie beside the Parquet."""

    def __post_init__(self) -> None:
        """Raise `ValueError` for a licence without an SPDX name."""
        name = find_spdx_name(self.licence)
        if name != self.licence:
            remedy = f"Write {name}." if name else "Write one as in CC-BY-4.0 or MIT."
            raise ValueError(
                f"licence {self.licence!r}: not a name of SPDX's list "
                f"(https://spdx.org/licenses/). {remedy}"
            )
