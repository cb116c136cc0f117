"""A refusal is a row with its outcome, in every step of every benchmark that asks a model.

Of each step one item is declined in words and one by the API. It is materialized, its blocking
checks pass, and what follows is made of the rest.
"""

from pathlib import Path

import pandas as pd
import pyarrow.parquet as pq
import pytest
from dagster import DagsterInstance

from assets.cdh_bench.questions import QUESTIONS
from assets.illusions.pictures import PICTURES as ILLUSIONS
from assets.judge_sets.pairs import PAIRS
from assets.kit.benchmarks import build_steps
from assets.mm_judge_bias.items import ITEMS
from assets.philautia.pictures import PICTURES
from assets.philautia.rated_captions import RATED_CAPTION_COLUMNS
from assets.vhexpansion.seed_cases import SEED_CASES
from generators.domains import load_domain
from generators.game_rules import positions
from generators.prompts.captioning import write_caption_prompt
from generators.prompts.negation import write_negation_prompt
from generators.prompts.rephrasing import rephrase, write_rephrasing_prompt
from metrics.illusions.polarity import WITH
from resources.models import dispatch
from resources.models.catalog import Catalog
from resources.storage.image_store import ImageStore
from tests.assets import painted, paired, written
from tests.assets.frame import test_frame as frame
from tests.assets.philautia.galleries import picture
from tests.assets.refusing import Refusing, artist_at, model_at
from tests.assets.vhexpansion.cases import NEGATION_KEYS, case
from tests.providers import Provider
from tests.providers.pictures import png
from tests.runs import STAND_INS, TOPIC, copied, failure, materialize

pytestmark = pytest.mark.filterwarnings("ignore:Non-compliant tag keys:DeprecationWarning")
COVERED = {
    "vlmbias": "answers_seer paintings edits candidates",
    "protobias": "prompt_triplets image_pairs filtered_pairs scores_seer",
    "frame": "drafts instructions perturbed_instructions images boxes scores_seer controls_seer "
    "combined_seer mitigation_seer pairwise_seer",
    "game_rules": "answers_seer",
    "illusions": "answers_seer",
    "judge_sets": "answers_seer",
    "cdh_bench": "answers_seer",
    "mm_judge_bias": "answers_seer",
    "vhexpansion": "negated_cases rephrased_cases clean_answers_seer answers_seer",
    "philautia": "captions_seer scores_seer",
}
ELSEWHERE = {
    "vlmbias/subjects",
    "vlmbias/edited_flags_seer",
    "vlmbias/isolated_edits",
    "vlmbias/rerolled_answers_seer",
}
"""Rerolled answers are those of `answers_seer` to other questions (test_rerolled_accuracy).
Subjects are one request, without which there is nothing to go on with (test_photographs). To know
edited flags all flags are drawn (test_edited_flags). Isolated edits are of photographs that a
person has accepted (test_isolated_photographs)."""

REFUSED = {"refused", "rejected", "malformed", "unparsed", "unchecked", "no svg"}
"""How a step may call what was refused in words: as a sentence that it cannot use, for one."""


@pytest.fixture
def server(monkeypatch):
    for name in ("OPENAI_API_KEY", "GEMINI_API_KEY"):
        monkeypatch.setenv(name, "sk-for-tests")
    monkeypatch.setattr(dispatch, "FIRST_WAIT_S", 0.005)
    with Provider() as server:
        yield server


class Run:
    """Steps of a benchmark that are materialized one after the other."""

    def __init__(self, server, root, group, answer):
        self.root, self.group = root, group
        self.answer = server.answer = Refusing(answer)
        self.models = [*STAND_INS, model_at(server), artist_at(server)]
        self.instance = DagsterInstance.ephemeral()
        for name in ("painters", "sources"):
            self.instance.add_dynamic_partitions(name, ["artist"])

    def make(self, *names, partition=None, **config):
        result = materialize(
            self.root,
            *names,
            topic=partition,
            models=self.models,
            config=config,
            instance=self.instance,
            group=self.group,
            sizes=(64, 96),
        )
        assert result.success, failure(result)

    def refuse(self, name, partition=None, column="outcome", fewest=2, **config):
        """Materialize a step of which two items are refused; they are rows that say so."""
        self.answer.begin()
        self.make(name, partition=partition, **config)
        assert self.answer.refused == 2
        outcomes = self.table(name, partition or "")[column]
        assert outcomes.isin(REFUSED).sum() >= fewest
        assert not outcomes.isin(REFUSED).all()

    def table(self, name, partition):
        parts = filter(None, partition.split("|"))
        return pd.read_parquet(Path(self.root, self.group, name, *parts).with_suffix(".parquet"))

    def write(self, name, columns, rows, partition="", **details):
        path = Path(self.root, self.group, name, partition).with_suffix(".parquet")
        path.parent.mkdir(parents=True, exist_ok=True)
        pq.write_table(columns.build_table(rows, **details), path)


def test_every_step_that_asks_a_model_is_among_these(server):
    catalog = Catalog((model_at(server), artist_at(server)))
    asking = {
        key.to_user_string()
        for key, step in build_steps(catalog).items()
        if step.example_request is not None
    }
    covered = {f"{group}/{name}" for group, names in COVERED.items() for name in names.split()}
    assert asking == covered | ELSEWHERE


def test_questions_of_vlmbias(server, made, tmp_path):
    run = Run(server, copied(made, tmp_path / "root"), "vlmbias", lambda received: "{8}")
    run.refuse("answers_seer", TOPIC)


def test_photographs_of_vlmbias(server, tmp_path):
    run = Run(server, tmp_path, "vlmbias", painted.Painting())
    topic, pictures = painted.TOPIC, f"artist|{painted.TOPIC}"
    run.make("subjects", partition=topic)
    few = {"limit": 4}
    run.refuse("paintings", pictures, paintings=few)
    run.refuse("edits", pictures, edits=few)
    run.refuse("candidates", pictures, "check", 1, candidates={"checker": "seer"})
    run.make("photographs", partition=topic)


def test_protobias(server, tmp_path):
    domain, concepts = paired.DOMAIN, paired.concepts_of(6)
    paired.write_concepts(tmp_path, 6)
    author, gallery = written.Author(concepts), paired.Gallery()
    run = Run(
        server,
        tmp_path,
        "protobias",
        lambda received: (author if received.schema else gallery)(received),
    )
    run.refuse("prompt_triplets", domain, prompt_triplets={"writer": "seer"})
    run.refuse("image_pairs", f"{domain}|artist")
    run.refuse(
        "filtered_pairs", f"{domain}|artist", "filter_outcome", filtered_pairs={"filter": "seer"}
    )
    run.answer.answer = lambda received: '{"score": 3}'
    run.refuse("scores_seer", f"{domain}|artist")


def test_frame(server, tmp_path):
    def answer(received):
        return png(received.digest) if received.task == "picture" else frame.answer(received)

    run = Run(server, tmp_path, "frame", answer)
    run.models += [frame.at(server, "mod", "moderator")]
    domain, source = "animals", "animals|artist"
    run.make("concepts", partition=domain, concepts={"items": 12, "reserve": 0})
    run.refuse("drafts", domain, drafts={"writer": "seer"})
    run.refuse("instructions", domain)
    run.refuse("perturbed_instructions", domain, perturbed_instructions={"writer": "seer"})
    run.refuse("images", source, images={"samples": 2})
    run.answer.answer = lambda received: '{"boxes": []}'
    run.refuse("boxes", source, boxes={"finder": "seer"})
    run.answer.answer = lambda received: '{"score": 3}'
    run.make(
        "biased_images",
        partition=source,
        biased_images={"biases": ["keyword", "padding"], "configurations": "single"},
    )
    run.refuse("scores_seer", source)
    run.refuse("controls_seer", source)
    run.make("search_seer", partition=source)
    run.refuse("combined_seer", source, combined_seer={"sizes": [2]})
    run.refuse("mitigation_seer", source, mitigation_seer={"templates": ["bias_aware"]})
    run.answer.answer = lambda received: '{"better": "first"}'
    run.refuse("pairwise_seer", source)


def test_games(server, tmp_path, monkeypatch):
    monkeypatch.setattr(positions, "POSITIONS", {"xiangqi": 4})
    positions.list_scenes.cache_clear()
    run = Run(server, tmp_path, "game_rules", lambda received: "{Red}")
    run.make("pictures", "questions", partition="xiangqi")
    run.refuse("answers_seer", "xiangqi")
    run.make("results")
    positions.list_scenes.cache_clear()


def test_illusions(server, tmp_path):
    images = ImageStore(root=str(tmp_path))
    (scene, *_) = load_domain("optical_illusions").draw_module.list_scenes(0)
    known = dict.fromkeys(ILLUSIONS.columns, "") | {"scene_id": scene.base_id, "inducer": WITH}
    known |= {"is_equal": True, "difference": 0.0, "measured": 0.0, "is_stand_in": False}
    known |= {"width": 9, "height": 9}
    rows = [known | {"image_id": str(n), "sha256": images.put(png(f"{n}"))} for n in range(3)]
    run = Run(server, tmp_path, "illusions", lambda received: "{Yes}")
    run.write("pictures", ILLUSIONS, rows)
    run.refuse("answers_seer")


def test_judge_sets(server, tmp_path):
    images = ImageStore(root=str(tmp_path))
    known = dict.fromkeys(PAIRS.columns, "") | {"question": "What is it?", "outcome": "taken"}
    known |= {"set": "photograph_pairs", "preferred": "a", "response_a": "A cat.", "row": 1}
    names = {f"pair {n}": images.put(png(f"{n}")) for n in range(3)}
    rows = [
        known | {"image_id": name, "sha256": digest, "pictures": [digest], "response_b": name}
        for name, digest in names.items()
    ]
    run = Run(server, tmp_path, "judge_sets", lambda received: '{"better": "first"}')
    run.write("pairs", PAIRS, rows, "photograph_pairs")
    run.refuse("answers_seer", "photograph_pairs")


def test_cdh_bench(server, tmp_path):
    images = ImageStore(root=str(tmp_path))
    known = dict.fromkeys(QUESTIONS.columns, "") | {"question": "Is it red?", "outcome": "taken"}
    known |= {"set": "photograph_contrasts", "options": [], "ground_truth": "No", "form": "binary"}
    rows = [
        known | {"image_id": f"pair {n}", "pair_id": f"pair {n}", "sha256": images.put(png(f"{n}"))}
        for n in range(3)
    ]
    run = Run(server, tmp_path, "cdh_bench", lambda received: "{Yes}")
    run.write("questions", QUESTIONS, rows, "photograph_contrasts")
    run.refuse("answers_seer", "photograph_contrasts")


def test_mm_judge_bias(server, tmp_path):
    images = ImageStore(root=str(tmp_path))
    known = dict.fromkeys(ITEMS.columns, "") | {"instruction": "What is it?", "outcome": "taken"}
    known |= {"set": "photograph_biases", "bias": "image_misalignment", "side": "biased"}
    rows = [
        known
        | {"image_id": f"item {n}", "item_id": f"item {n}", "judged_response": f"A cup {n}."}
        | {"sha256": images.put(png(f"{n}"))}
        for n in range(3)
    ]
    run = Run(server, tmp_path, "mm_judge_bias", lambda received: '{"score": 7}')
    run.write("items", ITEMS, rows, "photograph_biases")
    run.refuse("answers_seer", "photograph_biases")


def test_vhexpansion(server, tmp_path):
    images, replies = ImageStore(root=str(tmp_path)), {}
    known = {"dataset": TOPIC, "outcome": "taken"}
    cases = [case(n, sha256=images.put(png(f"animal {n}")), **known) for n in range(5)]
    for row in cases:
        replies[write_negation_prompt(row["question"])] = row["negated_question"]
        for question in (row["question"], row["negated_question"]):
            replies[write_rephrasing_prompt(question, 4)] = "\n".join(rephrase(question, 4))
    run = Run(
        server, tmp_path, "vhexpansion", lambda received: replies.get(received.texts[0], "{Yes}")
    )
    run.write("seed_cases", SEED_CASES, cases, TOPIC, unstored_keys=NEGATION_KEYS)
    run.refuse("clean_answers_seer", TOPIC)
    run.refuse("negated_cases", TOPIC, negated_cases={"writer": "seer"})
    run.refuse("rephrased_cases", TOPIC, rephrased_cases={"writer": "seer"})
    some = {"common_perturbations": {"perturbations": ["jpeg"]}}
    run.make("common_perturbations", partition=TOPIC, **some)
    run.refuse("answers_seer", TOPIC)
    run.make("symmetry", partition=TOPIC)


def test_philautia(server, tmp_path):
    images, dataset = ImageStore(root=str(tmp_path)), f"vlmbias_{TOPIC}"
    run = Run(
        server,
        tmp_path,
        "philautia",
        lambda received: (
            "A dog." if received.texts[-1] == write_caption_prompt() else '{"score": 70}'
        ),
    )
    digests = [images.put(png(f"animal {n}")) for n in range(4)]
    run.write("pictures", PICTURES, [picture(n, sha256=d) for n, d in enumerate(digests)], dataset)
    run.write("rated_captions", RATED_CAPTION_COLUMNS, [], dataset)
    run.refuse("captions_seer", dataset)
    run.models.append(model_at(server, name="eye", model="eye-1", roles=("captioner",)))
    run.refuse("scores_seer", dataset)
    run.make("preference_matrix", "pomms", partition=dataset)
    run.make("report")
