"""The summary of a painter: every metric's failures, scores and margins, with intervals."""

from assets.columns import BOOLEAN, REAL, TEXT, WHOLE, Columns


def _with_interval(name: str, description: str) -> dict[str, tuple[object, str]]:
    return {
        name: (REAL, description),
        f"{name}_low": (REAL, "Low end of its 95 % interval, by a bootstrap over prompts"),
        f"{name}_high": (REAL, "High end"),
    }


SUMMARY = Columns(
    painter=(TEXT, "Who painted the pairs, as models.yaml names it"),
    rehearsal=(BOOLEAN, "Whether the pictures are a rehearsal, so that it is no result"),
    sample=(TEXT, "evaluated (all scored pairs), or human (those that people scored as well)"),
    metric=(TEXT, "The metric or judge, as models.yaml names it, or human"),
    formula=(TEXT, "What its raw score is"),
    kin=(BOOLEAN, "Whether it is of the family of the filter"),
    domain=(TEXT, "animals, demography or objects; or all: the mean over the domains there are"),
    knob=(TEXT, "A knob; or all"),
    concept=(TEXT, "A cell of the taxonomy; or all"),
    pairs=(WHOLE, "Pairs with a score on both sides"),
    prompts=(WHOLE, "Distinct concepts among them"),
    unscored=(WHOLE, "Pairs without a score on one side or both"),
    ties=(WHOLE, "Pairs that scored the same on both sides; they fail (eq. 5)"),
    **_with_interval("failure_rate", "Share of pairs with M(adv) >= M(corr)"),
    **_with_interval("tie_rate", "Share of pairs that tie"),
    **_with_interval("sc", "Mean score of the correct pictures, 0 to 1 (Table 2)"),
    **_with_interval("pa", "Mean score of the adversarial pictures, 0 to 1"),
    **_with_interval("delta", "sc - pa"),
    **_with_interval("correct_margin", "Mean M(corr) - M(adv) where it is above 0 (Table 1)"),
    **_with_interval("incorrect_margin", "Mean M(adv) - M(corr) where it is 0 or above"),
)
"""Knobs and concepts are told apart for each domain, one at a time. A number without anything to
rest on is empty."""
