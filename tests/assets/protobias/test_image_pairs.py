"""Image pairs and filtered pairs over real HTTP: flaws, seeds, what is kept and evaluated."""

import io
from collections import Counter

import pytest
from dagster import AssetKey, DagsterInstance
from PIL import Image

from assets.kit.benchmarks import build_planners as planners
from assets.kit.model_lookup import NoSuchModel
from assets.kit.upstream_calls import collect_calls, find_call_columns
from assets.planning import Task, format_text, quote_tasks
from assets.protobias.filtered_pairs import FILTERED_COLUMNS, FilteredPairs
from assets.protobias.filters import family_warning, find_filter
from assets.protobias.image_pairs import IMAGE_PAIRS, ImagePairs, ImagePairsConfig, list_pictures
from assets.protobias.prompt_triplets import TRIPLETS as TRIPLETS_TABLE
from assets.protobias.selection import assign_ranks, domain_share
from generators.prompts.concepts import DOMAINS
from resources.models.catalog import Catalog, Model
from resources.models.requests import PaintRequest
from resources.settings.run_config import BadConfig
from tests.assets.paired import (
    DOMAIN,
    SKETCH,
    STEPS,
    Gallery,
    Studio,
    concepts_of,
    filter_at,
    painter_at,
    triplet_rows,
)
from tests.assets.plans import plan_context, stored
from tests.assets.works import problems
from tests.assets.written import right
from tests.providers import faults, pictures
from tests.runs import STAND_INS, checks, failure, metadata, rewrite, table

RANKS = "are not 0, 1, 2, … of the kept pairs"
FIRST = "are not the first of the kept pairs"
ENDED = {"every_row_ended": True, "usable_share": True}
GEMINI = Model(name="g", backend="gemini", model="g-1", family="g", roles=("painter",))


def black():
    file = io.BytesIO()
    Image.new("RGB", (64, 64), (3, 0, 2)).save(file, "PNG")
    return file.getvalue()


@pytest.fixture(scope="module")
def sketched(tmp_path_factory):
    """Ten pairs that were drawn and read, and the run that did it."""
    with DagsterInstance.ephemeral() as instance:
        studio = Studio(tmp_path_factory.mktemp("sketched"), instance, SKETCH, number=5)
        yield (
            studio,
            studio.must(image_pairs={"samples": 2, "seed": 3}, filtered_pairs={"evaluated": 10}),
        )


class TestSketch:
    def test_from_triplets_to_an_evaluation_set(self, sketched):
        studio, result = sketched
        assert checks(result) == ENDED
        rows = studio.table("filtered_pairs")
        assert len(rows) == 5 * 2 * 2 == rows["image_id"].nunique()
        assert rows["seed"].tolist() == [3, 3, 4, 4] * 5
        assert rows["sample"].tolist() == [0, 0, 1, 1] * 5
        assert set(rows["filter"]) == {"pixels"}
        assert set(rows["min_score"]) == {8}
        assert rows["entry_version"].nunique() == 1
        assert set(rows["filter_score"]) == {10}
        assert rows["is_stand_in"].all()
        assert rows["provenance"].isna().all()
        evaluated = rows[rows["evaluated"]]
        assert len(evaluated) == 4 * 2
        assert evaluated["concept_id"].nunique() == 4, "no second pair of a concept yet"
        assert sorted(rows["rank"]) == sorted([*range(10)] * 2)
        told = metadata(result, "filtered_pairs", "protobias")
        assert (told["pairs"], told["pairs_kept"], told["pairs_evaluated"]) == (10, 10, 4)
        assert "| animals | sketch | 10 | 10 | 10 | 10 | 100.0 |" in told["retention_by_painter"]
        assert metadata(result, "image_pairs", "protobias")["contact_sheet"].count("](data:") == 20

    @pytest.mark.parametrize(
        ("change", "expected"),
        [
            ({}, set()),
            ({"outcome": "pending"}, {"ended as pending"}),
            ({"sha256": None}, {"ended as painted"}),
            ({"reason": "why"}, {"ended as painted"}),
            ({"outcome": "flawed", "reason": "why"}, {"ended as flawed"}),
            ({"outcome": "refused", "reason": "why", "refusal": "model"}, {"ended as refused"}),
            ({"seed": 5}, {"has several seeds"}),
            ({"prompt": "A cat."}, {"has another prompt than its triplet"}),
            ({"side": "text"}, {"0 rows", "1 rows"}),
        ],
    )
    def test_pairs_that_do_not_fit_are_found(self, sketched, change, expected):
        rows = IMAGE_PAIRS.build_table(sketched[0].table("image_pairs")).to_pylist()
        triplets = TRIPLETS_TABLE.build_table(triplet_rows(sketched[0].concepts)).to_pandas()
        changed = [rows[0] | change, *rows[1:]]
        step = ImagePairs(Catalog(()))
        found = problems(step, changed, {"samples": 2}, prompt_triplets=triplets)
        assert {problem for _, problem in found} == expected

    @pytest.mark.parametrize(
        ("change", "expected"),
        [
            ({}, set()),
            ({"filter_score": None}, {"ended as scored"}),
            (
                {"filter_outcome": "unparsed", "filter_score": None, "filter_reason": "why"},
                {"ended as unparsed, kept: True"},
            ),
            ({"outcome": "flawed"}, {"ended as scored, kept: True"}),
            ({"kept": False}, {"is kept or ranked apart from its pair", RANKS}),
            ({"rank": 99}, {RANKS}),
            ({"evaluated": "flip"}, {FIRST}),
            ({"rank": None}, {"is kept or ranked apart from its pair"}),
            ({"pair_id": "other"}, {"0 rows", "1 rows", RANKS}),
        ],
    )
    def test_filtered_pairs_that_do_not_fit_are_found(self, sketched, change, expected):
        pictures = sketched[0].table("image_pairs")
        rows = FILTERED_COLUMNS.build_table(sketched[0].table("filtered_pairs")).to_pylist()
        if "evaluated" in change:
            change = {"evaluated": not rows[0]["evaluated"]}
        changed = [rows[0] | change, *rows[1:]]
        found = problems(FilteredPairs(Catalog(())), changed, image_pairs=pictures)
        assert {problem for _, problem in found} == expected


@pytest.fixture
def studio(tmp_path, instance, server):
    """A painter and a filter of a provider, and triplets of six concepts."""
    server.answer = Gallery()
    return Studio(tmp_path / "root", instance, painter_at(server), filter_at(server))


def sent(server, since=0):
    return Counter(each.task for each in server.received[since:])


class TestAProvider:
    def test_flaws_refusals_and_failures_are_rows_and_are_not_looked_at(self, studio, server):
        texts = [right(concept) for concept in studio.concepts]
        shared = pictures.png("shared")
        server.answer.painting = {
            texts[0].correct: pictures.png("small", 32, 32),
            texts[1].adversarial: black(),
            texts[2].correct: pictures.png("the same whatever the sample"),
            texts[3].correct: shared,
            texts[4].correct: shared,
            texts[5].correct: faults.CONTENT_POLICY,
            texts[5].adversarial: faults.TRUNCATED_PNG,
        }
        server.answer.saying = {
            texts[0].adversarial: "I would say eight.",
            texts[1].correct: faults.REFUSED,
            texts[2].adversarial: '{"score": 7}',
            texts[3].adversarial: '{"score": 11}',
        }
        result = studio.must(image_pairs={"samples": 2})
        assert checks(result) == {"every_row_ended": True, "usable_share": False}
        rows = studio.table("filtered_pairs")
        ends = rows.groupby(["prompt", "sample"]).agg("first")
        assert ends.loc[texts[0].correct]["flaw"].tolist() == ["wrong size"] * 2
        assert ends.loc[texts[1].adversarial]["flaw"].tolist() == ["blank"] * 2
        assert ends.loc[texts[2].correct]["outcome"].tolist() == ["painted", "flawed"]
        assert ends.loc[texts[3].correct]["flaw"].tolist() == ["repeated"] * 2
        assert ends.loc[texts[5].correct]["outcome"].tolist() == ["refused"] * 2
        assert ends.loc[texts[5].adversarial]["outcome"].tolist() == ["malformed"] * 2
        said = ends.loc[(texts[3].correct, 0)]["reason"]
        assert studio.concepts[4].concept_id in said
        assert said.endswith("(correct) (another prompt).")
        said = ends.loc[(texts[2].correct, 1)]["reason"]
        assert said == (
            f"It is identical, pixel for pixel, to {studio.concepts[2].concept_id}/0 (correct) "
            "(another sample)."
        )
        said = ends.loc[(texts[0].correct, 0)]["reason"]
        assert said == "It is 32 × 32 px, but a width of 64 px was requested."
        assert rows["seed"].isna().all()
        outcomes = dict(rows["filter_outcome"].value_counts())
        assert outcomes == {"unpainted": 13, "scored": 5, "unparsed": 4, "refused": 2}
        assert sent(server)["text"] == 24 - 13
        decided = rows["decided_by"].eq("rule")
        assert decided.tolist() == rows["outcome"].eq("flawed").tolist()
        assert metadata(result, "filtered_pairs", "protobias")["decided_by_rule"] == (
            "4 requests decided by rule, not sent; what they would have cost is unknown"
        ), "of 9 pictures, with 5 pairs of prompt and bytes, one of which was sent for another"
        assert rows.loc[rows["filter_outcome"] != "scored", "filter_score"].isna().all()
        assert rows.loc[rows["filter_outcome"] != "scored", "filter_reason"].notna().all()
        assert not rows.loc[rows["filter_outcome"] != "scored", "kept"].any()
        assert not rows["pair_kept"].any()
        told = metadata(result, "image_pairs", "protobias")
        flaws = ("blank", "wrong_size", "repeated", "refused", "malformed")
        assert [told[name] for name in flaws] == [2, 2, 5, 2, 2]
        # Whoever paints sees its sentence alone, and whoever looks what the picture is to show.
        words = {text for each in server.received for text in each.texts}
        assert not any("/" in text and "animals" in text for text in words)
        assert not any(text in words for text in (texts[0].text, texts[1].text))

    def test_a_run_sends_what_is_new_and_nothing_else(self, studio, server):
        failing = right(studio.concepts[5]).correct
        server.answer.painting[failing] = faults.TOO_LARGE
        server.answer.saying[right(studio.concepts[0]).correct] = '{"score": 7}'
        studio.must(image_pairs={"samples": 1})
        assert sent(server) == {"picture": 12, "text": 11}
        first = studio.table("filtered_pairs")
        assert first["is_stand_in"].eq(False).all(), "a provider's pictures are results"
        assert first["pair_kept"].tolist() == [False] * 2 + [True] * 8 + [False] * 2
        del server.answer.painting[failing]
        since = server.count
        assert checks(studio.must(image_pairs={"samples": 2})) == ENDED
        assert sent(server, since) == {"picture": 1 + 12, "text": 1 + 12}
        both = studio.table("filtered_pairs")
        same = ["image_id", "sha256", "filter_score", "kept"]
        again = both[both["sample"] == 0][same].values.tolist()
        assert again[:10] == first[same].values.tolist()[:10]
        since, before = server.count, [studio.path(name).read_bytes() for name in STEPS]
        studio.must(image_pairs={"samples": 2})
        assert server.count == since
        assert [studio.path(name).read_bytes() for name in STEPS] == before
        named, failed = collect_calls(both, find_call_columns(Catalog(tuple(studio.models))))
        assert (named & stored(studio.root), failed) == (stored(studio.root), 0)

    def test_a_table_edited_by_hand_paints_nothing(self, studio, server):
        path = table(studio.root, "prompt_triplets", "animals", "protobias")
        rewrite(path, lambda rows: [{**rows[0], "correct": "A cat."}, *rows[1:]])
        message = failure(studio.run("image_pairs"))
        assert studio.concepts[0].concept_id in message
        assert "Nothing was painted" in message
        assert server.count == 0


CONCEPTS = concepts_of(2)
TRIPLETS = [(concept, right(concept)) for concept in CONCEPTS]


class TestSeeds:
    def test_a_pair_shares_its_seed_which_does_not_depend_on_the_concept(self):
        for painter in (SKETCH, GEMINI):
            wanted = list_pictures(painter, TRIPLETS, ImagePairsConfig(samples=2, seed=7))
            assert [each["request"].seed for each in wanted] == [7, 7, 8, 8] * 2
            assert {each["request"].sample for each in wanted} == {0}
        fewer = list_pictures(SKETCH, TRIPLETS[:1], ImagePairsConfig(samples=1, seed=7))
        assert [each["request"] for each in fewer] == [each["request"] for each in wanted[:2]]
        correct, adversarial = (each["request"] for each in fewer)
        assert (correct, adversarial) == (
            PaintRequest(TRIPLETS[0][1].correct, 7),
            PaintRequest(TRIPLETS[0][1].adversarial, 7),
        )

    @pytest.mark.parametrize("seed", [-1, 2**31 - 64])
    def test_one_that_a_painter_may_not_take_is_refused_before_anything_is_paid(self, seed):
        with pytest.raises(BadConfig, match="seed"):
            ImagePairsConfig(seed=seed)

    def test_a_painter_without_seeds_has_samples(self):
        openai = Model(name="o", backend="openai", model="o", family="o", roles=("painter",))
        wanted = list_pictures(openai, TRIPLETS, ImagePairsConfig(samples=2))
        assert [each["request"].sample for each in wanted] == [0, 0, 1, 1] * 2
        assert {each["request"].seed for each in wanted} == {None}


PAIRS = {f"{concept}/{sample}": concept for concept in "abcdef" for sample in range(3)}


class TestSelection:
    def test_shares_are_even_and_add_up(self):
        assert [domain_share(domain, 1000) for domain in DOMAINS] == [334, 333, 333]
        assert sum(domain_share(domain, 302) for domain in DOMAINS) == 302

    def test_every_concept_has_its_first_pair_before_any_has_its_second(self):
        order = assign_ranks(PAIRS, 0)
        in_order = sorted(order, key=order.get)
        assert sorted(order.values()) == [*range(18)]
        for turn in range(3):
            some = in_order[6 * turn : 6 * turn + 6]
            assert {PAIRS[pair] for pair in some} == set("abcdef")
        assert {pair[-1] for pair in in_order[:6]} > {"0"}, "all samples have their chance"

    def test_the_order_is_that_of_seed_and_pairs_alone(self):
        order = assign_ranks(PAIRS, 0)
        assert assign_ranks(dict(reversed(PAIRS.items())), 0) == order
        assert assign_ranks(PAIRS, 1) != order

    def test_a_pair_that_shares_a_picture_gives_its_place_to_the_next(self):
        pictures = {pair: {f"{pair} correct", f"{pair} adversarial"} for pair in PAIRS}
        order = assign_ranks(PAIRS, 0)
        assert assign_ranks(PAIRS, 0, pictures) == order
        first, second, third, *others = sorted(order, key=order.get)
        pictures[second] = {f"{first} correct", f"{second} adversarial"}
        now = assign_ranks(PAIRS, 0, pictures)
        assert sorted(now, key=now.get) == [first, third, *others, second]


class TestWhoFilters:
    SEER = filter_at(type("Server", (), {"openai_url": "http://localhost/v1"}))
    LIKE_IT = SEER.model_copy(update={"name": "second"})
    PAINTER = GEMINI

    def of(self, painter, name="", models=(*STAND_INS, SEER, LIKE_IT)):
        return find_filter(Catalog(models), painter, name).name

    def test_by_default_pixels_for_schematics_and_the_only_captioner_for_others(self):
        assert self.of(SKETCH) == "pixels"
        assert self.of(GEMINI, models=(*STAND_INS, self.SEER)) == "seer"
        assert self.of(SKETCH, "second") == self.of(GEMINI, "second") == "second"

    @pytest.mark.parametrize(
        ("painter", "name", "models", "said"),
        [
            (GEMINI, "", STAND_INS, "Add a vision model with the role captioner"),
            (
                GEMINI,
                "",
                (SEER, LIKE_IT),
                r"2 models of models.yaml fit: seer, second. Name one in .* them: ops: "
                r"{protobias__filtered_pairs: {config: {filter: seer}}}\.",
            ),
            (SKETCH, "", (SEER,), r"Add the stand-in judge pixels \(backend: stand_in"),
            (GEMINI, "pixels", STAND_INS, "pixels reads schematics alone"),
            (SKETCH, "prior", STAND_INS, "prior looks at no picture"),
            (GEMINI, "nobody", STAND_INS, "nobody is not in models.yaml"),
        ],
    )
    def test_who_cannot_is_told_with_the_remedy(self, painter, name, models, said):
        with pytest.raises(NoSuchModel, match=said):
            self.of(painter, name, models)

    def test_a_filter_of_a_scorers_family_is_warned_of_by_name(self):
        kin = self.SEER.model_copy(update={"name": "kin", "roles": ("judge",)})
        other = kin.model_copy(update={"name": "other", "family": "other"})
        words = family_warning(self.SEER, [*STAND_INS, kin, other])
        assert words.startswith("The filter seer is of the family seers, as kin is: the pairs")
        assert "as kin and kin are" in family_warning(self.SEER, [kin, kin])
        assert family_warning(self.SEER, [other]) is None
        assert family_warning(STAND_INS[0], STAND_INS) is None


def test_the_run_says_that_its_filter_is_of_a_judges_family(tmp_path, instance, server):
    judge = filter_at(server, name="kin", model="kin-1", roles=("judge",))
    models = painter_at(server), filter_at(server), judge
    server.answer = Gallery()
    studio = Studio(tmp_path / "root", instance, *models, number=2)
    assert studio.run("image_pairs").success
    made = studio.run("filtered_pairs")
    (event,) = made.asset_materializations_for_node("protobias__filtered_pairs")
    assert "as kin is" in event.metadata["warning"].value
    asset, where = AssetKey(["protobias", "filtered_pairs"]), f"{DOMAIN}|artist"
    with plan_context(studio.root) as sources:
        told = quote_tasks(
            planners(Catalog(tuple(studio.models))), sources, [Task(asset, where, {})]
        )
    assert "as kin is" in format_text(told, [])
