"""Untrusted SVG, reduced to shapes and colours.

A drawing by a model is untrusted. It is read by a parser that takes no document type and no entity,
and that is stopped at the first thing it should not hold; what is on the lists below is written
anew. So nothing runs, nothing is fetched, and nothing unfolds into more than was counted.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from math import isfinite
from xml.etree.ElementTree import ParseError
from xml.sax.saxutils import quoteattr

from defusedxml import DefusedXmlException
from defusedxml.ElementTree import XMLParser

MAX_BYTES = 500_000
"""Bytes of a drawing."""
MAX_ELEMENTS = 4000
"""Elements, each counted as often as `use` or a clip path shows it."""
MAX_DEPTH = 24
"""Elements within each other, those that are shown by reference among them."""
MAX_VALUE_LENGTH = 50_000
"""Characters of an attribute, such as a path."""
MAX_UNITS = 100_000.0
MIN_SIDE_RATIO = 0.1
"""The least that the shorter side may be of the longer."""

_NAMESPACE = "http://www.w3.org/2000/svg"
_XLINK = "{http://www.w3.org/1999/xlink}"
_ELEMENTS = frozenset(
    {
        *("svg", "g", "defs", "use", "clipPath", "linearGradient", "radialGradient", "stop"),
        *("path", "rect", "circle", "ellipse", "line", "polyline", "polygon"),
    }
)
_SILENT = frozenset({"title", "desc"})
"""Elements that are left out with their content: words for a reader."""
_PAINT = frozenset(
    {
        *("fill", "fill-opacity", "fill-rule", "clip-path", "clip-rule", "color", "display"),
        *("opacity", "shape-rendering", "stop-color", "stop-opacity", "visibility"),
        *("stroke", "stroke-linecap", "stroke-linejoin", "stroke-miterlimit"),
        *("stroke-opacity", "stroke-width"),
    }
)
"""Painting properties, as attributes or within `style`."""
_SHAPE = frozenset(
    {
        *("id", "d", "points", "pathLength", "transform", "x", "y", "x1", "y1", "x2", "y2"),
        *("cx", "cy", "r", "rx", "ry", "fx", "fy", "fr", "width", "height", "offset"),
        *("clipPathUnits", "gradientUnits", "gradientTransform", "spreadMethod"),
    }
)
_IDLE = re.compile(r"version|baseProfile|class|role|preserveAspectRatio|viewBox|aria-.*|data-.*")
"""Attributes that are left out, since they change nothing here."""
_REFERENCE = re.compile(r"url\(([^()]*)\)")
_WITHIN = re.compile(r"#([A-Za-z_][\w.-]*)")
_PLAIN = re.compile(r"[\w\s.,%()#+-]*", re.ASCII)
_NUMBER = r"[-+]?(?:\d++(?:\.\d*+)?|\.\d++)(?:[eE][-+]?\d++)?"


class BadSvg(ValueError):
    """A drawing that is not taken; the message says why."""


@dataclass(slots=True, eq=False)
class _Element:
    name: str
    attributes: Mapping[str, str]
    references: tuple[str, ...]
    """The ids of what it shows, or is painted with."""
    children: list["_Element"] = field(default_factory=list)


def sanitize_svg(text: str) -> str:
    """The drawing in `text`, its shapes alone, as an `svg` element with a `viewBox` and no size.

    Raises `BadSvg` for anything but shapes, gradients and clip paths that refer to each other by
    `#id`, and for more of them than a flag could need.
    """
    size = len(text) if len(text) > MAX_BYTES else len(text.encode(errors="replace"))
    if size > MAX_BYTES:
        raise BadSvg(f"It has {size:,} bytes or more; at most {MAX_BYTES:,} are taken")
    reader = _ShapeReader()
    try:
        parser = XMLParser(target=reader, forbid_dtd=True)
        parser.feed(text.strip())
        parser.close()
    except DefusedXmlException as error:
        problem = f"It has a document type or entities ({type(error).__name__})"
    except (ParseError, ValueError) as error:
        problem = str(error) if isinstance(error, BadSvg) else f"It is no XML ({error})"
    else:
        _check_unfolded(reader.root, reader.elements_by_id)
        box = " ".join(f"{number:g}" for number in reader.box)
        # As a group, the outermost element still says how all within it is painted.
        shapes = _serialize([replace(reader.root, name="g")])
        return f'<svg xmlns="{_NAMESPACE}" viewBox="{box}">{shapes}</svg>'
    raise BadSvg(problem)


def read_view_box(svg: str) -> tuple[float, float, float, float]:
    """Left, top, width and height of what `sanitize_svg` gave, in the units of its shapes."""
    left_edge, top, width, height = re.findall(_NUMBER, svg.partition('viewBox="')[2])[:4]
    return float(left_edge), float(top), float(width), float(height)


class _ShapeReader:
    """The parser's events, until the first one that is not allowed."""

    root: _Element
    box: tuple[float, float, float, float]

    def __init__(self) -> None:
        self.elements_by_id: dict[str, _Element] = {}
        self._open: list[_Element] = []
        self._unheard = 0
        self._elements = 0

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        """An element begins."""
        self._elements += 1
        if self._elements > MAX_ELEMENTS:
            raise BadSvg(f"It has more than {MAX_ELEMENTS:,} elements")
        if len(self._open) + self._unheard >= MAX_DEPTH:
            raise BadSvg(f"It has elements more than {MAX_DEPTH} deep")
        name = tag.removeprefix(f"{{{_NAMESPACE}}}")
        if self._unheard or (self._open and name in _SILENT):
            self._unheard += 1
            return
        if name not in _ELEMENTS or (name == "svg") == bool(self._open):
            place = "within another" if self._open else "outermost"
            raise BadSvg(f"It has the element {name[:60]!r} {place}, which is not taken")
        allowed = dict(_attributes(name, attributes))
        element = _Element(name, allowed, tuple(_references(allowed)))
        if not self._open:
            self.root, self.box = element, _box(attributes)
        else:
            self._open[-1].children.append(element)
        if (
            self.elements_by_id.setdefault(allowed.get("id", ""), element) is not element
            and "id" in allowed
        ):
            raise BadSvg(f"It has the id {allowed['id']!r} twice")
        self._open.append(element)

    def end(self, tag: str) -> None:
        """An element ends."""
        if self._unheard:
            self._unheard -= 1
        else:
            self._open.pop()

    def data(self, text: str) -> None:
        """Words: they stand where none are drawn."""

    def pi(self, target: str, data: str | None = None) -> None:
        """A processing instruction, such as a style sheet."""
        raise BadSvg(f"It has the processing instruction {target[:60]!r}, which is not taken")

    def close(self) -> None:
        """The document has ended."""


def _attributes(element: str, attributes: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """The attributes that are kept, their values looked through."""
    # What `style` says of a shape holds against its attributes.
    for key, value in sorted(attributes.items(), key=lambda item: item[0] == "style"):
        name = key.removeprefix(_XLINK)
        if len(value) > MAX_VALUE_LENGTH:
            raise BadSvg(f"It has the attribute {name[:60]!r} of {len(value):,} characters")
        if name == "href":
            if not _WITHIN.fullmatch(value):
                raise BadSvg(f"It refers to {value[:60]!r}: only to #id within itself is taken")
            yield name, value
        elif name == "style":
            for declaration in filter(str.strip, value.split(";")):
                property_name, _, property_value = declaration.partition(":")
                if property_name.strip() in _PAINT:
                    yield (
                        property_name.strip(),
                        _plain(property_name.strip(), property_value.strip()),
                    )
                else:
                    raise BadSvg(f"It has the style {declaration.strip()[:60]!r}, not taken")
        elif name in _PAINT or name in _SHAPE:
            if not (element == "svg" and name in ("x", "y", "width", "height")):
                yield name, _plain(name, value)
        elif not (name.startswith("{") or _IDLE.fullmatch(name)):
            raise BadSvg(f"It has the attribute {name[:60]!r} of {element}, which is not taken")


def _plain(name: str, value: str) -> str:
    """A value without an address, and without a character that only other languages need."""
    targets = [_target(match) for match in _REFERENCE.finditer(value)]
    for target in targets:
        if not _WITHIN.fullmatch(target):
            raise BadSvg(f"It refers to {target[:60]!r}: only to #id within itself is taken")
    value = _REFERENCE.sub(lambda match: f"url({_target(match)})", value)
    if not _PLAIN.fullmatch(value) or value.lower().count("url(") != len(targets):
        raise BadSvg(f"It has {name} with {value[:60]!r}, which none needs")
    return value


def _target(reference: re.Match[str]) -> str:
    """The target of a reference, without quotation marks and spaces."""
    address = reference[1].strip()
    quoted = len(address) > 1 and address[0] == address[-1] and address[0] in "'\""
    return address[1:-1] if quoted else address


def _references(attributes: Mapping[str, str]) -> Iterator[str]:
    for name, value in attributes.items():
        if name == "href":
            yield value[1:]
        else:
            yield from (_target(match)[1:] for match in _REFERENCE.finditer(value))


def _box(attributes: Mapping[str, str]) -> tuple[float, float, float, float]:
    """The shown area of a drawing: its `viewBox`, else its size."""
    if "viewBox" in attributes:
        numbers = attributes["viewBox"].replace(",", " ").split()
    else:
        sides = [attributes.get(side, "").removesuffix("px") for side in ("width", "height")]
        numbers = ["0", "0", *sides]
    shown_text = " ".join(numbers)[:60]
    if len(numbers) != 4 or not all(re.fullmatch(_NUMBER, number) for number in numbers):
        raise BadSvg(f"It has no viewBox or size that could be read (found {shown_text!r})")
    left_edge, top, width, height = map(float, numbers)
    if not all(
        isfinite(part) and abs(part) <= MAX_UNITS for part in (left_edge, top, width, height)
    ):
        raise BadSvg(
            f"It shows {shown_text!r}: at most {MAX_UNITS:,.0f} units either way are taken"
        )
    if min(width, height) <= MIN_SIDE_RATIO * max(width, height):
        raise BadSvg(f"It shows {shown_text!r}, which is no flag's shape")
    return left_edge, top, width, height


def _check_unfolded(root: _Element, elements_by_id: Mapping[str, _Element]) -> None:
    """Raise `BadSvg` where an element shows itself, or more than is taken."""
    sizes_by_id: dict[int, tuple[int, int]] = {}
    under_way: set[int] = set()

    def count_unfolded(element: _Element, depth: int) -> tuple[int, int]:
        """Count the elements that an element shows, and their depth."""
        if id(element) in under_way:
            raise BadSvg("It has an element that shows itself")
        if id(element) not in sizes_by_id:
            if depth > MAX_DEPTH:
                raise BadSvg(f"It unfolds to elements more than {MAX_DEPTH} deep")
            under_way.add(id(element))
            shown = [
                *element.children,
                *(elements_by_id[n] for n in element.references if n in elements_by_id),
            ]
            sizes = [count_unfolded(shown_element, depth + 1) for shown_element in shown]
            under_way.remove(id(element))
            count = 1 + sum(size for size, _ in sizes)
            sizes_by_id[id(element)] = count, 1 + max((deep for _, deep in sizes), default=0)
            if count > MAX_ELEMENTS:
                raise BadSvg(f"It unfolds to more than {MAX_ELEMENTS:,} elements")
        if depth + sizes_by_id[id(element)][1] > MAX_DEPTH + 1:
            raise BadSvg(f"It unfolds to elements more than {MAX_DEPTH} deep")
        return sizes_by_id[id(element)]

    count_unfolded(root, 1)


def _serialize(elements: list[_Element]) -> str:
    return "".join(
        f"<{element.name}"
        + "".join(f" {name}={quoteattr(value)}" for name, value in element.attributes.items())
        + f">{_serialize(element.children)}</{element.name}>"
        for element in elements
    )
