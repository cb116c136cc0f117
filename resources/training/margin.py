"""The margin loss on P(yes) of a pair's two pictures: the control of ProtoScore."""

from collections.abc import Callable
from typing import Any

from resources.training.answer_batches import IGNORED_LABEL
from resources.training.meter import Meter
from resources.training.reward import TornPair


def build_margin_loss(
    yes: int, margin: float, pairs_a_step: int, meter: Meter
) -> Callable[..., Any]:
    """The loss of a batch of pairs: the mean of max(0, m − (P(yes | correct) − P(yes | other))).

    `yes` is the token, `pairs_a_step` are those of a process's whole step, in which gradients add
    up. The rows are correct and adversarial pictures in turn, the first labelled with yes and the
    second with any other word; raises `TornPair` where they are not.
    """

    def loss(outputs: Any, labels: Any, num_items_in_batch: Any = None) -> Any:
        answers = labels != IGNORED_LABEL
        # The answer's first token, which is predicted one place before.
        first = answers.int().argmax(dim=1)
        row_indices = range(len(labels))
        tokens = labels[row_indices, first]
        _require_whole((tokens == yes).tolist())
        probable = outputs.logits[row_indices, first - 1].float().softmax(-1)[:, yes]
        differences = probable[0::2] - probable[1::2]
        meter.add("difference", differences.tolist())
        meter.add("misranked", (differences <= 0).float().tolist())
        return (margin - differences).clamp(min=0).sum() / pairs_a_step

    return loss


def _require_whole(are_correct: list[bool]) -> None:
    if are_correct != [True, False] * (len(are_correct) // 2):
        raise TornPair(
            "A pair is torn: the rows of a process's batch are not correct and adversarial "
            "pictures in turn. Keep their order, and an even number of rows on each device."
        )
