"""What `counterfactory reroll vlmbias` draws, asks and compares."""

from collections.abc import Sequence

from assets.kit.rerolls import Reroll
from assets.kit.table_asset import NotMaterialized
from assets.vlmbias.common import asset_key, rerolled_topics
from assets.vlmbias.rerolled_accuracy import count_pairs
from assets.vlmbias.rerolled_questions import draft_questions, require_other_seed
from resources.storage.data_root import DataRoot


def _select_topics(home: DataRoot, seed: int) -> Sequence[str]:
    """Select the topics with questions, whose pictures are drawn and proved."""
    tables = {
        topic: home.find(asset_key("questions"), topic, ["seed"])
        for topic in rerolled_topics.get_partition_keys()
    }
    seeds = {
        topic: int(table["seed"].iloc[0]) for topic, table in tables.items() if table is not None
    }
    if not seeds:
        raise NotMaterialized(
            "vlmbias/questions: no topic is there whose pictures a seed chooses. Run "
            f"`counterfactory demo`, or materialize it for {' or '.join(tables)}."
        )
    for released_seed in seeds.values():
        require_other_seed(seed, released_seed)
    return list(seeds)


REROLL = Reroll(
    questions=asset_key("rerolled_questions"),
    draft_questions=draft_questions,
    released_answers="answers",
    answers="rerolled_answers",
    count_pairs=count_pairs,
    results=asset_key("rerolled_accuracy"),
    select_partitions=_select_topics,
    scope=(
        "Chess pieces and patterned grids take part: a seed chooses their squares and cells. "
        "Flags, game boards and illusions have all variants of the paper with every seed, and "
        "photographs are painted: nothing is said about these."
    ),
)
