"""What the front page of all reports shows of each judge: pairs right, and yes said twice."""

from collections.abc import Mapping, Sequence

from assets.report.formats import rate_of
from assets.report.standings import Failure, Judged, Measure, Standing
from assets.vhexpansion.pages.dataset_page import Answered, Numbers, trained_on, uncertain
from assets.vhexpansion.pages.gallery import Pair

SYMMETRIC = Measure(
    "Symmetric accuracy",
    "higher",
    "score",
    "The share of yes/no questions that are answered right as they stand and negated as well.",
)


def judged(
    datasets: Sequence[Answered],
    galleries: Mapping[str, Mapping[str, Sequence[Pair]]],
    dates: Mapping[tuple[str, str], str],
) -> Judged:
    """The symmetric accuracy of every judge on each dataset, which come in this order.

    Of pictures as they were; `dates` says by dataset and judge when its answers were stored.
    """
    found = [
        (dataset, row)
        for dataset in datasets
        for judge in dataset.judges
        if (row := dataset.clean(judge)) is not None
    ]
    return Judged(
        [SYMMETRIC],
        [_standing(dataset, row, dates) for dataset, row in found],
        [
            _failure(dataset, row, pair)
            for dataset, row in found
            for pair in galleries[dataset.name][row["model"]]
        ],
    )


def _standing(dataset: Answered, row: Numbers, dates: Mapping[tuple[str, str], str]) -> Standing:
    judge = str(row["model"])
    left_out = "" if row["left_out"] is None else trained_on(row)
    return Standing.build(
        judge,
        SYMMETRIC,
        dataset.evidence(row),
        rate_of(row, "symmetric"),
        items=int(row["cases"]),
        unit="cases",
        date=dates.get((dataset.name, judge), ""),
        link=f"{dataset.page}#cases",
        of=f"questions of {dataset.name}",
        notes=[left_out, uncertain(row, "symmetric")],
    )


def _failure(dataset: Answered, row: Numbers, pair: Pair) -> Failure:
    questions, answers = zip(*pair.said, strict=True)
    return Failure(
        str(row["model"]),
        dataset.evidence(row).firmness,
        pair.picture.file,
        f"{pair.title}, {pair.told}" if pair.told else pair.title,
        " And: ".join(questions),
        " And: ".join(answers),
        "Yes to one of the two, and no to the other",
        f"{dataset.gallery}#judge-{dataset.judges.index(row['model']) + 1}",
    )
