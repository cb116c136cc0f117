"""Numbers from answers: what was answered, how often rightly, and how sure that is.

Nothing here draws, asks or loads: text and tables go in, values come out.
"""

from metrics.accuracy import EVERY_SIZE, WHOLE_TOPIC, accuracy_table
from metrics.answers import BASELINE, QUESTION_GROUPS, TASK_MEAN
from metrics.binomial import exact_interval
from metrics.endings import endings_table
from metrics.intervals import stratified_interval
from metrics.paired import paired_interval
from metrics.parsing import Outcome, Parsed, read_count, read_name, read_yes_no, score
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
    "accuracy_table",
    "endings_table",
    "exact_interval",
    "paired_interval",
    "read_count",
    "read_name",
    "read_yes_no",
    "score",
    "stratified_interval",
]
