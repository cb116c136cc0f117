"""YAML files as JSON values with their lines; all errors are reported at once.

What a reader would take for something else is refused, never guessed: `16:9` is text, as people
mean it, where YAML 1.1 made it 969; `yes`, dates and `.nan` have to be put in quotes. Anchors,
aliases and tags are refused as well, so that a small file cannot unfold into a large one.
"""

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

from pydantic import BaseModel, ValidationError
from ruamel.yaml import YAML
from ruamel.yaml.composer import Composer, MaxDepthExceededError
from ruamel.yaml.error import MarkedYAMLError
from ruamel.yaml.nodes import MappingNode, Node, ScalarNode
from ruamel.yaml.reader import ReaderError
from ruamel.yaml.resolver import VersionedResolver

from resources.storage.atomic_writes import FilePath
from resources.storage.files import read_file
from resources.user_files.validation_messages import format_validation_error

Place: TypeAlias = tuple[str | int, ...]
"""Keys and list positions that lead to a value."""

Shape = TypeVar("Shape", bound=BaseModel)

_DEEPEST = 20
MAX_BYTES = 500_000
"""Size of a file, which takes seconds to read then; those of users have some 10 KB."""


@dataclass(frozen=True, slots=True, order=True)
class Problem:
    """Problem on a line, and its remedy."""

    line: int
    text: str
    path: Place = field(default=(), compare=False)


@dataclass(slots=True)
class Document:
    """A document's value, the line of each of its parts by path, and what is wrong with it."""

    path: FilePath
    fault: type[Exception]
    """Exception type that `require_right` raises."""
    value: Any = None
    lines: dict[Place, int] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)

    def line(self, path: Place) -> int:
        """The line of `path`, or of the nearest thing around it that is there."""
        while path and path not in self.lines:
            path = path[:-1]
        return self.lines.get(path, 1)

    def add(self, path: Place, text: str, line: int | None = None) -> None:
        """Add a problem of what stands at `path`."""
        self.problems.append(Problem(self.line(path) if line is None else line, text, path))

    def validate(self, shape: type[Shape], value: Any, base_place: Place = ()) -> Shape | None:
        """Validate the value at `base_place` as a model; None, with its problems, if invalid.

        `value` may be derived from the file's value. Not reported are known problems, and lists
        that are empty only because their items are invalid.
        """
        try:
            return shape.model_validate(value)
        except ValidationError as error:
            errors = error.errors(include_url=False)
        reported_paths = {problem.path for problem in self.problems}
        wrong = reported_paths | {(*base_place, *entry_error["loc"]) for entry_error in errors}
        for entry_error in errors:
            place = (*base_place, *entry_error["loc"])
            empty = entry_error["type"] == "too_short" and any(
                path[: len(place)] == place and path != place for path in wrong
            )
            if (
                place not in reported_paths
                and not empty
                and entry_error["type"] != "default_factory_not_called"
            ):
                self.add(place, format_validation_error(entry_error, shape))
        return None

    def check_names(self) -> None:
        """Add a problem for each entry of a list that has the name of an earlier one."""
        names: dict[str, int] = {}
        for place, entry in enumerate(self.value):
            name = entry.get("name") if isinstance(entry, dict) else None
            if isinstance(name, str) and names.setdefault(name.casefold(), place) != place:
                first = self.line((names[name.casefold()], "name"))
                text = (
                    f"`name` {name!r} is taken on line {first} (capitals do not tell names apart)"
                )
                self.add((place, "name"), f"{text}: choose another")

    def require_right(self) -> None:
        """Raise the fault with all problems, each with its line and entry, if there are any."""
        if self.problems:
            lines = [
                f"  {self.path}, line {problem.line}"
                f"{self._name_entry(problem.path)}: {problem.text}"
                for problem in sorted(self.problems)
            ]
            count = "one error" if len(lines) == 1 else f"{len(lines)} errors"
            raise self.fault("\n".join([f"{self.path} has {count}.", *lines]))

    def _name_entry(self, path: Place) -> str:
        """Name the list entry that a path leads to; empty if it leads to none."""
        place = path[0] if path else None
        if not isinstance(place, int):
            return ""
        entry = self.value[place] if place < len(self.value) else None
        fields = entry if isinstance(entry, Mapping) else {}
        name = fields.get("name", fields.get("pattern"))
        called = isinstance(name, str) and name and name.isprintable()
        return f", {name}" if called else f", entry {place + 1}"


def load(
    path: FilePath | str, absent: str, fault: type[Exception], content: bytes | None = None
) -> Document:
    """The document in a file; raises `fault` where it cannot be read, `absent` where it is gone.

    `content` is read in the place of the file's.
    """
    document = Document(Path(path) if isinstance(path, str) else path, fault)
    try:
        _read(document, read_file(document.path) if content is None else content)
    except FileNotFoundError:
        raise fault(absent) from None
    except OSError as error:
        raise fault(
            f"{path} cannot be read ({error.strerror or error}). Make it a file that you may read."
        ) from None
    return document


def load_entries(
    path: FilePath | str,
    absent: str,
    fault: type[Exception],
    noun: str,
    content: bytes | None = None,
) -> Document:
    """Load a list of entries that begin with a name, like `load`; empty if the file has none."""
    document = load(path, absent, fault, content)
    if document.value is not None and not isinstance(document.value, list):
        document.add((), f"not a list of {noun}: begin each with `- name: …`")
        document.value = None
    document.value = document.value or []
    return document


def _read(document: Document, data: bytes) -> None:
    """Read `data`; a file that is no YAML has no value, and problems."""
    if len(data) > MAX_BYTES:
        document.add((), f"more than {MAX_BYTES:,} bytes: remove what is no entry", 1)
        return
    try:
        text = data.decode()
        node = _yaml_parser().compose(text)
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        document.add((), "not text in UTF-8: save the file as UTF-8", line)
    except ReaderError as error:
        line = text[: error.position].count("\n") + 1
        document.add((), "holds a character that no text has: remove it", line)
    except MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        document.add((), _describe_error(error), mark.line + 1 if mark else 1)
    else:
        if node is not None:
            document.value = _to_value(node, (), document)


def _yaml_parser() -> YAML:
    parser = YAML(typ="base", pure=True)
    parser.Composer, parser.Resolver = _PlainComposer, _Resolver
    parser.max_depth = _DEEPEST
    return parser


class _Refused(MarkedYAMLError):
    """YAML that this project refuses."""


class _PlainComposer(Composer):
    """Composes nodes; refuses YAML that could unfold or call."""

    def compose_node(self, parent: Any, index: Any) -> Any:
        event = self.parser.peek_event()
        if event.anchor is not None:
            problem = "anchors and aliases (& and *) are not taken: write the value out, or put it "
            raise _Refused(problem=f"{problem}in quotes", problem_mark=event.start_mark)
        if event.ctag is not None:
            problem = "tags (!) are not taken: remove it, or put the value in quotes"
            raise _Refused(problem=problem, problem_mark=event.start_mark)
        return super().compose_node(parent, index)


class _Resolver(VersionedResolver):
    """Leaves plain text as it is, by YAML 1.2, whatever version a file names."""

    processing_version = (1, 2)

    def resolve(self, kind: Any, value: Any, implicit: Any) -> None:
        """Give no node a tag."""


def _describe_error(error: MarkedYAMLError) -> str:
    problem = str(error.problem)
    if isinstance(error, _Refused):
        return problem
    if isinstance(error, MaxDepthExceededError):
        return f"nested more than {_DEEPEST} deep: flatten it"
    if "'\\t'" in problem:
        return "a tab: indent with spaces"
    start, end = error.context_mark, error.problem_mark
    if start is not None and end is not None and start.line != end.line:
        problem += f", in what begins on line {start.line + 1}"
    return (
        f"not YAML ({problem}): compare the line, and the one before it, with the examples in the "
        "file; text with special characters goes in quotes"
    )


def _to_value(node: Node, path: Place, document: Document) -> Any:
    document.lines.setdefault(path, node.start_mark.line + 1)
    if isinstance(node, MappingNode):
        return _to_mapping(node, path, document)
    if not isinstance(node, ScalarNode):
        return [_to_value(item, (*path, index), document) for index, item in enumerate(node.value)]
    try:
        return _parse_plain(node.value) if node.style is None else _require_unicode(node.value)
    except ValueError as error:
        document.add(path, str(error), node.start_mark.line + 1)
        return None


def _to_mapping(node: MappingNode, path: Place, document: Document) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for key, value in node.value:
        line = key.start_mark.line + 1
        if not isinstance(key, ScalarNode):
            document.add(path, "a list or mapping as a key: write a name before the colon", line)
            continue
        place = (*path, key.value)
        if key.value in values:
            first_line = document.lines[place]
            text = f"`{key.value}` is given twice, first on line {first_line}: keep one"
            document.add(path, text, line)
            continue
        document.lines[place] = line
        values[key.value] = _to_value(value, place, document)
    return values


_WORDS = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL")),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}
_WHOLE = re.compile(r"[-+]?[0-9]+")
_REAL = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?")
_NO_NUMBER = re.compile(r"[-+]?\.inf|\.nan", re.IGNORECASE)
_SWITCH = re.compile(r"yes|no|on|off|y|n", re.IGNORECASE)
_DATE = re.compile(r"[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}(?:[Tt ].*)?")


def _parse_plain(plain: str) -> Any:
    """The value of text without quotes. Raises ValueError where it could have several."""
    if plain in _WORDS:
        return _WORDS[plain]
    if _WHOLE.fullmatch(plain) and len(plain) < 20:
        return int(plain)
    if _REAL.fullmatch(plain) and math.isfinite(float(plain)):
        return float(plain)
    if _REAL.fullmatch(plain) or _NO_NUMBER.fullmatch(plain):
        raise ValueError("a number that JSON does not have: write a finite one")
    if _SWITCH.fullmatch(plain):
        raise ValueError(f"`{plain}` may be a switch or a word: write true or false, or use quotes")
    if _DATE.fullmatch(plain):
        raise ValueError("a date, which JSON does not have: put it in quotes to have it as text")
    return _require_unicode(plain)


def _require_unicode(text: str) -> str:
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise ValueError("half of a character (\\ud800 to \\udfff): write it out") from error
    return text
