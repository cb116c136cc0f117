"""The numbers of every judge."""

from assets.illusions.answers import PolarityAnswers
from assets.illusions.common import asset_key
from assets.kit.answer_results import AnswerResults
from assets.kit.columns import TEXT, WHOLE, Columns, interval_columns
from metrics.illusions.polarity import polarity_table

NUMBERS = Columns(
    model=(TEXT, "The judge, as models.yaml names it"),
    illusion=(TEXT, "Name of the illusion, or all: the mean over illusions"),
    inducer=(TEXT, "with or without: illusions, or their controls"),
    measure=(TEXT, "Name of the measure, as docs/illusions.md explains them"),
    **interval_columns("value", "Share from 0 to 1, or the multiplier", "pictures"),
    clusters=(WHOLE, "Pictures of equal parts, each with all that differ from it"),
    requests=(WHOLE, "Answers or pairs of answers that were asked for"),
    answers=(WHOLE, "Those that the value rests on"),
)
RESULTS = AnswerResults(
    key=asset_key("results"),
    description="Accuracy with the inducer and without, and polarity-flip consistency.",
    columns=NUMBERS,
    scope_column="illusion",
    shown_columns=("model", "inducer", "measure", "value", "value_low", "value_high", "answers"),
    step=PolarityAnswers,
    matched_columns=("sha256",),
    readable_column="judged_equal",
    measure=lambda judged: polarity_table(judged.answers),
)
