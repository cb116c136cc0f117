"""How one annotator agrees with others on the same items, and with a model's check."""

from collections.abc import Mapping, Sequence

from assets.kit.review_forms import ReviewForm, ReviewItem
from commands.review_page.answer_files import Answer, fold_name


def describe_agreement(
    form: ReviewForm, answered: Sequence[tuple[ReviewItem, Mapping[str, Answer]]], annotator: str
) -> list[str]:
    """A sentence for each other annotator, or one on the check where all share one answer."""
    if form.is_shared:
        pairs = [
            (answer.value, item.check)
            for item, answers in answered
            for answer in answers.values()
            if item.check and fold_name(answer.annotator) == fold_name(annotator)
        ]
        return [_describe(form, "the model's check", pairs)] if pairs else []
    folded_name = fold_name(annotator)
    others = {name: answer.annotator for _, answers in answered for name, answer in answers.items()}
    shared = {
        other: [
            (answers[folded_name].value, answers[other].value)
            for _, answers in answered
            if folded_name in answers and other in answers
        ]
        for other in sorted(others)
        if other != folded_name
    }
    return [_describe(form, others[other], pairs) for other, pairs in shared.items() if pairs]


def _describe(form: ReviewForm, name: str, pairs: Sequence[tuple[str, str]]) -> str:
    from metrics.statistics.weighted_kappa import quadratic_weighted_kappa

    ranks = {value: float(rank) for rank, value in enumerate(form.choices)}
    first_ranks, second_ranks = zip(
        *((ranks[first], ranks[second]) for first, second in pairs), strict=True
    )
    kappa = quadratic_weighted_kappa(first_ranks, second_ranks)
    same = sum(first == second for first, second in pairs)
    text = f"{name}: {same} of {len(pairs)} the same"
    return text if kappa is None else f"{text}, κ {kappa:.2f}"
