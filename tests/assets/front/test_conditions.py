"""The conditions of answers, from a judge's table to its page."""

from assets.front.conditions import collect_conditions
from assets.kit.judge_tasks import JudgeTaskFinder
from assets.report.conditions import Conditions
from resources.models.catalog import Catalog
from resources.storage.data_root import DataRoot
from tests.assets.asked import JUDGE, answers, ask, judge_at
from tests.assets.plans import definitions_of
from tests.runs import STAND_INS, metadata


def test_they_are_those_of_its_tables_and_a_change_is_told(root, server, instance):
    server.answer = lambda _: "<think>Two legs?</think>{5}"
    judge = judge_at(server, backend="openai_compatible")
    first = ask(root, judge, instance=instance)
    assert metadata(first, JUDGE)["conditions"] == ['{"engine": "vLLM 0.11.0"}']
    rows = answers(root)
    assert set(rows["conditions"]) == {'{"engine": "vLLM 0.11.0"}'}
    assert set(rows["thoughts_cut"]) == {"by tags"}
    assert set(rows["thought_characters"]) == {24}
    sent = server.count
    server.engine = {"/version": {"version": "0.12.0"}}
    server.answer = lambda _: "{5}"
    second = ask(root, judge, "debiased", instance=instance)
    assert server.count > sent
    change = "engine (vLLM 0.11.0, vLLM 0.12.0)"
    assert metadata(second, JUDGE)["conditions_changed"] == change
    catalog = Catalog((*STAND_INS, judge))
    home = DataRoot(root=str(root))
    finder = JudgeTaskFinder(catalog, home, instance, definitions_of(catalog))
    collected = collect_conditions(finder)
    assert list(collected) == ["somebody"]
    old, new = collected["somebody"]
    assert isinstance(old, Conditions)
    assert (old.facts_text, new.facts_text) == ("engine vLLM 0.11.0", "engine vLLM 0.12.0")
    assert old.thoughts_text == f"by tags, of {len(rows)} replies, {24 * len(rows):,} characters"
    assert (old.folder, old.replies, new.thoughts_text) == ("vlmbias", len(rows), "none")
