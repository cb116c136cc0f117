"""CLIPScore and PickScore: how near a picture's embedding is to a text's, in a CLIP."""

import io
from collections.abc import Sequence
from functools import cached_property
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
from resources.models.backends.scoring.base import (
    FormulaSettings,
    build_score_provenance,
    require_finite,
)
from resources.models.catalog import Model
from resources.models.replies import ModelReply, ModelUnavailable, UnacceptableRequest
from resources.models.requests import ScoreRequest


class PreparedPicture(NamedTuple):
    """A text, and a picture as the network takes it: float32, channels x height x width."""

    text: str
    pixels: Any


class ClipScore:
    """The cosine, -1 to 1, of a CLIP's embeddings of picture and text (Hessel et al. 2022).

    The text goes with "A photo depicts " before it, as there, unless `prefix` says otherwise. It
    is never cut: one that does not fit raises `UnacceptableRequest`. Pictures are prepared by
    Pillow whether or not torchvision is here, so that the numbers do not depend on that.
    """

    prefix = "A photo depicts "

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
        self._images, self._tokenizer, self._processor = _processor(files, formula_settings)
        with translate_loading_errors(model, key):
            self._network = files.load_network(
                import_library("transformers").AutoModel, formula_settings
            )
        self._require_that_they_fit()

    def prepare(self, request: ScoreRequest) -> PreparedPicture:
        """The picture, opened, scaled and cropped as the processor does it."""
        image = Image.open(io.BytesIO(self._picture(request.image))).convert("RGB")
        with translate_running_errors(self._model):
            shown = self._images(image, return_tensors="pt")["pixel_values"][0]
        return PreparedPicture(request.text, shown)

    def collate(self, prepared_requests: Sequence[PreparedPicture]) -> tuple[Any, Any]:
        """The tokens and the pixels of pictures, each with its text."""
        tokens = self._tokens([self.prefix + prepared.text for prepared in prepared_requests])
        torch = import_library("torch")
        return tokens, torch.stack([prepared.pixels for prepared in prepared_requests])

    def compute(self, inputs: tuple[Any, Any]) -> list[float]:
        """The scores of pictures, each against its text."""
        torch, network, (tokens, pixels) = import_library("torch"), self._network, inputs
        with torch.inference_mode():
            embedded = network(
                **tokens.to(network.device),
                pixel_values=pixels.to(network.device, dtype=network.dtype),
            )
            cosines = torch.nn.functional.cosine_similarity(
                embedded.image_embeds.float(), embedded.text_embeds.float()
            )
            scores: list[float] = (cosines * self._scale).tolist()
        return scores

    def read_scores(self, output: list[float]) -> list[ModelReply]:
        """The scores, with how they came about."""
        how = self._describe_settings(len(output))
        return [
            ModelReply(score=score, served_model=self._served, provenance=how)
            for score in require_finite(self._model, output)
        ]

    @cached_property
    def _scale(self) -> float:
        return 1.0

    def _describe_settings(self, batch: int) -> dict[str, Any]:
        return build_score_provenance(
            self._model,
            self._network,
            batch,
            prefix=self.prefix,
            processor=self._processor,
            pictures=type(self._images).__name__,
        )

    def _tokens(self, texts: list[str]) -> Any:
        """Tokenize texts, padded to the longest of them."""
        most = self._network.config.text_config.max_position_embeddings
        tokens = self._tokenizer(texts, padding=True, return_tensors="pt", verbose=False)
        for text, mask in zip(texts, tokens["attention_mask"], strict=True):
            if (long := int(mask.sum())) > most:
                raise UnacceptableRequest(
                    f"{self._model.name} takes {most} tokens, and this text has {long}: {text!r}. "
                    "Shorten it"
                )
        return tokens

    def _require_that_they_fit(self) -> None:
        network, name = self._network, self._model.name
        if not isinstance(network, import_library("transformers").CLIPModel):
            raise ModelUnavailable(
                f"{self._model.model} is a {type(network).__name__}, and the formula of {name} "
                "takes a CLIPModel: choose a CLIP in models.yaml"
            )
        # Without its files, a tokenizer is made all the same, and knows no word.
        tokenizer_size, vocabulary_size = (
            len(self._tokenizer),
            network.config.text_config.vocab_size,
        )
        if tokenizer_size != vocabulary_size:
            raise ModelUnavailable(
                f"The tokenizer of {self._processor} knows {tokenizer_size:,} tokens, and "
                f"{self._model.model} {vocabulary_size:,}: name the model whose processor it was "
                f"trained with as `processor` among the parameters of {name} in models.yaml"
            )


class PickScore(ClipScore):
    """The cosine by the learned scale, in a CLIP that was trained on people's preferences.

    As published for PickScore_v1 (Kirstain et al. 2023), with the plain text; that model is about
    100 times the cosine.
    """

    prefix = ""

    @cached_property
    def _scale(self) -> float:
        scale: float = self._network.logit_scale.float().exp().item()
        return scale


def _processor(files: ModelFiles, formula_settings: FormulaSettings) -> tuple[Any, Any, str]:
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
