"""The benchmark of games by another rule, as other packages see it."""

from typing import Any

from assets.game_rules.common import EVALUATION_VERSION, asset_key, games
from assets.game_rules.release import CARD, RELEASE_TABLES
from assets.game_rules.report import RuleReport
from assets.report.judge_benchmark import build_judge_benchmark
from resources.storage.data_root import DataRoot


def demo_summary(home: DataRoot, painter: str) -> list[dict[str, Any]]:
    """Count each game's positions and questions."""
    tables = {game: home.find(asset_key("questions"), game) for game in games.get_partition_keys()}
    return [
        {"game": game, "positions": table["base_id"].nunique(), "questions": len(table)}
        for game, table in tables.items()
        if table is not None
    ]


BENCHMARK = build_judge_benchmark(
    RuleReport(),
    evaluation_version=EVALUATION_VERSION,
    stand_in_assets=("pictures", "questions"),
    summarize_demo=demo_summary,
    release_tables=RELEASE_TABLES,
    release_card=CARD,
)
