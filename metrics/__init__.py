"""Numbers from answers: parsing, rates and intervals.

Text and tables go in, values come out.
"""

from metrics.frame.held_out_search import search_held_out, select_half
from metrics.frame.inflation import inflation_table, measure_success, measure_susceptibility
from metrics.frame.net_inflation import net_inflation_table
from metrics.frame.pairwise_preference import win_rates
from metrics.philautia.caption_scores import CaptionScores
from metrics.philautia.kendall import correlate_ranks
from metrics.philautia.matching_test import matching_tests
from metrics.philautia.panel_search import greedy_panels
from metrics.philautia.panels import build_growing_panels, panel_scores, panel_tables
from metrics.philautia.preference_tables import build_preference_tables
from metrics.philautia.score_matrices import mean_matrix, standardized_matrix
from metrics.reply_parsing.bracketed_answers import (
    ParsedAnswer,
    read_count,
    read_name,
    read_yes_no,
    score_answer,
)
from metrics.reply_parsing.bracketed_choices import read_choice
from metrics.reply_parsing.picks import read_pick
from metrics.reply_parsing.plain_answers import read_plain_count, read_plain_name, read_plain_yes_no
from metrics.reply_parsing.plain_scores import read_plain_pick, read_plain_rating
from metrics.reply_parsing.ratings import read_rating
from metrics.statistics.cluster_bootstrap import Interval
from metrics.statistics.cluster_intervals import exact_interval, stratified_interval
from metrics.statistics.correlation import correlate
from metrics.statistics.graded_intervals import graded_interval
from metrics.statistics.paired_intervals import paired_interval
from metrics.statistics.prediction_powered import PoweredMean, powered_mean
from metrics.vhexpansion.symmetry import symmetry_table
from metrics.vlmbias.accuracy import EVERY_SIZE, WHOLE_TOPIC, accuracy_table, topic_accuracy_table
from metrics.vlmbias.answer_arrays import BASELINE, ISOLATED, QUESTION_GROUPS, TASK_MEAN
from metrics.vlmbias.blind_answers import blind_answer_table
from metrics.vlmbias.isolation import isolation_table
from metrics.vlmbias.outcome_rates import outcome_rate_table
from metrics.vlmbias.readings import reading_table
from metrics.vlmbias.reroll_differences import reroll_table

__all__ = [
    "BASELINE",
    "EVERY_SIZE",
    "ISOLATED",
    "QUESTION_GROUPS",
    "TASK_MEAN",
    "WHOLE_TOPIC",
    "CaptionScores",
    "Interval",
    "ParsedAnswer",
    "PoweredMean",
    "accuracy_table",
    "blind_answer_table",
    "build_growing_panels",
    "build_preference_tables",
    "correlate",
    "correlate_ranks",
    "exact_interval",
    "graded_interval",
    "greedy_panels",
    "inflation_table",
    "isolation_table",
    "matching_tests",
    "mean_matrix",
    "measure_success",
    "measure_susceptibility",
    "net_inflation_table",
    "outcome_rate_table",
    "paired_interval",
    "panel_scores",
    "panel_tables",
    "powered_mean",
    "read_choice",
    "read_count",
    "read_name",
    "read_pick",
    "read_plain_count",
    "read_plain_name",
    "read_plain_pick",
    "read_plain_rating",
    "read_plain_yes_no",
    "read_rating",
    "read_yes_no",
    "reading_table",
    "reroll_table",
    "score_answer",
    "search_held_out",
    "select_half",
    "standardized_matrix",
    "stratified_interval",
    "symmetry_table",
    "topic_accuracy_table",
    "win_rates",
]
