"""What the hosted backends share, where no server is needed to see it."""

import time
from email.utils import formatdate

import pytest

from resources.models.backends import build_backend
from resources.models.backends.hosted_models import (
    detect_media_type,
    parse_retry_after,
    redact_key,
    to_connection_fault,
    to_status_fault,
)
from resources.models.replies import Interrupted, ModelUnavailable
from tests.resources.models.backends.asking import JPEG, KEY, PNG, STORE, WEBP, entry


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"retry-after": "2"}, 2),
        ({"retry-after": "0.5"}, 0.5),
        ({"retry-after": "-3"}, 0),
        ({"retry-after": "inf"}, None),
        ({"retry-after": "soon"}, None),
        ({"retry-after-ms": "1500", "retry-after": "2"}, 1.5),
        ({"retry-after-ms": "soon", "retry-after": "2"}, 2),
        ({"retry-after": formatdate(0, usegmt=True)}, 0),
    ],
)
def test_seconds_to_wait(headers, seconds):
    assert parse_retry_after(headers) == seconds


def test_seconds_until_a_date():
    date = formatdate(time.time() + 9_000, usegmt=True)
    assert 8_000 < parse_retry_after({"retry-after": date}) <= 9_000


def test_media_types_are_told_by_the_bytes():
    assert [detect_media_type(data) for data in (PNG, JPEG, WEBP)] == [
        "image/png",
        "image/jpeg",
        "image/webp",
    ]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (f"Incorrect API key provided: {KEY}.", "Incorrect API key provided: [key]."),
        (f"{KEY[:5]}*******{KEY[-4:]} is wrong", "[key] is wrong"),
        ('{"key": "sk-1***9"}', '{"key": "[key]"}'),
        ("one\n  two\t three ", "one two three"),
        ("2 ** 3", "2 ** 3"),
        ("x" * 600, "x" * 499 + "…"),
        ("x" * 490 + KEY, "x" * 490 + "[key]"),
    ],
)
def test_words_are_short_and_without_the_key(words, said):
    assert redact_key(words, KEY) == said


def test_a_key_with_signs_is_found_where_it_is_quoted():
    assert redact_key("?key=a%2Flong%2Bkey", "a/long+key") == "?key=[key]"
    assert redact_key("a/long+key is wrong", "a/long+key") == "[key] is wrong"


@pytest.mark.parametrize("backend", ["openai", "gemini"])
@pytest.mark.parametrize("sign", ["\n", " ", "’", "é"])
def test_a_key_that_no_header_can_hold_is_not_told(backend, sign):
    with pytest.raises(ModelUnavailable) as caught:
        build_backend(entry(backend, "http://unused"), f"{KEY}{sign}x", STORE.__getitem__)
    assert KEY not in str(caught.value)
    assert f"set {backend.upper()}_API_KEY to the key alone" in str(caught.value)


def test_without_a_key_words_are_as_they_are():
    assert redact_key("a b", None) == "a b"


def test_the_address_of_a_redirect_is_told_without_the_key():
    assert KEY not in str(
        to_status_fault(302, "", {"location": f"https://elsewhere/?key={KEY}"}, KEY)
    )


@pytest.mark.parametrize("status", [204, 408, 409, 425, 499, 500, 599])
def test_statuses_after_which_to_send_again(status):
    assert type(to_status_fault(status, "", {}, None)) is Interrupted


def test_a_failure_without_words_still_says_something():
    assert str(to_connection_fault(ConnectionResetError(), KEY)) == (
        "ConnectionResetError: the connection to the server failed"
    )
