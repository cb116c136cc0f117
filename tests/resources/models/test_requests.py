"""Keys of requests."""

from resources.models.catalog import Model
from resources.models.requests import LookRequest, Turn, compute_call_keys

REQUEST = LookRequest((Turn("user", "How many legs has this animal?", ("0" * 64,)),))


def judge(**parameters):
    return Model(
        name="local",
        backend="transformers",
        model="tiny/local",
        family="tiny",
        roles=("judge",),
        parameters={"max_new_tokens": 8, **parameters},
    )


def test_a_local_model_has_the_same_keys_on_every_device():
    (key,) = compute_call_keys(judge(), [REQUEST])
    assert compute_call_keys(judge(device="cuda:1"), [REQUEST]) == [key]
    assert compute_call_keys(judge(max_new_tokens=9), [REQUEST]) != [key]
