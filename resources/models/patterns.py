"""Patterns in models.yaml: entries that stand for the models that a provider's own list has.

A pattern has `pattern` in place of `name` and `model`, and is otherwise a whole entry: the template
of every painter that it matches.
"""

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from glob import escape
from hashlib import sha256
from typing import Any

from generators.name_suggestions import suggest_names
from resources.models.entry import Model, require_asset_name

LISTING_BACKENDS = ("openai", "gemini")
"""The backends whose providers list their models, painters among them."""
PATTERN_ROLES = ("painter", "editor")
"""Roles of a model without an entry: those that are partitions."""

_WILD = re.compile(r"\[[^]]*\]|[*?\[\]]")
_LONGEST_NAME = 64


@dataclass(frozen=True, slots=True)
class Pattern:
    """A pattern as the shell has them (`*`, `?`, `[…]`), and the rest of its entry."""

    pattern: str
    template: Mapping[str, Any]

    @property
    def source(self) -> tuple[str, str | None]:
        """The backend, and its address, whose models it is about."""
        return self.template["backend"], self.template.get("base_url")

    def matches(self, backend: str, base_url: str | tuple[str, ...] | None, model: str) -> bool:
        """Return whether this pattern matches a model of a backend at an address."""
        return self.source == (backend, base_url) and fnmatchcase(model, self.pattern)

    def suggest_narrower(self, ids: Collection[str], most: int) -> str | None:
        """Suggest a pattern that matches at most `most` of these ids, and not all of them.

        It begins as one of them does, matches as many as it can, and is as short as it can be. None
        where there is no such pattern.
        """
        match_counts: dict[str, int] = {}
        for model_id in ids:
            for end in range(1, len(model_id) + 1):
                begin = escape(model_id[:end])
                match_counts[f"{begin}*"] = sum(fnmatchcase(model, f"{begin}*") for model in ids)
        fitting_counts = {
            candidate: n for candidate, n in match_counts.items() if n <= most and n < len(ids)
        }
        fitting_counts.pop(self.pattern, None)
        return min(
            fitting_counts,
            key=lambda candidate: (-fitting_counts[candidate], len(candidate), candidate),
            default=None,
        )

    def build_entry(self, name: str, model: str) -> Model:
        """The entry of a model that it matches."""
        return Model.model_validate({"name": name, "model": model, **self.template})

    @property
    def listing_entry(self) -> Model:
        """An entry to ask the provider for its list with; messages call it by the pattern."""
        # A copy is not validated, so that its name may be words.
        return self.build_entry("pattern", self.pattern).model_copy(
            update={"name": f"the pattern {self.pattern}"}
        )


def find_pattern_problems(entry: Mapping[str, Any]) -> Iterable[tuple[str, str]]:
    """Problems of an entry's pattern, apart from its template: fields, and remedies."""
    pattern = entry["pattern"]
    if not isinstance(pattern, str) or not pattern:
        yield "pattern", "`pattern` has to be text, as in gpt-image-*"
    elif not _WILD.sub("", pattern):
        yield (
            "pattern",
            f"`pattern` is {pattern!r}, which matches every model that a provider has: begin it "
            "with what its painters' ids have in common, as in gpt-image-*",
        )
    if "model" in entry:
        yield "model", "`model` and `pattern` are given both: keep the one or the other"
    if "name" in entry:
        yield (
            "name",
            "`name` has no effect beside `pattern`, whose models are named by their ids: remove it",
        )
    backend, roles = entry.get("backend"), entry.get("roles")
    if isinstance(backend, str) and backend not in LISTING_BACKENDS:
        yield (
            "backend",
            f"`backend` is {backend!r}, which lists no painters that a pattern could match"
            f"{suggest_names(backend, LISTING_BACKENDS)}; else give the entry `name` and `model`",
        )
    if isinstance(roles, list) and ("painter" not in roles or set(roles) - set(PATTERN_ROLES)):
        yield (
            "roles",
            "`roles` of a pattern are painter, or painter and editor: a model in another role is "
            "an asset of its own, so give it an entry with `name` and `model`",
        )


def extract_template(entry: Mapping[str, Any]) -> dict[str, Any]:
    """A pattern's entry without what is said of the pattern alone."""
    return {key: value for key, value in entry.items() if key not in ("pattern", "name", "model")}


def build_model_name(model: str, taken_names: Collection[str]) -> str:
    """A name for a model made of its id, the same every time; a number tells it from others.

    Names that differ in capitals alone are the same.
    """
    plain = re.sub(r"[^A-Za-z0-9]+", "_", model).strip("_") or "model"
    if plain[0].isdigit():
        plain = f"model_{plain}"
    if len(plain) > _LONGEST_NAME:
        plain = f"{plain[: _LONGEST_NAME - 9]}_{sha256(model.encode()).hexdigest()[:8]}"
    try:
        require_asset_name(plain)
    except ValueError:
        plain = f"{plain}_model"
    folded_names = {name.casefold() for name in taken_names}
    name, number = plain, 1
    while name.casefold() in folded_names:
        number += 1
        name = f"{plain[: _LONGEST_NAME - 4]}_{number}"
    return name
