"""What earlier versions stored under other names is found under today's."""

from contextlib import closing
from datetime import UTC, datetime

import pytest

from resources.calls import CallStore
from resources.calls.batches import Batch, Waiting
from resources.calls.spending import Account, Booking, Spent
from resources.former_names import asset_now, move_tables, partition_now

FORMER = {
    "vlmbias/answers/gpt_4_1/flags": "vlmbias/answers_gpt_4_1/flags",
    "vlmbias/edited_flags/claude": "vlmbias/edited_flags_claude",
    "protobias/scores/clip/flux/animals": "protobias/scores_clip/animals/flux",
    "protobias/image_pairs/flux/objects": "protobias/image_pairs/objects/flux",
    "protobias/filtered_pairs/flux/demography": "protobias/filtered_pairs/demography/flux",
}
"""Where tables lay, and where they are looked for now."""
UNCHANGED = (
    "vlmbias/questions/flags",
    "vlmbias/paintings/sketch/animals",
    "vlmbias/accuracy",
    "protobias/prompt_triplets/animals",
    "protobias/summary/flux",
)


def store(root, place, text="table"):
    path = root / f"{place}.parquet"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def stored(root):
    files = (path for path in root.rglob("*.parquet"))
    return {path.relative_to(root).with_suffix("").as_posix(): path.read_text() for path in files}


def test_tables_move_to_where_they_are_looked_for(tmp_path):
    for place in (*FORMER, *UNCHANGED):
        store(tmp_path, place, place)
    for _ in range(2):
        move_tables(tmp_path)
        places = {now: former for former, now in FORMER.items()}
        assert stored(tmp_path) == places | {place: place for place in UNCHANGED}
    left = [path for path in tmp_path.rglob("*") if path.is_dir() and not any(path.iterdir())]
    assert left == []


def test_a_table_of_now_is_never_replaced(tmp_path):
    store(tmp_path, "vlmbias/answers/gpt/flags", "former")
    store(tmp_path, "vlmbias/answers/gpt/logos", "former")
    store(tmp_path, "vlmbias/answers_gpt/flags", "now")
    move_tables(tmp_path)
    assert stored(tmp_path) == {
        "vlmbias/answers/gpt/flags": "former",
        "vlmbias/answers_gpt/flags": "now",
        "vlmbias/answers_gpt/logos": "former",
    }


@pytest.mark.parametrize(
    ("asset", "partition", "now"),
    [
        ("protobias/scores/clip", "flux|animals", "animals|flux"),
        ("protobias/image_pairs", "animals|flux", "animals|flux"),
        ("protobias/image_pairs", "objects|animals", "objects|animals"),
        ("vlmbias/paintings", "flux|animals", "flux|animals"),
        ("protobias/summary", "flux", "flux"),
        ("vlmbias/edited_flags/gpt", "", ""),
    ],
)
def test_partitions_of_pairs_and_no_others_have_another_order(asset, partition, now):
    assert partition_now(asset, partition) == now
    assert partition_now(asset_now(asset), now) == now


def test_money_and_batches_are_told_under_todays_names(tmp_path):
    def booking(number, asset, partition):
        account = Account(asset, partition, "run")
        return Booking(str(number), str(number), account, "gpt", "online", "2026-11", 7)

    with closing(CallStore(url=f"sqlite:///{tmp_path}/calls.sqlite")) as calls:
        calls.reserve(
            [
                booking(1, "vlmbias/answers/gpt", "flags"),
                booking(2, "vlmbias/answers_gpt", "flags"),
                booking(3, "protobias/image_pairs", "flux|animals"),
            ]
        )
        calls.settle({"1": 5, "2": 6})
        assert calls.spending() == [
            Spent("2026-11", "protobias/image_pairs", "animals|flux", "gpt", "online", 1, 0, 7, 0),
            Spent("2026-11", "vlmbias/answers_gpt", "flags", "gpt", "online", 2, 11, 0, 0),
        ]
        known = {"model": "gpt", "entry": "{}", "run": "r", "config": {}, "requests": 0}
        moment = datetime(2026, 11, 21, tzinfo=UTC)
        batch = Batch(
            "b",
            **known,
            asset="protobias/scores/gpt",
            partition="flux|animals",
            submitted_at=moment,
        )
        calls.batches.open(batch, [Waiting("key", {}, "booking")], "me", 30.0)
        found = calls.batches.find("b")
        assert (found.asset, found.partition) == ("protobias/scores_gpt", "animals|flux")
