"""The base of formulas whose network takes a picture and a text: CLIP, SigLIP, BLIP."""

import io
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from PIL import Image

from resources.models.backends.base import PictureLoader
from resources.models.backends.hosted_models import redact_key
from resources.models.backends.local_models import (
    ModelFiles,
    import_library,
    translate_loading_errors,
    translate_running_errors,
)
from resources.models.backends.provenance import describe_pixel_limits
from resources.models.backends.scoring.base import (
    FormulaSettings,
    build_score_provenance,
    require_finite,
)
from resources.models.catalog import Model
from resources.models.replies import ModelReply, ModelUnavailable, UnacceptableRequest
from resources.models.requests import ScoreRequest


class PreparedPicture(NamedTuple):
    """A text, and what the network takes of a picture: tensors by name, without a batch's axis."""

    text: str
    features: Mapping[str, Any]


class PairFormula(ABC):
    """A score of a picture and a text, which one network takes.

    A text is never cut: one that does not fit raises `UnacceptableRequest`. Pictures are prepared
    by Pillow whether or not torchvision is here, so that the numbers do not depend on that.
    """

    prefix = ""
    """What precedes a text, unless the entry says otherwise."""
    vocabulary_slack = 0
    """The most tokens that the network may have and its tokenizer not."""

    def __init__(
        self,
        model: Model,
        key: str | None,
        picture: PictureLoader,
        formula_settings: FormulaSettings,
    ) -> None:
        self._model, self._picture = model, picture
        if formula_settings.prefix is not None:
            self.prefix = formula_settings.prefix
        files = ModelFiles.resolve(model, key, formula_settings.revision)
        self._served = files.served_model
        self._images, self._tokenizer, self._processor = _load_processor(files, formula_settings)
        with translate_loading_errors(model, key):
            self._network = self._load_network(files, formula_settings)
        self._require_own_tokenizer()

    @abstractmethod
    def _list_networks(self, transformers: Any) -> tuple[Any, ...]:
        """The classes of transformers that the formula takes."""

    @abstractmethod
    def _compute_scores(self, features: Mapping[str, Any]) -> Any:
        """The scores of a batch, as a tensor, by what the network takes of texts and pictures."""

    def prepare(self, request: ScoreRequest) -> PreparedPicture:
        """The picture, opened, scaled and cropped as the processor does it."""
        image = Image.open(io.BytesIO(self._picture(request.image))).convert("RGB")
        with translate_running_errors(self._model):
            features = self._images(image, return_tensors="pt")
        return PreparedPicture(request.text, {name: batch[0] for name, batch in features.items()})

    def collate(self, prepared_requests: Sequence[PreparedPicture]) -> dict[str, Any]:
        """The tokens and the pixels of pictures, each with its text."""
        texts = [self.prefix + prepared.text for prepared in prepared_requests]
        stack = import_library("torch").stack
        features = [prepared.features for prepared in prepared_requests]
        return {
            **self._tokenize(texts),
            **{name: stack([pair[name] for pair in features]) for name in features[0]},
        }

    def compute(self, inputs: dict[str, Any]) -> list[float]:
        """The scores of pictures, each against its text."""
        network = self._network
        features = {
            name: tensor.to(network.device, network.dtype if tensor.is_floating_point() else None)
            for name, tensor in inputs.items()
        }
        with import_library("torch").inference_mode():
            scores: list[float] = self._compute_scores(features).tolist()
        return scores

    def read_scores(self, output: list[float]) -> list[ModelReply]:
        """The scores, with how they came about."""
        how = build_score_provenance(
            self._model,
            self._network,
            len(output),
            prefix=self.prefix,
            processor=self._processor,
            pictures=type(self._images).__name__,
            pixel_limits=describe_pixel_limits(self._images)["pixel_limits"],
        )
        return [
            ModelReply(score=score, served_model=self._served, provenance=how)
            for score in require_finite(self._model, output)
        ]

    def _tokenize(self, texts: list[str]) -> Mapping[str, Any]:
        """Tokenize texts, padded to the longest of them."""
        self._require_room(texts)
        tokens: Mapping[str, Any] = self._tokenizer(texts, padding=True, return_tensors="pt")
        return tokens

    def _require_room(self, texts: list[str]) -> None:
        most = self._network.config.text_config.max_position_embeddings
        for text, tokens in zip(
            texts, self._tokenizer(texts, verbose=False)["input_ids"], strict=True
        ):
            if len(tokens) > most:
                raise UnacceptableRequest(
                    f"{self._model.name} takes {most} tokens, and this text has {len(tokens)}: "
                    f"{text!r}. Shorten it"
                )

    def _load_network(self, files: ModelFiles, formula_settings: FormulaSettings) -> Any:
        transformers = import_library("transformers")
        networks = {network.__name__: network for network in self._list_networks(transformers)}
        config = files.load(transformers.AutoConfig)
        default = transformers.MODEL_MAPPING.get(type(config), type(config)).__name__
        (kind, *_) = config.architectures or [default]
        if kind not in networks:
            raise ModelUnavailable(
                f"{self._model.model} is a {kind}, and the formula of {self._model.name} takes a "
                f"{' or a '.join(networks)}: choose such a model, or another formula, in "
                "models.yaml"
            )
        return files.load_network(networks[kind], formula_settings)

    def _require_own_tokenizer(self) -> None:
        # Without its files, a tokenizer is made all the same, and knows no word.
        tokenizer_size = len(self._tokenizer)
        vocabulary_size = self._network.config.text_config.vocab_size
        if not 0 <= vocabulary_size - tokenizer_size <= self.vocabulary_slack:
            raise ModelUnavailable(
                f"The tokenizer of {self._processor} knows {tokenizer_size:,} tokens, and "
                f"{self._model.model} {vocabulary_size:,}: name the model whose processor it was "
                f"trained with as `processor` among the parameters of {self._model.name} in "
                "models.yaml"
            )


def _load_processor(files: ModelFiles, formula_settings: FormulaSettings) -> tuple[Any, Any, str]:
    """Load image processor and tokenizer, and name the model that they belong to."""
    transformers, (model, key, _) = import_library("transformers"), files
    if formula_settings.processor is not None:
        model = model.model_copy(update={"model": formula_settings.processor})
        files = ModelFiles.resolve(model, key, None)
    with translate_loading_errors(model, key):
        try:
            images = files.load(transformers.AutoImageProcessor, backend="pil")
            tokenizer = files.load(transformers.AutoTokenizer)
        except (OSError, ValueError) as error:
            raise ModelUnavailable(
                f"{model.model} has no processor that can be loaded: {redact_key(error, key)} "
                f"Name a model that has one as `processor` among the parameters of {model.name} "
                "in models.yaml, as in laion/CLIP-ViT-H-14-laion2B-s32B-b79K"
            ) from None
    return images, tokenizer, files.served_model
