"""Questions of a benchmark of which another can make yes/no cases.

A benchmark declares its tables in its `BENCHMARK`; who makes cases of them finds them there, and
knows nothing else of that benchmark.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Literal, NamedTuple, TypeAlias

from dagster import AssetKey

from assets.kit.columns import Columns
from assets.kit.step_run import Row

Kind: TypeAlias = Literal["yes/no", "count"]


class YesNoQuestion(NamedTuple):
    """A question about a picture, with its truth and the answer of one who does not look."""

    name: str
    """Readable, stable, and the only one of this name."""
    image_id: str
    sha256: str
    question: str
    """Question for judges, without the instruction on the form of the answer."""
    kind: Kind
    truth: str
    """Yes or No, or a whole number."""
    familiar_answer: str
    """Answer that is usually right, in the same form."""
    topic: str
    is_stand_in: bool
    full_question: str
    """Question with the instruction on the form of the answer, as domains read it."""
    unfit_reason: str | None = None
    """Reason why the question gives no case; None if it gives one."""


class YesNoTable(NamedTuple):
    """A table of such questions: an asset, its columns, and what a row asks."""

    asset: AssetKey
    columns: Columns
    partitions: Sequence[str]
    """Partitions of the asset; each is a dataset of its name."""
    to_questions: Callable[[Row], Iterable[YesNoQuestion]]
    """Build the questions of a row; none for a row unfit for yes/no cases."""
    base_picture: Callable[[str], str] = str
    """The base picture of an `image_id`, which all sizes of a scene have in common."""
