"""CLIPScore, PickScore and SigLIP: how near a picture's embedding is to a text's."""

from collections.abc import Mapping
from typing import Any

from resources.models.backends.local_models import import_library
from resources.models.backends.scoring.pair_formula import PairFormula


class ClipScore(PairFormula):
    """The cosine, -1 to 1, of a CLIP's embeddings of picture and text (Hessel et al. 2022).

    The text goes with "A photo depicts " before it, as there, unless `prefix` says otherwise.
    """

    prefix = "A photo depicts "

    def _list_networks(self, transformers: Any) -> tuple[Any, ...]:
        return (transformers.CLIPModel,)

    def _compute_scores(self, features: Mapping[str, Any]) -> Any:
        return _compute_cosines(self._network(**features))


class PickScore(ClipScore):
    """The cosine by the learned scale, in a CLIP that was trained on people's preferences.

    As published for PickScore_v1 (Kirstain et al. 2023), with the plain text; that model is about
    100 times the cosine.
    """

    prefix = ""

    def _compute_scores(self, features: Mapping[str, Any]) -> Any:
        return super()._compute_scores(features) * self._network.logit_scale.float().exp()


class SiglipScore(PairFormula):
    """The probability, 0 to 1, by a SigLIP that a picture fits a text (Zhai et al. 2023).

    It is the sigmoid of the cosine by the learned scale and bias. Texts are in small letters and
    padded to the longest that fits, as the network was trained (Tschannen et al. 2025).
    """

    def _list_networks(self, transformers: Any) -> tuple[Any, ...]:
        return transformers.SiglipModel, transformers.Siglip2Model

    def _tokenize(self, texts: list[str]) -> Mapping[str, Any]:
        texts = [text.lower() for text in texts]
        self._require_room(texts)
        most = self._network.config.text_config.max_position_embeddings
        tokens = self._tokenizer(texts, padding="max_length", max_length=most, return_tensors="pt")
        # It was trained without a mask, and attends to the padding.
        return {"input_ids": tokens["input_ids"]}

    def _compute_scores(self, features: Mapping[str, Any]) -> Any:
        # In double precision, in which what is near 1 is not 1, and which not every device has.
        scale, bias = (
            weight.cpu().double()
            for weight in (self._network.logit_scale, self._network.logit_bias)
        )
        cosines = _compute_cosines(self._network(**features)).cpu().double()
        return (cosines * scale.exp() + bias).sigmoid()


def _compute_cosines(embedded: Any) -> Any:
    return import_library("torch").nn.functional.cosine_similarity(
        embedded.image_embeds.float(), embedded.text_embeds.float()
    )
