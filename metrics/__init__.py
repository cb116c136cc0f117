"""Numbers from answers: parsing, rates and intervals.

Text and tables go in, values come out.
"""

from metrics.accuracy import EVERY_SIZE, WHOLE_TOPIC, accuracy_table
from metrics.answers import BASELINE, QUESTION_GROUPS, TASK_MEAN
from metrics.comparison import between_metrics, between_painters, holm
from metrics.correlation import correlation
from metrics.graded_means import graded_interval
from metrics.held_out_search import chosen_half, search
from metrics.inflation import inflation_table, percent_change, success
from metrics.intervals import exact_interval, stratified_interval
from metrics.normalization import normalize_scores
from metrics.outcomes import outcomes_table
from metrics.paired_differences import paired_interval
from metrics.pairs import pair_scores
from metrics.parsing import (
    Outcome,
    Parsed,
    read_count,
    read_name,
    read_plain_yes_no,
    read_yes_no,
    score,
)
from metrics.picks import Pick, read_pick
from metrics.preference import win_rates
from metrics.ranking import ranking_table
from metrics.ratings import Rating, read_rating
from metrics.resampling import Interval
from metrics.symmetry import symmetry_table

__all__ = [
    "BASELINE",
    "EVERY_SIZE",
    "QUESTION_GROUPS",
    "TASK_MEAN",
    "WHOLE_TOPIC",
    "Interval",
    "Outcome",
    "Parsed",
    "Pick",
    "Rating",
    "accuracy_table",
    "between_metrics",
    "between_painters",
    "chosen_half",
    "correlation",
    "exact_interval",
    "graded_interval",
    "holm",
    "inflation_table",
    "normalize_scores",
    "outcomes_table",
    "pair_scores",
    "paired_interval",
    "percent_change",
    "ranking_table",
    "read_count",
    "read_name",
    "read_pick",
    "read_plain_yes_no",
    "read_rating",
    "read_yes_no",
    "score",
    "search",
    "stratified_interval",
    "success",
    "symmetry_table",
    "win_rates",
]
