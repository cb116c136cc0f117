"""Scores of pairs: stand-in judges whose results are known, and a judge over real HTTP."""

import math
from collections import Counter

import pandas as pd
import pytest
from dagster import AssetKey, DagsterInstance

from assets.kit.benchmarks import build_planners as planners
from assets.kit.table_asset import TablesMismatch
from assets.protobias.human_scores import HUMAN_SCORES
from assets.protobias.image_pairs import IMAGE_PAIRS
from assets.protobias.retention import count_retention
from assets.protobias.score_table import load_all_scores
from assets.protobias.scorers import STAND_IN_ANSWERS, build_request, formula_name, parse_outcome
from assets.protobias.scores import SCORES, PairScores
from generators.prompts.rating_prompts import write_rating_prompt
from generators.sketch_fit import FitQuestion, read_fit
from metrics.protobias.ranking import ranking_table
from resources.calls import StoredAnswer
from resources.models.catalog import Catalog, Model
from resources.models.outcomes import AnsweredOutcome, read_outcome
from resources.models.requests import compute_call_keys
from resources.storage.data_root import DataRoot
from resources.storage.image_store import ImageStore
from tests.assets.asked import judge_at
from tests.assets.filtered import filtered_rows, write_filtered
from tests.assets.paired import SKETCH, write_triplets
from tests.assets.plans import plan_context, stored
from tests.assets.works import problems
from tests.providers import faults
from tests.runs import (
    STAND_INS,
    checks,
    copied,
    failure,
    materialize,
    metadata,
    rewrite,
    table,
    warned,
)

PAIRS = {"animals": 5, "objects": 3}
GRAMMAR = Model(
    name="grammar", backend="stand_in", model="grammar", family="own", roles=("writer",)
)
CLIP = Model(
    name="clip",
    backend="transformers",
    model="openai/clip-vit-large-patch14",
    family="clip",
    roles=("metric",),
    parameters={"formula": "clip_score"},
)


def score(root, instance, *names, domain="animals", models=STAND_INS):
    """Materialize scores of one of `sketch`'s domains; without a domain, its summary."""
    result = materialize(
        root,
        *(f"scores_{name}" if domain else name for name in names),
        topic=f"{domain}|sketch" if domain else "sketch",
        models=[*models, SKETCH],
        instance=instance,
        group="protobias",
    )
    assert result.success, failure(result)
    return result


def scores(root, name, domain="animals"):
    return pd.read_parquet(scores_path(root, name, domain))


def scores_path(root, name, domain="animals"):
    return table(root, f"scores_{name}/{domain}", "sketch", "protobias")


@pytest.fixture(scope="module")
def stood_in(tmp_path_factory):
    """Two domains, scored by the stand-in judges and summarised; not to be changed."""
    root = tmp_path_factory.mktemp("stood_in")
    with DagsterInstance.ephemeral() as instance:
        instance.add_dynamic_partitions("painters", ["sketch"])
        for domain, number in PAIRS.items():
            write_filtered(root, domain, filtered_rows(root, domain, number))
            result = score(root, instance, "prior", "pixels", "random", domain=domain)
            assert set(checks(result).values()) == {True}
        return root, score(root, instance, "summary", domain=None), warned(instance)


@pytest.fixture
def root(stood_in, tmp_path):
    """A copy of it."""
    return copied(stood_in[0], tmp_path / "root")


@pytest.fixture
def painted(instance):
    """A Dagster instance that knows the painter."""
    instance.add_dynamic_partitions("painters", ["sketch"])
    return instance


class TestReferenceJudges:
    def test_who_reads_never_fails_and_who_prefers_the_prototype_always_does(self, stood_in):
        root, result, said = stood_in
        summary = pd.read_parquet(root / "protobias" / "summary" / "sketch.parquet")
        whole = summary[(summary["knob"] == "all") & (summary["concept"] == "all")]
        found = whole.set_index(["metric", "domain"])
        for domain, pairs in {**PAIRS, "all": 8}.items():
            reader, prior = found.loc[("pixels", domain)], found.loc[("prior", domain)]
            assert (reader["pairs"], reader["failure_rate"], reader["sc"]) == (pairs, 0.0, 1.0)
            assert 0 < reader["correct_margin"] == pytest.approx(reader["delta"])
            assert math.isnan(reader["incorrect_margin"])
            assert (prior["failure_rate"], prior["delta"]) == (1.0, -1.0)
            assert prior["incorrect_margin"] == 1.0
        assert summary["is_stand_in"].all()
        assert set(summary["sample"]) == {"evaluated"}
        missing = metadata(result, "summary", "protobias")["missing"]
        assert missing == dict.fromkeys(["prior", "pixels", "random"], "demography")
        assert "prior has not scored demography of sketch yet" in said

    def test_its_metadata_show_both_sides_of_a_few_pairs(self, root, painted):
        result = score(root, painted, "prior")
        shown = metadata(result, "scores_prior", "protobias")["sample"]
        pairs = {row.split(" | ")[0] for row in shown.splitlines()[2:]}
        assert 1 < len(pairs) <= 5
        assert shown.count("| correct |") == shown.count("| adversarial |") == len(pairs)

    def test_who_guesses_fails_on_a_half_and_guesses_the_same_again(self):
        rows = [{"sha256": f"{at:064x}", "text": "An animal."} for at in range(4000)]
        first, again = (
            [STAND_IN_ANSWERS["random"](row, None)["raw"] for row in rows] for _ in range(2)
        )
        assert first == again
        fails = sum(one <= other for one, other in zip(first[::2], first[1::2], strict=True))
        assert fails / 2000 == pytest.approx(0.5, abs=0.04)

    def test_what_cannot_be_read_is_unparsed_and_never_low(self, stood_in):
        root, *_ = stood_in
        (row, *_) = scores(root, "pixels").to_dict("records")
        for text in ("Nothing is told here.", row["text"]):
            fit = read_fit(FitQuestion(ImageStore(root=str(root)).get(row["sha256"]), text))
            ending = STAND_IN_ANSWERS["pixels"](row | {"fit": fit}, None)
            assert ending["outcome"] == ("scored" if text == row["text"] else "unparsed")
            assert (ending.get("raw") is None) == (ending["outcome"] == "unparsed")
        assert ending["raw"] == 1.0

    def test_what_is_left_after_each_step(self, root):
        table = count_retention(DataRoot(root=str(root)), "sketch", STAND_INS)
        whole = table[table["knob"] == "all"].set_index(["domain", "stage"])
        assert whole["number"].to_dict() == {
            (domain, stage): pairs
            for domain, pairs in PAIRS.items()
            for stage in ("kept", "evaluated", "scored")
        }
        of_knobs = table[table["knob"] != "all"].groupby(["domain", "stage"])["number"].sum()
        assert of_knobs.to_dict() == whole["number"].to_dict()


@pytest.fixture
def judge(server):
    """A model of a provider, which gives a 3 to whatever it is shown."""
    server.answer = lambda received: 'It is nearly right. {"score": 3}'
    return judge_at(server)


class TestJudge:
    def test_both_sides_are_sent_to_it_in_the_words_of_table_6_with_one_text(
        self, root, painted, judge, server
    ):
        texts = list(dict.fromkeys(scores(root, "prior")["text"]))
        wrong = dict(zip(texts, (faults.REFUSED, None, "Not sure.", '{"score": 7}'), strict=False))
        wrong[texts[1]] = faults.INVALID_REQUEST
        said = {write_rating_prompt(text): reply for text, reply in wrong.items()}
        usual = server.answer
        server.answer = lambda received: said.get(received.texts[0], usual(received))
        judges = [*STAND_INS, judge]
        result = score(root, painted, "somebody", models=judges)
        assert checks(result)["nothing_failed"] is False
        asked = Counter(each.texts for each in server.received)
        assert asked == {(write_rating_prompt(text),): 2 for text in texts}
        assert all(len(each.images) == 1 for each in server.received)
        assert len({each.images for each in server.received}) == 10
        rows = scores(root, "somebody")
        ends = dict(zip(rows["text"], rows["outcome"], strict=True))
        assert list(ends.values()) == ["refused", "failed", "unparsed", "unparsed", "scored"]
        assert set(rows["refusal"].dropna()) == {"model"}
        assert rows["raw"].dropna().tolist() == [3.0, 3.0]
        assert "Its score is 7, not from 1 to 4." in set(rows["reason"])
        told = metadata(result, "scores_somebody", "protobias")
        assert (told["pairs"], told["pairs_scored"], told["ties"]) == (5, 1, 1)
        assert told["failure_rate"] == 1.0
        assert told["served_models"] == ["some-vlm-1"]

        said, count = {}, server.count
        result = score(root, painted, "somebody", models=judges)
        assert server.count == count + 2, "what failed, and nothing else, is sent again"
        told = metadata(result, "scores_somebody", "protobias")
        assert (told["requests_sent"], told["requests_known_before"]) == (2, 8)
        unmet = {name for name, passed in checks(result).items() if not passed}
        assert unmet == {"unparsed_rate"}, "four of ten stay refused or unparsed"
        assert stored(root) == planned(root, judge)[0], "what is planned is what was sent"

    def test_a_painter_of_whose_pairs_none_is_kept_is_no_failure(
        self, tmp_path, painted, judge, server
    ):
        write_filtered(tmp_path, "animals", [])
        result = score(tmp_path, painted, "somebody", models=[judge])
        assert set(checks(result).values()) == {True}
        assert "evaluates no pair, so that there is nothing to score" in warned(painted)
        assert (server.count, len(scores(tmp_path, "somebody"))) == (0, 0)
        score(tmp_path, painted, "summary", domain=None, models=[judge])
        assert pd.read_parquet(tmp_path / "protobias" / "summary" / "sketch.parquet").empty


@pytest.mark.parametrize(
    ("answer", "ending"),
    [
        ({"score": 0.27, "text": None}, ("scored", 0.27)),
        ({"score": 0.5, "text": "0.5"}, ("scored", 0.5)),
        ({"score": None, "text": "It fits well."}, ("unparsed", None)),
    ],
)
def test_a_metric_that_gives_no_number_is_unparsed(answer, ending):
    request = build_request(CLIP, "An animal.", "0" * 64)
    stored = StoredAnswer(
        "key", {"outcome": "answered", "images": [], **answer}, "clip@1", None, None
    )
    found = parse_outcome(read_outcome(stored, request))
    assert (found["outcome"], found.get("raw")) == ending
    assert (found.get("reason") is None) == (ending[0] == "scored")
    assert (found["response"], found["served_model"]) == (answer["text"], "clip@1")
    assert formula_name(CLIP) == "clip_score"


def planned(root, judge, **together):
    """Certain keys, how many are later, and what is missing."""
    catalog = Catalog((judge, SKETCH, GRAMMAR, *STAND_INS))
    config = {
        (
            AssetKey(["protobias", name]),
            "animals|sketch" if name.endswith("pairs") else "animals",
        ): of
        for name, of in together.items()
    }
    with plan_context(root) as sources:
        planner = planners(catalog)[AssetKey(["protobias", "scores_somebody"])]
        (plan,) = planner(sources.with_planned(config), "animals|sketch", {})
        certain = set(compute_call_keys(judge, plan.requests))
        return certain, sum(1 for _ in plan.possible_requests), plan.missing_asset


def test_a_judge_that_declines_in_words_has_refused():
    judge = CLIP.model_copy(update={"roles": ("judge",), "parameters": {}})
    found = parse_outcome(AnsweredOutcome(text="I'm sorry, but I can't assist with that."))
    assert (found["outcome"], found["refusal"], found["raw"]) == ("refused", "model", None)
    assert found["response"].startswith("I'm sorry")
    assert formula_name(judge) == "judge"


def write_pictures(root, number=PAIRS["animals"]):
    """Store pictures of the first pairs, as those that are there to filter."""
    rows = IMAGE_PAIRS.build_table(pd.read_parquet(filtered_path(root)).head(2 * number))
    path = table(root, "image_pairs/animals", "sketch", "protobias")
    path.parent.mkdir(parents=True)
    rows.to_pandas().to_parquet(path)


def filtered_path(root):
    return table(root, "filtered_pairs/animals", "sketch", "protobias")


class TestPlans:
    def test_a_filter_that_is_planned_as_well_leaves_what_it_left(self, root, judge):
        write_pictures(root)
        certain, later, _ = planned(root, judge, filtered_pairs={"evaluated": 6})
        assert (len(certain), later) == (2 * 2, 0)
        anew = planned(root, judge, filtered_pairs={"filter": "somebody"})
        assert anew == (set(), 2 * PAIRS["animals"], None)

    def test_other_pictures_than_were_filtered_are_certain_once_they_are_rated(self, root, judge):
        write_pictures(root, 3)
        certain, later, _ = planned(root, judge, filtered_pairs={})
        assert (len(certain), later) == (2 * 3, 0)
        plan = planned(root, judge, filtered_pairs={"filter": "somebody"})
        assert plan == (set(), 2 * 3, None)

    def test_what_no_model_writes_can_be_counted_before_it_is_written(self, tmp_path, judge):
        few = {"concepts": {"instances": 4}, "prompt_triplets": {}, "image_pairs": {"samples": 2}}
        assert planned(tmp_path, judge, **few) == (set(), 2 * 4 * 2, None)

    def test_before_there_are_pairs_it_is_at_most_as_many_as_there_may_be(self, tmp_path, judge):
        assert planned(tmp_path, judge) == (set(), 0, "protobias/prompt_triplets")
        write_triplets(tmp_path, 4)
        assert planned(tmp_path, judge) == (set(), 2 * 4 * 5, None)
        few = {"image_pairs": {"samples": 2}, "filtered_pairs": {"evaluated": 20}}
        assert planned(tmp_path, judge, **few) == (set(), 2 * 7, None)


class TestAllScores:
    @pytest.fixture
    def home(self, root):
        return DataRoot(root=str(root))

    def test_people_are_compared_with_metrics_on_the_pairs_that_they_scored(self, root, home):
        pictures = [
            row for domain in PAIRS for row in scores(root, "prior", domain).to_dict("records")
        ]
        given = {"correct": (4, 3), "adversarial": (1, 1)}
        # Both sides of two pairs of animals, one side of a third.
        self.people(root, [(row, given[row["side"]]) for row in pictures[:5]])
        found = load_all_scores(home, "sketch", STAND_INS)
        human = found[found["sample"] == "human"]
        assert Counter(human["metric"]) == {"prior": 4, "pixels": 4, "random": 4, "human": 4}
        assert len(found[found["sample"] == "evaluated"]) == 3 * 2 * 8
        rows = ranking_table(human)
        by = rows.set_index(["sample", "metric", "domain", "knob", "concept"])
        people = by.loc[("human", "human", "all", "all", "all")]
        assert (people["pairs"], people["unscored"]) == (2, 0)
        assert (people["sc"], people["pa"]) == pytest.approx((2.5 / 3, 0.0))
        assert by.loc[("human", "prior", "all", "all", "all")]["pairs"] == 2

    def people(self, root, given):
        """Store what people said of pictures: rows, and scores by annotator."""
        rows = [
            dict.fromkeys(HUMAN_SCORES.columns)
            | {name: picture[name] for name in HUMAN_SCORES.columns if name in picture}
            | {"annotator": f"a{number}", "score": score}
            for picture, said in given
            for number, score in enumerate(said)
        ]
        path = table(root, "human_scores", "sketch", "protobias")
        path.parent.mkdir()
        HUMAN_SCORES.build_table(rows).to_pandas().to_parquet(path)

    def test_people_who_scored_other_pictures_are_not_mixed_in(self, root, home):
        (picture, *_) = scores(root, "prior").to_dict("records")
        self.people(root, [(picture | {"sha256": "0" * 64}, (4,))])
        with pytest.raises(TablesMismatch, match=r"human_scores \(sketch\) holds 1 picture"):
            load_all_scores(home, "sketch", STAND_INS)

    def test_scores_of_other_pairs_than_now_are_refused(self, root, home):
        write_filtered(root, "animals", filtered_rows(root, "animals", 2))
        with pytest.raises(
            TablesMismatch, match=r"scores_prior \(sketch, animals\) has scored older"
        ):
            load_all_scores(home, "sketch", STAND_INS)

    def test_another_filter_that_keeps_the_same_pairs_has_other_kin(self, root, home):
        for domain in PAIRS:
            rewrite(
                table(root, f"filtered_pairs/{domain}", "sketch", "protobias"),
                lambda rows: [row | {"filter_family": "another"} for row in rows],
            )
        assert load_all_scores(home, "sketch", STAND_INS[:1])["same_family"].eq(False).all()

    @pytest.mark.parametrize(
        ("change", "said"),
        [
            ({"entry_version": "x"}, "not all painted by one entry .*image_pairs again"),
            ({"filter": "x"}, "not all filtered by one model: .*filtered_pairs, with one filter"),
            ({"min_score": 5}, "not all kept from one score on: .*with one limit, again"),
        ],
    )
    def test_domains_that_were_made_in_different_ways_are_refused(self, root, home, change, said):
        known = {"entry_version": "w", "filter": "pixels", "min_score": 8}
        for domain, new in dict(zip(PAIRS, (known, known | change), strict=True)).items():
            path = table(root, f"filtered_pairs/{domain}", "sketch", "protobias")
            rewrite(path, lambda rows, new=new: [row | new for row in rows])
        with pytest.raises(TablesMismatch, match=said):
            load_all_scores(home, "sketch", STAND_INS)

    def test_scores_by_two_entries_are_refused(self, root, home):
        rewrite(
            scores_path(root, "prior"),
            lambda rows: [row | {"entry_version": "before"} for row in rows],
        )
        with pytest.raises(
            TablesMismatch, match=r"scores_prior \(sketch\) come from several versions"
        ):
            load_all_scores(home, "sketch", STAND_INS)


def test_rows_that_are_wrong_are_named(stood_in):
    root, *_ = stood_in
    good = SCORES.build_table(scores(root, "prior")).to_pylist()
    filtered = pd.read_parquet(table(root, "filtered_pairs/animals", "sketch", "protobias"))
    step = PairScores(Catalog(()), STAND_INS[0])
    assert problems(step, good, filtered_pairs=filtered) == []
    changed = [dict(row) for row in good]
    changed[0]["raw"] = None
    changed[1]["outcome"] = "lost"
    changed[2]["text"] = "Another text."
    wrong = problems(step, [*changed[:-1], changed[3]], filtered_pairs=filtered)
    assert sorted(problem for _, problem in wrong) == [
        *("0 rows", "0 rows", "1 rows", "2 rows", "ended as lost", "ended as scored"),
    ]
