"""Untrusted input, cleaned: text of valid Unicode, and JSON of bounded size.

Replies of providers, lines of batches and cassettes, and lists of models pass through
`parse_untrusted` before anything else reads them; what was stored earlier passes through
`clean_json` again. After it there is no half of a surrogate pair, no infinite number, nothing
nested so deeply that Python's own functions give up, and no API key of this process: servers repeat
keys in texts, errors, names of models and lists.
"""

import json
import re
from collections.abc import Callable
from functools import partial
from math import isfinite
from typing import Any
from urllib.parse import quote

from pydantic_core import from_json

MAX_TEXT_LENGTH = 1_000_000
"""Characters of one answer, which is five times the longest that models give."""
MAX_REASON_LENGTH = 10_000
"""Characters of a refusal's reason, or of what is wrong with a reply."""
MAX_DEPTH = 64
"""Arrays and objects within each other; no provider nests more than ten."""
MAX_VALUES = 500_000
"""Commas and opening brackets, of which each value in JSON needs one: some 100 MB in memory."""
MAX_DIGITS = 4300
"""Digits of a whole number, which is also as many as Python reads."""

MIN_SECRET_LENGTH, MIN_LETTERS_ONLY_SECRET_LENGTH = 8, 20
"""Characters of a key. What is shorter, as `EMPTY` or `not-needed` for a server of one's own, is a
word: striking it out would change what answers say."""

_secrets: list[str] = []
"""Forms in which a key may come back, the longest first."""
_HALF_A_PAIR = re.compile("[\ud800-\udfff]")
_INSTEAD = "\ufffd"


class BadJson(ValueError):
    """JSON that is not taken; the message says why."""


class IncompleteJson(BadJson):
    """Data that is no JSON, such as a web page, or JSON that ends too early."""


def replace_surrogates(text: str) -> str:
    """Text that UTF-8 can hold: with U+FFFD for each half of a surrogate pair.

    A model that is cut off within an emoji may send such a half, and may write one as `\\ud83d`.
    """
    return text if text.isascii() else _HALF_A_PAIR.sub(_INSTEAD, text)


def register_secret(key: str) -> None:
    """Strike a key out of whatever comes from outside to this process from now on."""
    digits = any(character.isdigit() for character in key)
    if len(key) >= (MIN_SECRET_LENGTH if digits else MIN_LETTERS_ONLY_SECRET_LENGTH):
        _secrets[:] = sorted({*_secrets, key, quote(key, safe="")}, key=len, reverse=True)


def redact_secrets(text: str) -> str:
    """A text without any key of this process."""
    for secret in _secrets:
        text = text.replace(secret, "[key]")
    return text


def clean_text(text: str) -> str:
    """Text as it is taken from outside: U+FFFD for halves of surrogate pairs and for NUL, no key.

    No database but SQLite takes a NUL, and no file format needs one.
    """
    return replace_surrogates(redact_secrets(text.replace("\0", _INSTEAD)))


def _refuse_constant(constant: str) -> None:
    """NaN and Infinity, which some servers send and JSON does not have."""


def keep_written_infinity(constant: str) -> str | None:
    """Infinity, -Infinity and 1e999 as text, for whoever rejects them; None for NaN, no value."""
    return None if constant == "NaN" else constant


def parse_untrusted(
    data: str | bytes, constant: Callable[[str], str | None] = _refuse_constant
) -> Any:
    """Parse JSON from outside as `clean_json` does; bytes that are no UTF-8 are replaced.

    `constant` gives the value of NaN, Infinity, -Infinity, and numbers too large for a float;
    by default None.

    Raises `IncompleteJson` where no JSON came, or not all of it, and `BadJson` where it is
    malformed or exceeds the limits above. Its memory is bounded before it is parsed.
    """
    text = data if isinstance(data, str) else data.decode(errors="replace")
    check_json_size(text)
    try:
        value = json.loads(
            text,
            parse_int=_whole_number,
            parse_float=partial(_number, constant),
            parse_constant=constant,
        )
    except RecursionError:
        raise BadJson(_TOO_DEEP) from None
    except ValueError as error:
        kind = IncompleteJson if _is_partial(text) else BadJson
        raise kind(f"no JSON ({error})") from None
    return clean_json(value)


def check_json_size(text: str) -> None:
    """Raise `BadJson` where JSON may take more memory than is given to it, before it is parsed."""
    if (values := count_values(text)) > MAX_VALUES:
        raise BadJson(f"it holds {values:,} values; at most {MAX_VALUES:,} are taken")


def count_values(text: str) -> int:
    """Count values of JSON, or more: an upper bound, by which memory is limited."""
    return sum(text.count(sign) for sign in "[{,")


def clean_json(value: Any, text: Callable[[str], str] = clean_text) -> Any:
    """A JSON value with every string as `text` gives it, and None for an infinite number.

    Raises `BadJson` where it is nested too deeply.
    """
    return _clean(value, text, 0)


_TOO_DEEP = f"it is nested more than {MAX_DEPTH} deep"


def _clean(value: Any, text: Callable[[str], str], depth: int) -> Any:
    if isinstance(value, str):
        return text(value)
    if isinstance(value, float):
        return value if isfinite(value) else None
    if isinstance(value, dict | list) and depth == MAX_DEPTH:
        raise BadJson(_TOO_DEEP)
    if isinstance(value, dict):
        return {text(name): _clean(item, text, depth + 1) for name, item in value.items()}
    if isinstance(value, list):
        return [_clean(item, text, depth + 1) for item in value]
    return value


def _number(constant: Callable[[str], str | None], written: str) -> float | str | None:
    """A number with a fraction or an exponent; one that is too large as `constant` has it."""
    number = float(written)
    return number if isfinite(number) else constant(written)


def _whole_number(digits: str) -> int | None:
    """A whole number, unless it is longer than any that is meant: Python refuses to read it."""
    return int(digits) if len(digits) <= MAX_DIGITS else None


def _is_partial(text: str) -> bool:
    """True for the beginning of some JSON, and for text that is no JSON at all."""
    if not text.lstrip().startswith(("{", "[")):
        return True
    try:
        from_json(text.encode(errors="replace"))
    except ValueError as error:
        return str(error).startswith("EOF")
    return False
