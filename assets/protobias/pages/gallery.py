"""Pairs side by side, with what every metric made of them."""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Literal, NamedTuple

import pandas as pd

from assets.kit.columns import NamedRow, iterate_named_rows
from assets.protobias.pages.figures import EVALUATED, HUMAN, TITLES, SummarisedPainter
from assets.report.cells import Cell, Line, Table, number_cell
from assets.report.filters import Filter
from assets.report.formats import capitalize_first, format_score
from assets.report.publish import Thumbnail

Mark = Literal["✓", "✗", "=", "–"]
State = Literal["evaluated", "kept", "dropped", "unfiltered", "flawed", "unpainted"]

STATES: Mapping[State, tuple[str, int]] = {
    "evaluated": ("evaluated", 60),
    "kept": ("kept, beyond the evaluation", 12),
    "dropped": ("dropped by the filter", 12),
    "unfiltered": ("not filtered yet", 12),
    "flawed": ("flawed", 12),
    "unpainted": ("without a picture", 12),
}
"""Names of a pair's states, and the number of each shown per domain."""

SHOWN = 544
"""The longer side in px of a picture: at most twice of what it is shown at."""
_PAIR = ["domain", "pair_id"]
_MARKS: Mapping[Mark, str] = {
    "✓": "prefers correct",
    "✗": "prefers adversarial",
    "=": "tie",
    "–": "unscored",
}


class MetricVerdict(NamedTuple):
    """A metric's scores of a pair, the correct picture's first, or the reason for none.

    `margin` is by how much the adversarial picture scored more, 0 where a score is missing.
    """

    metric: str
    mark: Mark
    details: str
    margin: float = 0.0

    @property
    def meaning(self) -> str:
        """The mark in words."""
        return _MARKS[self.mark]

    @property
    def failed(self) -> bool:
        """True if the adversarial picture scored as high as the correct one, or higher."""
        return self.mark in "✗="


class Shot(NamedTuple):
    """A picture of a pair, or why there is none: a row of `filtered_pairs`."""

    row: NamedRow

    @property
    def thumbnail(self) -> Thumbnail:
        """The picture as it is shown."""
        return Thumbnail(self.row.sha256, SHOWN)

    @property
    def file(self) -> str:
        """Path of the image in the site, if it lies there as it is."""
        return f"images/{self.row.sha256}.png"

    @property
    def rated(self) -> str:
        """Score by the filter, or the reason for a missing one."""
        row = self.row
        has_score = row.filter_score is not None
        return f"{_format_whole(row.filter_score)} of 10" if has_score else row.filter_reason or ""

    @property
    def problem(self) -> str:
        """Reason why there is no picture, or why it is not in the benchmark."""
        row = self.row
        dropped = f"The filter gave it {self.rated}" if row.kept is False and self.rated else ""
        why = (row.outcome if row.outcome != "painted" else "", row.flaw, row.reason, dropped)
        return ": ".join(dict.fromkeys(reason for reason in why if reason))

    @property
    def facts(self) -> Mapping[str, str]:
        """Its provenance: what a painter was asked, and how it made it."""
        row = self.row
        facts = {
            "Seed": _format_whole(row.seed) or "none: this painter takes none",
            "Sample": str(row.sample),
            "Model": row.served_model or row.painter,
            "Size": f"{_format_whole(row.width)} × {_format_whole(row.height)} px"
            if row.sha256
            else "",
            "Filter": f"{row.filter}: {self.rated}" if row.filter and self.rated else "",
            "Filter said": row.filter_response or "",
            "sha256": row.sha256 or "",
        }
        # How a local model made it, by name.
        for name, fact in json.loads(row.provenance or "{}").items():
            text = fact if isinstance(fact, str) else json.dumps(fact)
            facts[name.replace("_", " ").capitalize()] = text
        return {name: fact for name, fact in facts.items() if fact}


class GalleryPair(NamedTuple):
    """A pair of pictures under one text, which is in the row of the first, the correct one."""

    state: State
    shots: Sequence[Shot]
    verdicts: Sequence[MetricVerdict]

    @property
    def row(self) -> NamedRow:
        """Row with the columns that both pictures share."""
        return self.shots[0].row

    @property
    def failing_metrics(self) -> set[str]:
        """The metrics that fail it."""
        return {verdict.metric for verdict in self.verdicts if verdict.failed}

    @property
    def state_in_words(self) -> str:
        """The state in words."""
        return STATES[self.state][0]


class PairGallery(NamedTuple):
    """The pairs of a painter that are shown, of how many, and whose verdicts."""

    pairs: Sequence[GalleryPair]
    all: int
    table: Table
    metrics: Sequence[str]

    @property
    def thumbnails(self) -> Iterator[Thumbnail]:
        """The pictures as they are shown."""
        return (shot.thumbnail for pair in self.pairs for shot in pair.shots if shot.row.sha256)

    @property
    def filters(self) -> list[Filter]:
        """The choices above the pairs."""
        rows = [pair.row for pair in self.pairs]
        domains = {row.domain: TITLES[row.domain] for row in rows}
        knobs = {row.knob: capitalize_first(row.knob.replace("_", " ")) for row in rows}
        shown = {pair.state for pair in self.pairs}
        states: dict[str, str] = {
            state: capitalize_first(words) for state, (words, _) in STATES.items() if state in shown
        }
        return [
            Filter("Domain", "domain", domains, "All domains"),
            Filter("Knob", "knob", dict(sorted(knobs.items())), "All knobs"),
            Filter("Failed by", "wrong", {name: name for name in self.metrics}, "Not filtered"),
            Filter("What became of it", "state", states, "Everything"),
        ]


def gallery(painted: SummarisedPainter) -> PairGallery:
    """The first pairs of every domain and state: those that are evaluated by their rank."""
    metrics = [metric.name for metric in painted.board.metrics]
    metrics += [HUMAN] if painted.has_people else []
    states = _states(painted.pairs)
    chosen, lines = [states.head(0)], []
    for domain in painted.domains:
        for state, (state_words, most) in STATES.items():
            pairs_in_state = states[states["domain"].eq(domain) & states["state"].eq(state)]
            if len(pairs_in_state):
                chosen.append(pairs_in_state.sort_values("rank", kind="stable").head(most))
                numbers = [number_cell(len(chosen[-1])), number_cell(len(pairs_in_state))]
                lines.append(Line(TITLES[domain], [Cell(state_words), *numbers]))
    picked = pd.concat(chosen, ignore_index=True)
    by_pair = _group_by_pair(painted.pairs, picked)
    is_shown = painted.scores["sample"].eq(EVALUATED) | painted.scores["metric"].eq(HUMAN)
    scored = _group_by_pair(painted.scores[is_shown], picked)
    pairs = []
    for row in iterate_named_rows(picked):
        key = (row.domain, row.pair_id)
        both = sorted(by_pair[key], key=lambda shot: shot.side != "correct")
        verdicts = _verdicts(metrics, scored.get(key, ())) if row.state == "evaluated" else []
        pairs.append(GalleryPair(row.state, [*map(Shot, both)], verdicts))
    heads = ("What became of them", "Shown", "Pairs")
    return PairGallery(
        pairs, len(states), Table.plain("Pairs shown of all", "Domain", heads, lines), metrics
    )


def _states(pairs: pd.DataFrame) -> pd.DataFrame:
    """Build one row per pair, in table order: domain, pair_id, rank and state."""
    lacking = pd.DataFrame(
        {
            "unpainted": pairs["outcome"].isin(["refused", "malformed", "failed"]),
            "flawed": pairs["outcome"].eq("flawed"),
            "unfiltered": pairs["pair_kept"].isna(),
            "dropped": pairs["pair_kept"].eq(other=False),
            "kept": pairs["evaluated"].ne(other=True),
        }
    )
    lacking_by_pair = lacking.groupby([pairs[name] for name in _PAIR], sort=False).any()
    lacking_by_pair["state"] = lacking_by_pair.idxmax(axis=1).where(
        lacking_by_pair.any(axis=1), "evaluated"
    )
    ranks = pairs.groupby(_PAIR, sort=False)["rank"].first()
    return lacking_by_pair[["state"]].assign(rank=ranks).reset_index()


def _group_by_pair(
    table: pd.DataFrame, picked: pd.DataFrame
) -> dict[tuple[str, str], list[NamedRow]]:
    rows_by_pair: dict[tuple[str, str], list[NamedRow]] = {}
    for row in iterate_named_rows(table.merge(picked[_PAIR], on=_PAIR)):
        rows_by_pair.setdefault((row.domain, row.pair_id), []).append(row)
    return rows_by_pair


def _verdicts(metrics: Sequence[str], scored: Sequence[NamedRow]) -> list[MetricVerdict]:
    by_side = {(row.metric, row.side): row for row in scored}
    return [
        _verdict(metric, *(by_side.get((metric, side)) for side in ("correct", "adversarial")))
        for metric in metrics
        if metric != HUMAN or (HUMAN, "correct") in by_side
    ]


def _verdict(metric: str, correct: NamedRow | None, adversarial: NamedRow | None) -> MetricVerdict:
    """Read off the raw scores which picture is preferred, as for every figure."""
    both = [row for row in (correct, adversarial) if row is not None]
    raw = [row.raw for row in both if row.raw is not None]
    score_texts = [format_score(row.score) for row in both]
    if len(raw) < 2:
        why = dict.fromkeys(row.reason or row.outcome for row in both if row.raw is None)
        return MetricVerdict(metric, "–", "; ".join(why) or "not scored")
    if raw[0] == raw[1]:
        return MetricVerdict(metric, "=", f"both {score_texts[0]}")
    mark: Mark = "✓" if raw[0] > raw[1] else "✗"
    if score_texts[0] == score_texts[1]:
        return MetricVerdict(metric, mark, f"{raw[0]:.6g} against {raw[1]:.6g} (raw scores)")
    margin = both[1].score - both[0].score
    return MetricVerdict(metric, mark, f"{score_texts[0]} against {score_texts[1]}", margin)


def _format_whole(number: float | None) -> str:
    """A whole number, which a column that lacks some holds as a real one; "" for none."""
    return "" if number is None else str(int(number))
