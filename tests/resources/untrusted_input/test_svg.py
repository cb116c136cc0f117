"""What is taken of an SVG from outside, what is refused, and what its rendering may do."""

import os
import resource
import time
from multiprocessing.connection import Connection

import pytest

from generators.canvas import decode_png, rasterise
from generators.domains.flags.draw import draw, list_scenes
from resources.untrusted_input import edited_flags, sandbox
from resources.untrusted_input.edited_flags import FlagReply, draw_flags, extract_svg, render_flag
from resources.untrusted_input.sandbox import SandboxFailure, run_sandboxed
from resources.untrusted_input.svg import BadSvg, read_view_box, sanitize_svg
from tests.providers import Provider

HANGS = (
    '<path d="M0 0L1e38 1e38L-1e38 0A1 1 0 1 1 99999999 9999999z" stroke="red" '
    'transform="scale(1e30)"/>'
)


def svg(inside, attributes='viewBox="0 0 9 6"'):
    names = 'xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink"'
    return f"<svg {names} {attributes}>{inside}</svg>"


def taken(inside, attributes='viewBox="0 0 9 6"'):
    """What is left of a drawing, within its outermost group."""
    return sanitize_svg(svg(inside, attributes)).partition("<g>")[2].removesuffix("</g></svg>")


@pytest.mark.parametrize("scene", list_scenes(0)[::5], ids=lambda scene: scene.base_id)
def test_our_own_flags_pass_and_look_the_same(scene):
    drawn = draw(scene, 384)
    assert render_flag(sanitize_svg(drawn), 384) == render_flag(
        sanitize_svg(sanitize_svg(drawn)), 384
    )
    assert (decode_png(render_flag(sanitize_svg(drawn), 384)) == decode_png(rasterise(drawn))).all()


@pytest.mark.parametrize(
    ("given", "left"),
    [
        ('<rect x="1" fill="#fff"/>', '<rect x="1" fill="#fff"></rect>'),
        ('<!-- words --><title>A <b>flag</b></title><g id="a">words</g>', '<g id="a"></g>'),
        ('<use xlink:href="#a"/>', '<use href="#a"></use>'),
        ("<rect fill=\"url('#a')\"/>", '<rect fill="url(#a)"></rect>'),
        (
            '<rect style="fill: red; opacity:.5" fill="blue"/>',
            '<rect fill="red" opacity=".5"></rect>',
        ),
        ('<rect class="a" xml:space="preserve" data-x="&lt;"/>', "<rect></rect>"),
        ('<rect fill="&#x72;ed"/>', '<rect fill="red"></rect>'),
    ],
)
def test_what_is_left(given, left):
    assert taken(given) == left


def test_what_the_outermost_element_says_of_paint_holds_within():
    drawing = sanitize_svg(svg('<rect width="9" height="6"/>', 'viewBox="0 0 9 6" fill="#ff0000"'))
    assert (decode_png(render_flag(drawing, 90))[30, 45] == [255, 0, 0]).all()


REFUSED = {
    "script": ("<script>x</script>", "the element 'script' within another"),
    "style element": ("<style>a{}</style>", "the element 'style'"),
    "image": ('<image href="#a"/>', "the element 'image'"),
    "foreign object": ("<foreignObject/>", "the element 'foreignObject'"),
    "another namespace": ('<rect xmlns="urn:x"/>', "the element '{urn:x}rect'"),
    "svg within svg": ("<svg/>", "the element 'svg' within another"),
    "animation": ('<animate attributeName="x"/>', "the element 'animate'"),
    "event": ('<rect onload="x()"/>', "the attribute 'onload' of rect"),
    "filter": ('<rect filter="url(#a)"/>', "the attribute 'filter' of rect"),
    "far reference": ('<use href="http://x/#a"/>', "refers to 'http://x/#a'"),
    "far xlink": ('<use xlink:href="//x/a.svg#a"/>', "refers to '//x/a.svg#a'"),
    "data": ('<use href="data:image/svg+xml,x"/>', "refers to 'data:"),
    "file": ('<use href="file:///etc/passwd"/>', "refers to 'file:"),
    "paint from afar": ('<rect fill="url(http://x/#a)"/>', "refers to 'http://x/#a'"),
    "style from afar": ('<rect style="fill:url(//x)"/>', "refers to '//x'"),
    "style of old": ('<rect style="behavior:url(#a)"/>', "the style 'behavior:url(#a)'"),
    "capitals": ('<rect fill="URL(#a)"/>', "which none needs"),
    "half a reference": ('<rect fill="url(#a"/>', "which none needs"),
    "escapes": (r'<rect fill="u\72 l(#a)"/>', "which none needs"),
    "instruction": ('<?xml-stylesheet href="a.css"?>', "instruction 'xml-stylesheet'"),
    "long path": (f'<path d="{"L1 1" * 20_000}"/>', "'d' of 80,000 characters"),
    "depth": ("<g>" * 30 + "</g>" * 30, "more than 24 deep"),
    "depth of words": ("<title>" + "<b>" * 30, "more than 24 deep"),
    "elements": ("<g/>" * 5000, "It has more than 4,000 elements"),
    "an id twice": ('<g id="a"/><g id="a"/>', "the id 'a' twice"),
    "itself": ('<g id="a"><use href="#a"/></g>', "an element that shows itself"),
    "each other": (
        '<g id="a"><use href="#b"/></g><g id="b"><use href="#a"/></g>',
        "an element that shows itself",
    ),
    "billion laughs": (
        '<g id="a0"/>'
        + "".join(f'<g id="a{n}">{f"""<use href="#a{n - 1}"/>""" * 10}</g>' for n in range(1, 10)),
        "unfolds to more than 4,000 elements",
    ),
    "clip bomb": (
        '<clipPath id="c">' + "<rect/>" * 100 + "</clipPath>" + '<g clip-path="url(#c)"/>' * 50,
        "unfolds to more than 4,000 elements",
    ),
    "deep uses": (
        '<g id="a0"/>'
        + "".join(f'<g id="a{n}"><use href="#a{n - 1}"/></g>' for n in range(1, 1000)),
        "unfolds to elements more than 24 deep",
    ),
    "no XML": ("<rect", "It is no XML"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused_says_why(name):
    inside, reason = REFUSED[name]
    with pytest.raises(BadSvg) as why:
        sanitize_svg(svg(inside))
    assert reason in str(why.value)


@pytest.mark.parametrize(
    "prolog",
    [
        "<!DOCTYPE svg>",
        '<!DOCTYPE svg SYSTEM "http://x/svg.dtd">',
        '<!DOCTYPE svg [<!ENTITY a "b">]>',
        '<!DOCTYPE svg [<!ENTITY % a SYSTEM "file:///etc/passwd"> %a;]>',
    ],
)
def test_no_document_type_is_taken(prolog):
    with pytest.raises(BadSvg, match="It has a document type or entities"):
        sanitize_svg(prolog + svg(""))


@pytest.mark.parametrize(
    ("attributes", "box"),
    [
        ('viewBox="0,0, 9 6"', (0, 0, 9, 6)),
        ('viewBox="-1 2.5 9e1 60" width="5" height="100%"', (-1, 2.5, 90, 60)),
        ('width="9px" height="6"', (0, 0, 9, 6)),
    ],
)
def test_what_a_drawing_shows(attributes, box):
    assert read_view_box(sanitize_svg(svg("", attributes))) == box


@pytest.mark.parametrize(
    ("attributes", "reason"),
    [
        ("", "no viewBox or size"),
        ('width="100%" height="100%"', "no viewBox or size"),
        ('viewBox="0 0 nan 6"', "no viewBox or size"),
        ('viewBox="0 0 9"', "no viewBox or size"),
        ('viewBox="0 0 1e9 1e9"', "at most 100,000 units"),
        ('viewBox="0 0 1e999 1"', "at most 100,000 units"),
        ('viewBox="-1e9 0 9 6"', "at most 100,000 units"),
        ('viewBox="0 0 9 0"', "no flag's shape"),
        ('viewBox="0 0 -9 -6"', "no flag's shape"),
        ('viewBox="0 0 9 0.5"', "no flag's shape"),
    ],
)
def test_a_size_that_no_flag_has(attributes, reason):
    with pytest.raises(BadSvg, match=reason):
        sanitize_svg(svg("", attributes))


def test_ten_million_elements_are_refused_before_they_are_read():
    huge = svg("<g/>" * 10_000_000)
    began = time.process_time()
    with pytest.raises(BadSvg, match=r"40,000,\d+ bytes or more; at most 500,000 are taken"):
        sanitize_svg(huge)
    assert time.process_time() - began < 5


@pytest.mark.parametrize(
    ("reply", "found"),
    [
        ("<code><svg>1</svg></code>", "<svg>1</svg>"),
        ("Here:\n<CODE>\n```svg\n<svg>1</svg>\n```\n</CODE> <svg>2</svg>", "<svg>1</svg>"),
        ("```xml\n<svg>1</svg>\n```", "<svg>1</svg>"),
        ('Sure! <?xml version="1.0"?><svg>1</svg> Done.', '<?xml version="1.0"?><svg>1</svg>'),
        ("<code><!DOCTYPE svg><svg>1</svg></code>", "<!DOCTYPE svg><svg>1</svg>"),
        ("I cannot.", None),
        ("<code><svg>1", None),
        ("</svg><svg>", None),
        ("", None),
    ],
)
def test_the_svg_in_a_reply(reply, found):
    assert extract_svg(reply) == found


def test_a_flag_without_ground_is_laid_on_it_with_a_margin():
    pixels = decode_png(
        render_flag(sanitize_svg(svg('<rect width="9" height="6" fill="red"/>')), 384)
    )
    assert pixels.shape == (235 + 2 * 16, 384, 3)
    assert (pixels[:16] == 128).all()
    assert (pixels[16:-16, 16:-16] == [255, 0, 0]).all()


def test_the_rasteriser_itself_fetches_nothing():
    with Provider() as server:
        rasterise(svg(f'<image href="{server.url}/files/a.png" width="9" height="6"/>'))
        assert (server.count, server.downloads) == (0, [])


@pytest.mark.slow
def test_a_drawing_that_takes_hours_is_given_up_and_the_others_are_not(monkeypatch):
    monkeypatch.setattr(edited_flags, "PATIENCE_S", 3)
    good = draw(list_scenes(0)[0], 384)
    ends = draw_flags([FlagReply(text, ("stars",), 384) for text in (good, svg(HANGS), good)])
    assert [end.outcome for end in ends] == ["drawn", "unsafe", "drawn"]
    assert ends[1].reason == "It takes longer than 3 s."


def test_a_drawing_that_ends_its_process_is_given_up():
    first, second, third = run_sandboxed(_dies_of, [0, 1, 2], 30)
    assert (first, third) == (0, 2)
    assert isinstance(second, SandboxFailure)
    assert str(second) == "It ends the process that works on it"


def test_one_that_ends_while_it_tells_its_result_is_given_up():
    (ended,) = run_sandboxed(_ends_telling, [b"result"], 3)
    assert str(ended) == "It ends the process that works on it"


def _ends_telling(item):
    def half(self, told):
        os.write(self.fileno(), bytes(told)[: len(told) // 2])
        os._exit(1)

    Connection._send = half
    return item


def test_where_the_machine_is_busy_nothing_is_given_up_for_it():
    assert [*run_sandboxed(_waits_for, [1.5], 1)] == [1.5]


def test_a_limit_of_the_machine_is_left_which_a_user_may_not_raise():
    """As where a cluster allows each process an hour."""
    _, found = run_sandboxed(_limits, [None, None], 3)
    assert found[0] < 100
    assert found[1] == 3600


def _limits(_):
    found = resource.getrlimit(resource.RLIMIT_CPU)
    resource.setrlimit(resource.RLIMIT_CPU, (found[0], 3600))
    return found


def test_what_keeps_no_processor_and_does_not_end_is_given_up_all_the_same(monkeypatch):
    monkeypatch.setattr(sandbox, "_BUSY", 0.1)
    (given_up,) = run_sandboxed(_waits_for, [3600], 1)
    assert str(given_up) == "It takes longer than 1 s"


def _waits_for(seconds):
    time.sleep(seconds)
    return seconds


def _dies_of(item):
    if item == 1:
        raise SystemExit
    return item
