"""Numbers from answers: parsing, rates and intervals.

Text and tables go in, values come out.
"""

from metrics.accuracy import EVERY_SIZE, WHOLE_TOPIC, accuracy_table
from metrics.answers import BASELINE, QUESTION_GROUPS, TASK_MEAN
from metrics.caption_scores import CaptionScores
from metrics.comparison import between_metrics, between_painters, holm
from metrics.correlation import correlation
from metrics.graded_means import graded_interval
from metrics.held_out_search import chosen_half, search
from metrics.inflation import inflation_table, percent_change, success
from metrics.intervals import exact_interval, stratified_interval
from metrics.kendall import Kendall, kendall
from metrics.matching_test import matching_tests
from metrics.normalization import normalize_scores
from metrics.outcomes import outcomes_table
from metrics.paired_differences import paired_interval
from metrics.pairs import pair_scores
from metrics.panel_search import PanelSearch, greedy_panels
from metrics.panels import PanelTables, growing_panels, panel_scores, panel_tables
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
from metrics.preference_matrix import mean_matrix, standardized_matrix
from metrics.preference_tables import PreferenceTables, preference_tables
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
    "CaptionScores",
    "Interval",
    "Kendall",
    "Outcome",
    "PanelSearch",
    "PanelTables",
    "Parsed",
    "Pick",
    "PreferenceTables",
    "Rating",
    "accuracy_table",
    "between_metrics",
    "between_painters",
    "chosen_half",
    "correlation",
    "exact_interval",
    "graded_interval",
    "greedy_panels",
    "growing_panels",
    "holm",
    "inflation_table",
    "kendall",
    "matching_tests",
    "mean_matrix",
    "normalize_scores",
    "outcomes_table",
    "pair_scores",
    "paired_interval",
    "panel_scores",
    "panel_tables",
    "percent_change",
    "preference_tables",
    "ranking_table",
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
    "symmetry_table",
    "win_rates",
]
