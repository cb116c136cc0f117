"""InstructBLIP: EVA-CLIP and a Q-Former, which sees the question beside the picture."""

from collections.abc import Sequence

from resources.attacks.encoders.base import Encoder
from resources.attacks.preparation import Size, Tensor, stack_pictures


class InstructBlip(Encoder):
    """InstructBLIP, over any language model."""

    architecture = "instructblip"
    sees_question = True

    def embed(
        self, pictures: Sequence[Tensor], sizes: Sequence[Size], questions: Sequence[str]
    ) -> list[Tensor]:
        """Compute one vector for each query of the Q-Former."""
        device = self.network.device
        question_tokens = self.processor.qformer_tokenizer(
            list(questions), padding=True, return_tensors="pt"
        )
        features = self.network.get_image_features(
            pixel_values=stack_pictures(pictures).to(self.network.dtype),
            qformer_input_ids=question_tokens["input_ids"].to(device),
            qformer_attention_mask=question_tokens["attention_mask"].to(device),
        )
        return list(features.pooler_output)
