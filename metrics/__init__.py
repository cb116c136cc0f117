"""Numbers from answers: parsing, rates and intervals.

Text and tables go in, values come out.
"""

from metrics.accuracy import EVERY_SIZE, WHOLE_TOPIC, accuracy_of_topics, accuracy_table
from metrics.answers import BASELINE, QUESTION_GROUPS, TASK_MEAN
from metrics.caption_scores import CaptionScores
from metrics.correlation import correlation
from metrics.graded_means import graded_interval
from metrics.held_out_search import chosen_half, search
from metrics.inflation import inflation_table, success, susceptibility
from metrics.intervals import exact_interval, stratified_interval
from metrics.kendall import kendall
from metrics.matching_test import matching_tests
from metrics.outcomes import outcomes_table
from metrics.paired_differences import paired_interval
from metrics.panel_search import greedy_panels
from metrics.panels import growing_panels, panel_scores, panel_tables
from metrics.parsing import Parsed, read_count, read_name, read_plain_yes_no, read_yes_no, score
from metrics.picks import read_pick
from metrics.preference import win_rates
from metrics.preference_matrix import mean_matrix, standardized_matrix
from metrics.preference_tables import preference_tables
from metrics.ratings import read_rating
from metrics.resampling import Interval
from metrics.symmetry import symmetry_table

__all__ = [
    "BASELINE",
    "EVERY_SIZE",
    "QUESTION_GROUPS",
    "TASK_MEAN",
    "WHOLE_TOPIC",
    "CaptionScores",
    "Interval",
    "Parsed",
    "accuracy_of_topics",
    "accuracy_table",
    "chosen_half",
    "correlation",
    "exact_interval",
    "graded_interval",
    "greedy_panels",
    "growing_panels",
    "inflation_table",
    "kendall",
    "matching_tests",
    "mean_matrix",
    "outcomes_table",
    "paired_interval",
    "panel_scores",
    "panel_tables",
    "preference_tables",
    "read_count",
    "read_name",
    "read_pick",
    "read_plain_yes_no",
    "read_rating",
    "read_yes_no",
    "score",
    "search",
    "standardized_matrix",
    "stratified_interval",
    "success",
    "susceptibility",
    "symmetry_table",
    "win_rates",
]
