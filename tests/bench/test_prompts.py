"""The yardstick of prompts, on few of them."""

from bench.prompts import checked, sampled


def test_it_samples_and_checks_each_domain():
    assert [(each.domain, each.concepts) for each in sampled(50)] == [
        ("animals", 50),
        ("demography", 50),
        ("objects", 50),
    ]
    assert all(each.a_second > 0 for each in checked(50))
