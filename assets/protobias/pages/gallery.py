"""Pairs side by side, with what every metric made of them."""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Literal, NamedTuple

import pandas as pd

from assets.kit.columns import NamedRow, iterate_named_rows
from assets.protobias.pages.figures import EVALUATED, HUMAN, TITLES, Painted
from assets.report.cells import Cell, Line, Table, number
from assets.report.formats import score
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
"""What became of a pair, in words, and how many of each are shown a domain."""

SHOWN = 544
"""The longer side in px of a picture: at most twice of what it is shown at."""
_PAIR = ["domain", "pair_id"]
_MARKS: Mapping[Mark, str] = {
    "✓": "prefers correct",
    "✗": "prefers adversarial",
    "=": "tie",
    "–": "unscored",
}


class Verdict(NamedTuple):
    """What one metric made of a pair: its scores, the correct picture's first, or why not.

    `margin` is by how much the adversarial picture scored more, 0 where a score is missing.
    """

    metric: str
    mark: Mark
    scores: str
    reason: str
    margin: float = 0.0

    @property
    def meaning(self) -> str:
        """The mark in words."""
        return _MARKS[self.mark]

    @property
    def failed(self) -> bool:
        """Whether the adversarial picture scored as high as the correct one, or higher."""
        return self.mark in "✗="


class Shot(NamedTuple):
    """One picture of a pair, or why there is none; `facts` are its provenance in words."""

    side: str
    sha256: str
    width: int
    height: int
    prompt: str
    problem: str
    facts: Mapping[str, str]

    @property
    def thumbnail(self) -> Thumbnail:
        """What is shown of it."""
        return Thumbnail(self.sha256, SHOWN)

    @property
    def file(self) -> str:
        """Where the image lies in the site, if it lies there as it is."""
        return f"images/{self.sha256}.png"


class Pair(NamedTuple):
    """Both pictures under one text."""

    pair_id: str
    domain: str
    concept: str
    knob: str
    text: str
    state: State
    shots: Sequence[Shot]
    verdicts: Sequence[Verdict]

    @property
    def failed_by(self) -> set[str]:
        """The metrics that fail it."""
        return {verdict.metric for verdict in self.verdicts if verdict.failed}

    @property
    def state_in_words(self) -> str:
        """What became of it."""
        return STATES[self.state][0]


class Gallery(NamedTuple):
    """The pairs of a painter that are shown, of how many, and whose verdicts."""

    pairs: Sequence[Pair]
    all: int
    table: Table
    metrics: Sequence[str]

    @property
    def thumbnails(self) -> Iterator[Thumbnail]:
        """Every picture as it is shown."""
        return (shot.thumbnail for pair in self.pairs for shot in pair.shots if shot.sha256)

    @property
    def knobs(self) -> list[str]:
        """The knobs of the pairs that are shown."""
        return sorted({pair.knob for pair in self.pairs})

    @property
    def states(self) -> list[State]:
        """What became of the pairs that are shown."""
        held = {pair.state for pair in self.pairs}
        return [state for state in STATES if state in held]


def gallery(painted: Painted) -> Gallery:
    """The first pairs of every domain and state: those that are evaluated by their rank."""
    metrics = [metric.name for metric in painted.board.metrics]
    metrics += [HUMAN] if painted.by_people else []
    states = _states(painted.pairs)
    chosen, lines = [states.head(0)], []
    for domain in painted.domains:
        for state, (said, most) in STATES.items():
            held = states[states["domain"].eq(domain) & states["state"].eq(state)]
            if len(held):
                chosen.append(held.sort_values("rank", kind="stable").head(most))
                numbers = [number(len(chosen[-1])), number(len(held))]
                lines.append(Line(TITLES[domain], [Cell(said), *numbers]))
    picked = pd.concat(chosen, ignore_index=True)
    by_pair = _by_pair(painted.pairs, picked)
    wanted = painted.scores["sample"].eq(EVALUATED) | painted.scores["metric"].eq(HUMAN)
    scored = _by_pair(painted.scores[wanted], picked)
    pairs = []
    for row in iterate_named_rows(picked):
        key = (row.domain, row.pair_id)
        both = sorted(by_pair[key], key=lambda shot: shot.side != "correct")
        first, shots = both[0], [_shot(each) for each in both]
        verdicts = _verdicts(metrics, scored.get(key, ())) if row.state == "evaluated" else []
        about = (first.domain, first.concept, first.knob, first.text)
        pairs.append(Pair(first.pair_id, *about, row.state, shots, verdicts))
    heads = ("What became of them", "Shown", "Pairs")
    return Gallery(
        pairs, len(states), Table.plain("Pairs shown of all", "Domain", heads, lines), metrics
    )


def _states(pairs: pd.DataFrame) -> pd.DataFrame:
    """One row a pair: domain, pair_id, rank and what became of it, in the order of the table."""
    lacking = pd.DataFrame(
        {
            "unpainted": pairs["outcome"].isin(["refused", "malformed", "failed"]),
            "flawed": pairs["outcome"].eq("flawed"),
            "unfiltered": pairs["pair_kept"].isna(),
            "dropped": pairs["pair_kept"].eq(other=False),
            "kept": pairs["evaluated"].ne(other=True),
        }
    )
    held = lacking.groupby([pairs[name] for name in _PAIR], sort=False).any()
    held["state"] = held.idxmax(axis=1).where(held.any(axis=1), "evaluated")
    ranks = pairs.groupby(_PAIR, sort=False)["rank"].first()
    return held[["state"]].assign(rank=ranks).reset_index()


def _by_pair(table: pd.DataFrame, picked: pd.DataFrame) -> dict[tuple[str, str], list[NamedRow]]:
    found: dict[tuple[str, str], list[NamedRow]] = {}
    for row in iterate_named_rows(table.merge(picked[_PAIR], on=_PAIR)):
        found.setdefault((row.domain, row.pair_id), []).append(row)
    return found


def _verdicts(metrics: Sequence[str], scored: Sequence[NamedRow]) -> list[Verdict]:
    by_side = {(row.metric, row.side): row for row in scored}
    return [
        _verdict(metric, *(by_side.get((metric, side)) for side in ("correct", "adversarial")))
        for metric in metrics
        if metric != HUMAN or (HUMAN, "correct") in by_side
    ]


def _verdict(metric: str, correct: NamedRow | None, adversarial: NamedRow | None) -> Verdict:
    """Which picture is preferred is read off the raw scores, as for every figure."""
    both = [row for row in (correct, adversarial) if row is not None]
    raw = [row.raw for row in both if row.raw is not None]
    told = [score(row.score) for row in both]
    if len(raw) < 2:
        why = dict.fromkeys(row.reason or row.outcome for row in both if row.raw is None)
        return Verdict(metric, "–", "", "; ".join(why) or "not scored")
    if raw[0] == raw[1]:
        return Verdict(metric, "=", f"both {told[0]}", "")
    mark: Mark = "✓" if raw[0] > raw[1] else "✗"
    if told[0] == told[1]:
        return Verdict(metric, mark, f"{raw[0]:.6g} against {raw[1]:.6g} (raw scores)", "")
    margin = both[1].score - both[0].score
    return Verdict(metric, mark, f"{told[0]} against {told[1]}", "", margin)


def _shot(row: NamedRow) -> Shot:
    """A picture with its provenance: what a painter was asked, and how it made it."""
    rated = (
        f"{_whole(row.filter_score)} of 10" if row.filter_score is not None else row.filter_reason
    )
    facts = {
        "Seed": _whole(row.seed) or "none: this painter takes none",
        "Sample": str(row.sample),
        "Model": row.served_model or row.painter,
        "Size": f"{_whole(row.width)} × {_whole(row.height)} px" if row.sha256 else "",
        "Filter": f"{row.filter}: {rated}" if row.filter and rated else "",
        "Filter said": row.filter_response or "",
        "sha256": row.sha256 or "",
        **_made(row.provenance),
    }
    dropped = f"The filter gave it {rated}" if row.kept is False and rated else ""
    why = (row.outcome if row.outcome != "painted" else "", row.flaw, row.reason, dropped)
    return Shot(
        row.side,
        row.sha256 or "",
        int(row.width or 0),
        int(row.height or 0),
        row.prompt,
        ": ".join(dict.fromkeys(each for each in why if each)),
        {name: fact for name, fact in facts.items() if fact},
    )


def _whole(number: float | None) -> str:
    """A whole number, which a column that lacks some holds as a real one; "" for none."""
    return "" if number is None else str(int(number))


def _made(made: str | None) -> dict[str, str]:
    """How a local model made it, each fact by its name; lists and mappings as JSON."""
    facts = json.loads(made) if made else {}
    return {
        name.replace("_", " ").capitalize(): fact if isinstance(fact, str) else json.dumps(fact)
        for name, fact in facts.items()
    }
