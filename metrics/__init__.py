"""Numbers from answers: what was answered, how often rightly, and how sure that is.

Nothing here draws, asks or loads: text and tables go in, values come out.
"""

from metrics.accuracy import QUESTION_GROUPS, TASK_MEAN, WHOLE_TOPIC, accuracy_table
from metrics.intervals import Interval, stratified_interval
from metrics.parsing import Outcome, Parsed, read_count, read_yes_no, score

__all__ = [
    "QUESTION_GROUPS",
    "TASK_MEAN",
    "WHOLE_TOPIC",
    "Interval",
    "Outcome",
    "Parsed",
    "accuracy_table",
    "read_count",
    "read_yes_no",
    "score",
    "stratified_interval",
]
