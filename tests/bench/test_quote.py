"""The yardstick of quotes, on few of them."""

from bench.quote import quotes


def test_it_quotes_for_few_and_for_more():
    few, more = quotes(60, few=2500, many=5000)
    assert (few.requests, more.requests) == (2500, 5000)
    assert few.seconds > 0
    assert 50 < more.megabytes < 1000
