"""BLIP's image-text matching: a network that reads the text beside the picture."""

from collections.abc import Mapping
from typing import Any

from resources.models.backends.local_models import import_library
from resources.models.backends.scoring.pair_formula import PairFormula


class ItmScore(PairFormula):
    """The probability, 0 to 1, by the matching head of a BLIP that a text fits (Li et al. 2022)."""

    vocabulary_slack = 2
    """[DEC] and [ENC], which matching does not use."""

    def _list_networks(self, transformers: Any) -> tuple[Any, ...]:
        return (transformers.BlipForImageTextRetrieval,)

    def _compute_scores(self, features: Mapping[str, Any]) -> Any:
        network, torch = self._network, import_library("torch")
        patches = network.vision_model(pixel_values=features["pixel_values"]).last_hidden_state
        text_states = network.text_encoder(
            input_ids=features["input_ids"],
            attention_mask=features["attention_mask"],
            encoder_hidden_states=patches,
            encoder_attention_mask=patches.new_ones(patches.shape[:2], dtype=torch.long),
        ).last_hidden_state
        return network.itm_head(text_states[:, 0]).cpu().double().softmax(-1)[:, 1]
