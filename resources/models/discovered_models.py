"""discovered.yaml: the models that patterns have found, each a whole entry, kept for good.

It lies in the data root, for what is found is no decision of the user's. An entry outlives its
pattern: what the model has made stays, and what it lacks can still be asked of it.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import yaml

from resources.models.entry import CatalogError, Model
from resources.models.patterns import Pattern
from resources.storage.atomic_writes import FilePath
from resources.storage.files import is_stored
from resources.user_files.yaml_document import load_entries

_HEAD = """\
# What patterns in models.yaml have found, with the day and the pattern: written by the sensor
# `painters`. While a pattern there matches an entry, it decides over all of it but name and model.
# To change one by itself, move it to models.yaml without its last two lines: that file wins.
"""


@dataclass(frozen=True, slots=True)
class DiscoveredModel:
    """A model that a pattern has found on a day, as in 2026-11-21."""

    model: Model
    pattern: str
    discovered_on: str

    def apply_pattern(self, patterns: Iterable[Pattern]) -> "DiscoveredModel":
        """The same as the first pattern that matches it would have it now; as it is, if none."""
        for pattern in patterns:
            if pattern.matches(self.model.backend, self.model.base_url, self.model.model):
                model = pattern.build_entry(self.model.name, self.model.model)
                return replace(self, model=model, pattern=pattern.pattern)
        return self


def read_discovered(path: FilePath) -> list[DiscoveredModel]:
    """Read discovered models, in order; raises `CatalogError`, which names every problem."""
    return parse_discovered(path, None) if is_stored(path) else []


def parse_discovered(path: FilePath, content: bytes | None) -> list[DiscoveredModel]:
    """Parse discovered models from the content of their file; None: it is read now."""
    absent = f"{path} is not there any more."
    document = load_entries(path, absent, CatalogError, "models", content)
    records = []
    for place, entry in enumerate(document.value):
        fields = dict(entry) if isinstance(entry, dict) else {}
        discovery = {name: fields.pop(name, None) for name in ("pattern", "discovered_on")}
        for name, value in discovery.items():
            if not isinstance(value, str):
                document.add(
                    (place, name),
                    f"`{name}` is missing: mend the entry, or remove it to have it found again",
                )
        model = document.validate(Model, fields, (place,))
        if model is not None:
            records.append(
                DiscoveredModel(model, str(discovery["pattern"]), str(discovery["discovered_on"]))
            )
    document.require_right()
    return records


def format_discovered(records: Sequence[DiscoveredModel]) -> bytes:
    """Format what was found as the file that keeps it."""
    entries = [
        {
            **record.model.model_dump(mode="json", exclude_unset=True),
            "pattern": record.pattern,
            "discovered_on": record.discovered_on,
        }
        for record in records
    ]
    text = yaml.safe_dump(entries, sort_keys=False, allow_unicode=True, width=100)
    return f"{_HEAD}\n{text}".encode()
