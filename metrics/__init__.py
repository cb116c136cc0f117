"""Numbers from answers: what was answered, how often rightly, and how sure that is.

Nothing here draws, asks or loads: text and tables go in, values come out.
"""

from metrics.accuracy import EVERY_SIZE, WHOLE_TOPIC, accuracy_table
from metrics.answers import BASELINE, QUESTION_GROUPS, TASK_MEAN
from metrics.binomial import exact_interval
from metrics.comparison import between_metrics, between_painters
from metrics.endings import endings_table
from metrics.graded import graded_interval
from metrics.holm import holm
from metrics.intervals import stratified_interval
from metrics.normalising import normalised
from metrics.paired import paired_interval
from metrics.pairing import paired_up
from metrics.parsing import Outcome, Parsed, read_count, read_name, read_yes_no, score
from metrics.ranking import ranking_table
from metrics.ratings import Rating, read_rating
from metrics.resampling import Interval

__all__ = [
    "BASELINE",
    "EVERY_SIZE",
    "QUESTION_GROUPS",
    "TASK_MEAN",
    "WHOLE_TOPIC",
    "Interval",
    "Outcome",
    "Parsed",
    "Rating",
    "accuracy_table",
    "between_metrics",
    "between_painters",
    "endings_table",
    "exact_interval",
    "graded_interval",
    "holm",
    "normalised",
    "paired_interval",
    "paired_up",
    "ranking_table",
    "read_count",
    "read_name",
    "read_rating",
    "read_yes_no",
    "score",
    "stratified_interval",
]
