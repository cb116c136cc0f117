"""Each family of metrics, as a tiny network that is loaded from a folder as a real one is.

Scores are held against transformers' own processor and network, called by hand.
"""

import asyncio
import io
import json
from pathlib import Path

import pytest
from PIL import Image

from resources.models.backends import build_backend
from resources.models.backends.scoring import load_formula
from resources.models.replies import ModelUnavailable, UnacceptableRequest
from resources.models.requests import ScoreRequest
from tests.metric_families import FAMILIES, UNFIT_FAMILIES, save_blip
from tests.resources.models.backends.local_models import Pictures, answers, entry, picture
from tests.tiny import torch, transformers

DOCUMENT = Path(__file__).parents[4] / "docs" / "local-models.md"
PICTURES = Pictures(picture("red"), picture("blue", (48, 32)))
TEXTS = ("a dog", "is there a photo of a cat, with five legs, or how many?")
ASKED = [ScoreRequest(text, name) for text in TEXTS for name in PICTURES]

slow = pytest.mark.slow
of_each = pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.name)


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    """Saves a family's network to a folder, once."""
    folders = {}

    def save(family):
        if family not in folders:
            torch.manual_seed(0)
            folders[family] = tmp_path_factory.mktemp("metric")
            family.save(folders[family])
        return folders[family]

    return save


def build(folder, formula, **parameters):
    return build_backend(
        entry("transformers", folder, formula=formula, **parameters), None, PICTURES
    )


def score(family, folder, requests, **parameters):
    """The replies of a metric made for these requests alone."""
    backend = build(folder, family.formula, **family.parameters, **parameters)
    return answers(backend, *(("score", request) for request in requests))


def compute_scores(family, folder):
    """The scores by transformers alone, each text and picture by itself."""
    network = getattr(transformers, family.network).from_pretrained(folder)
    processor = transformers.AutoProcessor.from_pretrained(folder)
    for request in ASKED:
        inputs = processor(
            text=[family.prefix + request.text],
            images=[Image.open(io.BytesIO(PICTURES[request.image]))],
            return_tensors="pt",
            **family.padding,
        )
        with torch.no_grad():
            yield family.read_score(network(**inputs), network).item()


@slow
@of_each
class TestScoring:
    def test_a_score_is_what_the_network_itself_gives(self, family, saved):
        replies = score(family, saved(family), ASKED)
        scores = [reply.score for reply in replies]
        assert scores == pytest.approx([*compute_scores(family, saved(family))], rel=1e-4, abs=1e-5)
        assert len(set(scores)) == len(ASKED)
        assert replies[0].provenance["pictures"].endswith("Pil")

    def test_a_batch_scores_as_each_alone(self, family, saved):
        model = entry("transformers", saved(family), formula=family.formula, **family.parameters)
        formula = load_formula(model, None, PICTURES)
        prepared = [formula.prepare(request) for request in ASKED]
        batch = formula.read_scores(formula.compute(formula.collate(prepared)))
        scores = [reply.score for reply in score(family, saved(family), ASKED)]
        assert [reply.score for reply in batch] == pytest.approx(scores, rel=1e-4, abs=1e-5)

    def test_a_text_that_does_not_fit_is_refused_and_spoils_no_other(self, family, saved):
        async def ask():
            long = ScoreRequest("a dog " * family.longest_text, ASKED[0].image)
            backend = build(saved(family), family.formula, batch=2, **family.parameters)
            pair = (backend.score(request) for request in (ASKED[0], long))
            ends = await asyncio.gather(*pair, return_exceptions=True)
            await backend.aclose()
            return ends

        reply, fault = asyncio.run(ask())
        assert isinstance(fault, UnacceptableRequest)
        assert f"tiny takes {family.longest_text} tokens, and this text has " in str(fault)
        (alone,) = score(family, saved(family), ASKED[:1])
        assert reply.score == pytest.approx(alone.score, rel=1e-4, abs=1e-5)

    def test_a_network_of_another_kind_is_named(self, family, tmp_path):
        save_blip(tmp_path, network="BlipForConditionalGeneration")
        with pytest.raises(
            ModelUnavailable,
            match=rf"is a BlipForConditionalGeneration, and .* takes a .*{family.network}\b",
        ):
            score(family, tmp_path, ASKED[:1])


@slow
@pytest.mark.parametrize("name", ["SigLIP 2", "SigLIP 2 NaFlex"])
def test_siglip_reads_small_letters(name, saved):
    (family,) = (family for family in FAMILIES if family.name == name)
    capitals = [ScoreRequest(request.text.upper(), request.image) for request in ASKED]
    small, large = (score(family, saved(family), requests) for requests in (ASKED, capitals))
    assert [reply.score for reply in small] == [reply.score for reply in large]


@slow
def test_a_siglip_that_needs_sentencepiece_says_so(tmp_path):
    """Tests run without sentencepiece."""
    (family,) = (family for family in FAMILIES if family.name == "SigLIP 2")
    family.save(tmp_path)
    settings = tmp_path / "tokenizer_config.json"
    content = json.loads(settings.read_text()) | {"tokenizer_class": "SiglipTokenizer"}
    settings.write_text(json.dumps(content))
    with pytest.raises(
        ModelUnavailable, match=r"needs a library that is not installed: .* SentencePiece library"
    ):
        score(family, tmp_path, ASKED[:1])


def test_the_table_in_the_document_is_this_one():
    lines = DOCUMENT.read_text(encoding="utf-8").splitlines()
    start = next(place for place, line in enumerate(lines) if line.startswith("| metric |"))
    rows = [family.row for family in (*FAMILIES, *UNFIT_FAMILIES)]
    assert lines[start + 2 : start + 3 + len(rows)] == [*rows, ""]
