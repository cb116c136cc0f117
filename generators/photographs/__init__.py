"""Topics that text-to-image models paint: VLMBias's animals and logos (Appendices C, D and M).

A topic is a module here with

- `TITLE`, the name that readers see;
- `SUGGESTION` and `SCHEMA`: the prompt that asks a model for subjects, and the JSON Schema of its
  answer, an object whose one property is the list; `BUILT_IN`, a list of our own in the same form,
  which needs no model;
- `list_photographs(suggestions)`: the base images to make of such a list, the paper's number at
  most; raises `Unsuitable` for a list that cannot serve, with what is wrong;
- `write_questions(photograph, variant)`: the questions about it, as a drawn domain has them;
- `write_checks(photograph)`: questions to a vision model about an edited picture, by name
  ("subject", "framing", "visibility"): each a question to be answered {Yes} or {No}, none about
  how many there are of anything;
- `write_review_task(photograph, variant)`: the sentence, with the count, that a person decides on;
- `name_part(photograph)`: what is left of its picture without the background, as in "the ostrich".
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from pkgutil import iter_modules
from typing import Any, Literal, Protocol, cast

from generators.scene import Question, Setting, Variant


class Unsuitable(ValueError):
    """A list of suggested subjects that cannot serve; the message says why."""


@dataclass(frozen=True, slots=True)
class SourcePainting:
    """A picture that is painted first, for an edit to start from.

    The paintings of all base images together hold many prompts more than once: each is painted
    once.
    """

    content: Literal["original", "logo", "car", "shoe"]
    prompt: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Photograph:
    """A base image: what is painted, how that is edited, and what is to be true of the result.

    The edit gets the pictures of `paintings` in their order. Where the first one shows the
    original, that is an image of the benchmark's originals by itself.
    """

    base_id: str
    domain: str
    subject: str
    subtopic: str
    target: str
    truth: int
    standard: int
    modification: str
    paintings: tuple[SourcePainting, ...]
    edit: str
    settings: Mapping[str, Setting] = field(default_factory=dict)

    @property
    def has_original(self) -> bool:
        """True if its first painting is an original."""
        return self.paintings[0].content == "original"

    @property
    def original_id(self) -> str:
        """The base id of its original, its own where it has none."""
        return f"{self.base_id}-original" if self.has_original else self.base_id


class PhotographTopic(Protocol):
    """The module of a topic."""

    TITLE: str
    SUGGESTION: str
    SCHEMA: Mapping[str, Any]
    BUILT_IN: Sequence[Mapping[str, Any]]

    def list_photographs(self, suggested: Sequence[Mapping[str, Any]]) -> list[Photograph]:
        """The base images to make of suggested subjects."""

    def write_questions(self, photograph: Photograph, variant: Variant) -> list[Question]:
        """The questions about one."""

    def write_checks(self, photograph: Photograph) -> Mapping[str, str]:
        """Questions to a vision model about an edited picture, by name."""

    def write_review_task(self, photograph: Photograph, variant: Variant) -> str:
        """The sentence that a person decides on."""

    def name_part(self, photograph: Photograph) -> str:
        """What is left of its picture without the background."""


@cache
def load_photograph_topics() -> dict[str, PhotographTopic]:
    """The topics by name, in alphabetical order."""
    names = [module.name for module in iter_modules(__path__) if module.name[0] != "_"]
    return {name: cast(PhotographTopic, import_module(f"{__name__}.{name}")) for name in names}
