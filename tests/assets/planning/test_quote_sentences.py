"""A quote's sentences: the numbers of its table, for a reader in a hurry."""

import pytest

from assets.planning.lines import QuoteLine
from assets.planning.prices import Amount, QuotePrice
from assets.planning.quote_sentences import describe_total
from resources.calls.spending import NANO

DOLLAR = NANO


def amount(dollars):
    return Amount(unknown={"a price"}) if dollars is None else Amount(nano=round(dollars * DOLLAR))


@pytest.mark.parametrize(
    ("counts", "expected", "bound", "sentence"),
    [
        (
            {"requests": 3654, "stored": 120},
            4.0961,
            30.7001,
            "3,654 requests to X: about $4.10, at most $30.71, 120 answers are there already and "
            "cost nothing.",
        ),
        (
            {"requests": 1},
            0.000_1,
            0.009_9,
            "1 request to X: less than a cent, at most $0.01.",
        ),
        (
            {"requests": 20, "stored": 1},
            None,
            0.841,
            "20 requests to X: at most $0.85, and a trial shows what is likely, 1 answer is there "
            "already and costs nothing.",
        ),
        ({"requests": 2}, None, None, "2 requests to X: the cost is unknown."),
        ({"requests": 2}, 1, None, "2 requests to X: about $1.00, without a known limit."),
        ({"requests": 1234}, 0, 0, "1,234 requests to X: free."),
        (
            {"requests": 5, "stored": 5},
            0,
            0,
            "5 requests to X: nothing is left to send, 5 answers are there already and cost "
            "nothing.",
        ),
        (
            {"requests": 9, "stored": 2, "in_batch": 3, "follow_ups": 1500},
            2,
            7,
            "9 requests, and up to 1,500 that depend on answers to come, to X: up to about $2.00, "
            "at most $7.00, 2 answers are there already and cost nothing, 3 in a batch that is on "
            "its way.",
        ),
        ({"missing_asset": "questions"}, 0, 0, "Requests to X cannot be counted yet."),
        (
            {"requests": 4, "missing_asset": "questions"},
            0.5,
            1,
            "At least 4 requests to X: about $0.50, at most $1.00.",
        ),
    ],
)
def test_a_total_in_a_sentence(counts, expected, bound, sentence):
    price = QuotePrice(expected=amount(expected), bound=amount(bound))
    total = QuoteLine("", "", None, prices={"online": price}, **counts)
    assert describe_total(total, "X") == sentence
