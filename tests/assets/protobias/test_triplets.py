"""Concepts and triplets: sampled, written by somebody who errs, told, mended or rejected."""

import json
from dataclasses import asdict
from types import SimpleNamespace

import pandas as pd
import pytest
from dagster import AssetKey

from assets.kit.benchmarks import build_planners as planners
from assets.kit.benchmarks import build_steps
from assets.kit.forecast import PENDING
from assets.kit.step import StepReply
from assets.kit.step_planner import planned_table
from assets.kit.table_asset import TablesMismatch
from assets.planning import Task, quote_tasks
from assets.protobias.concepts import (
    CONCEPTS,
    ProtoConceptsConfig,
    sample_domain_concepts,
    to_concept,
)
from assets.protobias.prompt_triplets import TRIPLETS as COLUMNS
from assets.protobias.prompt_triplets import find_broken_rows, select_accepted
from assets.protobias.writing import LONGEST_FEEDBACK, build_retry, first_request, write_triplet
from generators.prompts.concepts import DOMAINS
from generators.prompts.phrasing import tidy_sentence
from resources.models.catalog import Catalog, Model
from resources.models.outcomes import AnsweredOutcome
from resources.models.requests import compute_call_keys
from resources.user_files.taxonomy_file import TaxonomyError
from tests.assets.plans import plan_context, stored
from tests.assets.written import RULES, Author, right, writer_at
from tests.providers import Provider
from tests.resources.user_files.test_own import ROW as OWN
from tests.runs import STAND_INS, checks, copied, failure, materialize, metadata, rewrite, table

DOMAIN, NUMBER = "animals", 15
GRAMMAR = Model(
    name="grammar", backend="stand_in", model="grammar", family="stand_in", roles=("writer",)
)
TRIPLETS = AssetKey(["protobias", "prompt_triplets"])
CONCEPTS_KEY = AssetKey(["protobias", "concepts"])
MENDED = [[rule] for rule in RULES]
"""The first seven concepts: each rule is broken once, and mended when its writer is told."""
LAST = [
    ["knob", "label", ""],
    ["knob", "label", "words"],
    ["prose"],
    ["prose", "prose"],
    ["refusal"],
    ["correct", "failure"],
    ["prose", "correct"],
]
"""Of seven more: mended in the end, never, JSON when asked for it, never, refused, failed, and JSON
that was asked for and broke a rule then."""


ENDS = [
    *["accepted"] * 7,
    *("accepted", "rejected", "accepted", "malformed", "refused", "failed"),
    *("accepted", "accepted"),
]


def concepts(number=NUMBER):
    return list(sample_domain_concepts(DOMAIN, ProtoConceptsConfig(instances=number)))


IDS = [concept.concept_id for concept in concepts()]


def run(root, *names, writer="author", models=(), instances=NUMBER, limit=None):
    config = {
        "concepts": {"instances": instances},
        "prompt_triplets": {"writer": writer, "limit": limit},
    }
    return materialize(
        root,
        *names,
        group="protobias",
        topic=DOMAIN,
        models=[*STAND_INS, GRAMMAR, *models],
        config={name: config[name] for name in names},
    )


def must(*given, **more):
    result = run(*given, **more)
    assert result.success, failure(result)
    return result


def rows(root, name="prompt_triplets"):
    return pd.read_parquet(table(root, name, DOMAIN, "protobias"))


def planned(root, writer, instances=None, limit=None):
    """The keys of what is certain, what comes later, and what is missing."""
    together = {} if instances is None else {(CONCEPTS_KEY, DOMAIN): {"instances": instances}}
    planner = planners(Catalog((GRAMMAR, writer)))[TRIPLETS]
    with plan_context(root) as sources:
        config = {"writer": writer.name, "limit": limit}
        (plan,) = planner(sources.with_planned(together), DOMAIN, config)
        certain = list(plan.requests)
        return (
            set(compute_call_keys(writer, certain)),
            len(list(plan.possible_requests)),
            plan.missing_asset,
        )


def foreseen_triplets(root, together, *models):
    """The table once all that is planned together is materialized."""
    with plan_context(root) as sources:
        steps = build_steps(Catalog((GRAMMAR, *models)))
        return planned_table(steps, sources.with_planned(together), TRIPLETS, DOMAIN)


def talk(writer, concept, *outcomes):
    """How a triplet ends after these outcomes; what is asked next where it goes on."""
    conversation = write_triplet(writer, concept, {})
    request = next(conversation)
    for number, outcome in enumerate(outcomes):
        try:
            request = conversation.send(StepReply(outcome, (f"call {number}",)))
        except StopIteration as end:
            assert number == len(outcomes) - 1
            return end.value
    return request


@pytest.fixture(scope="module")
def first(tmp_path_factory):
    """A data root in which a writer has erred in all these ways; not to be changed."""
    root, author = tmp_path_factory.mktemp("written"), Author(concepts())
    author.mistakes = dict(zip(IDS, MENDED + LAST, strict=False))
    with Provider(author) as server, pytest.MonkeyPatch.context() as patch:
        patch.setenv("OPENAI_API_KEY", "sk-for-tests")
        patch.setenv("DAGSTER_HOME", str(root))
        writer = writer_at(server)
        plans = planned(root, writer), planned(root, writer, NUMBER)
        made = must(root, "concepts", "prompt_triplets", models=[writer])
    return SimpleNamespace(root=root, plans=plans, made=made, server=server)


@pytest.fixture
def writer(server):
    """Somebody who errs no more, for whoever was asked before."""
    server.answer = Author(concepts())
    return writer_at(server)


def test_before_anything_is_asked_the_rest_is_bounded(first):
    without, (certain, later, missing) = first.plans
    assert without == (set(), 0, "protobias/concepts")
    # Two more times at most, each of which may be asked for JSON once more.
    assert (len(certain), later, missing) == (NUMBER, NUMBER * 2 * 2, None)


def test_each_triplet_ends_in_one_way_with_its_reason(first):
    written = rows(first.root)
    assert list(written["concept_id"]) == IDS
    assert list(written["outcome"]) == ENDS
    assert list(written["attempts"]) == [2] * 7 + [3, 3, 1, 1, 1, 2, 3, 1]
    assert list(written["calls"].map(len)) == [2] * 7 + [3, 3, 2, 2, 1, 1, 4, 1]
    broken_now = {place: list(rules) for place, rules in enumerate(written["rules"]) if len(rules)}
    assert broken_now == {8: ["words", "correct", "adversarial"], 12: ["correct"]}
    for rule, earlier in zip(RULES, written["earlier_rules"], strict=False):
        assert rule in earlier
    said = written["reason"]
    assert said[written["outcome"] == "accepted"].isna().all()
    assert "text has more than 30 words" in said[8]
    assert "no JSON" in said[10]
    assert said[11].startswith("model: ")
    assert said[12]
    assert list(written["text"][:2]) == [right(concept).text for concept in concepts(2)]


def test_a_writer_is_told_what_is_wrong_in_the_same_conversation(first):
    conversations = (each for each in first.server.received if len(each.texts) == 5)
    third = next(each for each in conversations if "knob: " in each.texts[2])
    assert json.loads(third.texts[1])["text"]
    assert third.texts[2].startswith("These sentences break rules. ")
    assert "knob: text has to" in third.texts[2]
    assert "label: text may not" in third.texts[4]
    assert "in the same format" in third.texts[4]


def test_retention_is_told_by_knob_and_rule(first):
    about = metadata(first.made, "prompt_triplets", "protobias")
    assert (about["accepted"], about["rejected"]) == (11, 1)
    assert about["requests_sent"] == first.server.count
    assert "| all | 15 | 2 | 11 | 73.3% |" in about["by_knob"]
    assert "| words | 2 | 1 | 1 | 93.3% |" in about["by_rule"]
    assert "| opening | 0 | 0 | 0 | 100.0% |" in about["by_rule"]
    held = {"accepted_triplets_hold": True, "every_concept_has_a_triplet": False}
    assert checks(first.made) == held


def test_only_what_failed_is_asked_again_as_planned(first, tmp_path, server, writer):
    root = copied(first.root, tmp_path / "root")
    before = stored(root)
    certain, later, _ = planned(root, writer)
    assert (len(certain - before), later) == (1, 1 * 2)
    must(root, "prompt_triplets", models=[writer])
    assert stored(root) - before == certain - before
    assert server.count == 1
    assert [end for end in rows(root)["outcome"] if end != "accepted"] == [
        *("rejected", "malformed", "refused"),
    ]
    with plan_context(root) as sources:
        tasks = [Task(TRIPLETS, DOMAIN, {"writer": "author"})]
        (line,) = quote_tasks(planners(Catalog((GRAMMAR, writer))), sources, tasks).lines
    # What was asked for once more, for its schema, is counted by the quote itself.
    assert (line.to_send, line.follow_ups, line.stored) == (0, 0, len(stored(root)))
    done = rows(root)
    must(root, "prompt_triplets", models=[writer])
    assert server.count == 1
    assert rows(root).equals(done)


def test_what_follows_a_repair_that_failed_is_bounded(tmp_path, server, writer):
    (only,) = concepts(1)
    server.answer.mistakes = {only.concept_id: ["prose", "failure"]}
    must(tmp_path, "concepts", instances=1)
    must(tmp_path, "prompt_triplets", models=[writer])
    assert list(rows(tmp_path)["outcome"]) == ["failed"]
    # The repair, which a quote counts by itself, may break a rule: two more, each with its own.
    certain, later, _ = planned(tmp_path, writer)
    assert (certain, later) == (stored(tmp_path), 2 * 2)
    found = foreseen_triplets(tmp_path, {(TRIPLETS, DOMAIN): {"writer": "author"}}, writer)
    assert list(found["outcome"]) == [PENDING]


def test_a_part_of_the_concepts_is_planned_sent_and_counts_later(tmp_path, server, writer):
    must(tmp_path, "concepts")
    some, later, _ = planned(tmp_path, writer, limit=4)
    assert (len(some), later) == (4, 4 * 2 * 2)
    made = must(tmp_path, "prompt_triplets", models=[writer], limit=4)
    assert stored(tmp_path) == some
    assert server.count == 4
    assert metadata(made, "prompt_triplets", "protobias")["partial"] == f"4 of {NUMBER} concepts"
    more, _, _ = planned(tmp_path, writer, limit=9)
    assert some < more
    must(tmp_path, "prompt_triplets", models=[writer])
    assert stored(tmp_path) > more
    assert server.count == NUMBER


def test_grammar_writes_real_triplets_and_asks_no_model(tmp_path, writer):
    """Known before it is asked; a table that was changed by hand is told, by concept and rule."""
    together = {(CONCEPTS_KEY, DOMAIN): {"instances": 6}, (TRIPLETS, DOMAIN): {}}
    foreseen = select_accepted(foreseen_triplets(tmp_path, together))
    other = together | {(TRIPLETS, DOMAIN): {"writer": "author"}}
    assert set(foreseen_triplets(tmp_path, other, writer)["outcome"]) == {PENDING}
    assert foreseen_triplets(tmp_path, {}, writer) is None
    assert foreseen == [(concept, right(concept)) for concept in concepts(6)]
    made = must(tmp_path, "concepts", "prompt_triplets", writer="grammar", instances=6)
    assert set(checks(made).values()) == {True}
    assert select_accepted(rows(tmp_path)) == foreseen
    certain, later, _ = planned(tmp_path, GRAMMAR)
    assert (certain, later) == (stored(tmp_path), 0)
    emptied = rows(tmp_path)
    emptied.at[0, "labels"] = None
    with pytest.raises(TablesMismatch, match="labels: empty"):
        select_accepted(emptied)

    def spoiled(written):
        written[1]["correct"] = "A robin is here."
        written[2]["outcome"] = "rejected"
        written[3]["outcome"] = "acepted"
        return [*written, written[0]]

    rewrite(table(tmp_path, "prompt_triplets", DOMAIN, "protobias"), spoiled)
    with pytest.raises(TablesMismatch) as raised:
        select_accepted(rows(tmp_path))
    said = str(raised.value)
    first, second, third, fourth = (concept.concept_id for concept in concepts(4))
    assert f"{fourth} (outcome: 'acepted' is none of accepted, rejected" in said
    assert f"{second} (correct: correct has to read" in said
    assert f"{first} (stands there 2 times)" in said
    assert third not in said
    assert "set their outcome to rejected" in said
    wrong = find_broken_rows(
        COLUMNS.build_table(rows(tmp_path)).to_pylist(),
        CONCEPTS.build_table(rows(tmp_path, "concepts")).to_pylist(),
    )
    assert list(wrong["row"]) == [first, second]


def test_a_local_writer_is_held_to_the_schema_as_well():
    (concept,) = concepts(1)
    local = Model(name="m", backend="transformers", model="m", family="m", roles=("writer",))
    schema = json.loads(talk(local, concept).schema)
    assert set(schema["required"]) == set(right(concept)._asdict())


def test_spaces_and_hyphens_that_models_write_are_no_faults():
    (told,) = concepts(1)
    sentences = {name: f" {said}\n" for name, said in right(told)._asdict().items()}
    sentences["correct"] = sentences["correct"].replace(" is", "\u00a0is")
    row = talk(GRAMMAR, told, AnsweredOutcome(json.dumps(sentences), data=sentences))
    assert row["outcome"] == "accepted"
    assert right(told)._asdict().items() <= row.items()
    assert tidy_sentence("An e\u2011scooter") == "An e-scooter"


def test_what_is_said_of_faults_fits_its_bound():
    (concept,) = concepts(1)
    request = first_request(GRAMMAR, concept)
    told = build_retry(request, "", "ü" * LONGEST_FEEDBACK).turns[-1].text
    most = build_retry(request, "", "?" * LONGEST_FEEDBACK).turns[-1].text
    assert "ü" in told
    assert len(told.encode()) <= len(most.encode())


def test_a_smaller_sample_is_the_beginning_of_a_larger_one_in_every_domain():
    for domain in DOMAINS:
        larger = list(sample_domain_concepts(domain, ProtoConceptsConfig(instances=40)))
        assert (
            list(sample_domain_concepts(domain, ProtoConceptsConfig(instances=15))) == larger[:15]
        )
        assert len({concept.concept_id for concept in larger}) == 40
        stored_rows = [asdict(concept) | {"sample_rank": 0, "seed": 0} for concept in larger]
        again = CONCEPTS.build_table(CONCEPTS.build_table(stored_rows).to_pandas()).to_pylist()
        assert [to_concept(row) for row in again] == larger


def test_triplets_of_a_file_go_the_way_of_all_and_bad_rows_are_named(tmp_path):
    """As foreseen by the plan; under ids of their own, which every later step takes."""
    path = tmp_path / "mine.jsonl"
    path.write_text("\n".join(json.dumps(row) for row in (OWN, OWN | {"correct": OWN["text"]})))
    config = {"triplets_file": str(path)}
    together = {(CONCEPTS_KEY, DOMAIN): {"instances": 2}, (TRIPLETS, DOMAIN): config}
    foreseen = select_accepted(foreseen_triplets(tmp_path, together))
    result = materialize(
        tmp_path,
        *("concepts", "prompt_triplets"),
        group="protobias",
        topic=DOMAIN,
        models=[*STAND_INS, GRAMMAR],
        config={"concepts": {"instances": 2}, "prompt_triplets": config},
    )
    assert result.success, failure(result)
    assert set(checks(result).values()) == {True}
    assert select_accepted(rows(tmp_path)) == foreseen
    assert foreseen[2][0].concept_id.startswith("animals/own/axolotl-goldfish/count/")
    about = metadata(result, "prompt_triplets", "protobias")
    assert about["own"] == 1
    assert "| line 2 | correct: correct has to read" in about["own_rows_not_used"]


def test_too_many_concepts_and_a_taxonomy_that_is_not_there_are_told(tmp_path, monkeypatch):
    said = failure(run(tmp_path, "concepts", instances=10_000_000))
    assert "10,000,000 concepts of animals are asked for" in said
    monkeypatch.setenv("COUNTERFACTORY_TAXONOMY", str(tmp_path / "none.yaml"))
    with pytest.raises(TaxonomyError, match=r"none\.yaml is not there"):
        sample_domain_concepts(DOMAIN, ProtoConceptsConfig())
