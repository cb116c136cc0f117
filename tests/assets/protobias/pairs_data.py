"""Small tables in the columns of ProtoBias, with pictures to go with them."""

import hashlib
import io
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd
from PIL import Image

from assets.protobias.filtered_pairs import FILTERED_COLUMNS
from assets.protobias.human_scores import HUMAN_SCORES
from assets.protobias.pages import SummarisedPainter, build
from assets.protobias.prompt_triplets import TRIPLETS
from assets.protobias.scores import SCORES
from assets.protobias.summary import SUMMARY
from assets.report.publish import publish
from generators.prompts.concepts import DOMAINS

METRICS = {
    "clip_l": ("clip_score", False),
    "qwen": ("judge", True),
    "prior": ("stand_in", False),
}
CONCEPTS = {
    "animals": ("penguin / robin", "platypus / dog"),
    "demography": ("poor American / poor Nigerian", "rich Indian / rich American"),
    "objects": ("bean bag / chair", "unicycle / bicycle"),
}
ODD = 'An <b>animal</b> & "two" rocks'
MEASURES = ("failure_rate", "tie_rate", "sc", "pa", "delta", "correct_margin", "incorrect_margin")


class Pictures:
    """Pictures by their sha256, each of one colour."""

    def __init__(self) -> None:
        self.pngs: dict[str, bytes] = {}

    def add(self, name: str) -> str:
        """A new one, told from all others by its name."""
        seed = hashlib.sha256(name.encode()).digest()
        data = io.BytesIO()
        Image.new("RGB", (48, 48), tuple(seed[:3])).save(data, "PNG")
        digest = hashlib.sha256(data.getvalue()).hexdigest()
        self.pngs[digest] = data.getvalue()
        return digest


def pairs_of(
    painter: str, pictures: Pictures, domains: Sequence[str] = DOMAINS, samples: int = 2
) -> pd.DataFrame:
    """Filtered pairs: of each concept the first sample evaluated; the last of a domain dropped."""
    rows: list[dict[str, Any]] = []
    for domain in domains:
        for place, concept in enumerate(CONCEPTS[domain]):
            for sample in range(samples):
                evaluated = sample == 0
                pair_id = f"{domain}/{concept.split(' /')[0].replace(' ', '-')}/{sample}"
                for side in ("correct", "adversarial"):
                    digest = pictures.add(f"{painter}/{pair_id}/{side}")
                    kept = evaluated or side == "correct"
                    row: dict[str, Any] = dict.fromkeys(FILTERED_COLUMNS.columns)
                    row |= {"domain": domain, "painter": painter, "concept": concept}
                    row |= {"concept_id": pair_id.rsplit("/", 1)[0], "group": "group"}
                    row |= {"knob": "count" if place == 0 else "spatial", "text": ODD}
                    row |= {
                        "pair_id": pair_id,
                        "side": side,
                        "image_id": f"{painter}/{pair_id}/{side}",
                    }
                    row |= {"prompt": f"The {side} sentence of {concept}", "sample": sample}
                    row |= {"seed": sample, "outcome": "painted", "sha256": digest}
                    row |= {"width": 48, "height": 48, "is_stand_in": painter == "sketch"}
                    row |= {
                        "calls": [],
                        "provenance": json.dumps({"dtype": "bfloat16", "steps": 5}),
                    }
                    row |= {"filter": "qwen_vl", "filter_family": "qwen", "filter_calls": []}
                    row |= {"filter_score": 9 if kept else 3, "filter_outcome": "scored"}
                    row |= {"kept": kept, "pair_kept": evaluated, "evaluated": evaluated}
                    rows.append(row | {"rank": place if evaluated else None})
    return FILTERED_COLUMNS.build_table(rows).to_pandas()


def scores_of(pairs: pd.DataFrame) -> pd.DataFrame:
    """Scores of what is evaluated: `clip_l` prefers the correct picture of the first concept of a
    domain and the adversarial one of the second, `qwen` refuses the second and ties on the first.
    """
    rows: list[dict[str, Any]] = []
    for of in FILTERED_COLUMNS.build_table(pairs[pairs["evaluated"]]).to_pylist():
        for metric, (formula, kin) in METRICS.items():
            correct, first = of["side"] == "correct", of["rank"] == 0
            raw = {"clip_l": 0.75 if correct == first else 0.25, "qwen": 0.5}.get(
                metric, 0.0 if correct else 1.0
            )
            refused = metric == "qwen" and not first
            row: dict[str, Any] = {name: of.get(name) for name in SCORES.columns}
            row |= {"metric": metric, "formula": formula, "same_family": kin, "calls": []}
            row |= {"outcome": "refused" if refused else "scored", "raw": None if refused else raw}
            row |= {"reason": "I would rather not." if refused else ""}
            row |= {"served_model": f"{metric}-2026" if formula != "stand_in" else ""}
            rows.append(row | {"score": row["raw"], "sample": "evaluated"})
    found = pd.DataFrame(rows)
    return found.astype({"raw": float, "score": float})


def summary_of(painter: str, scores: pd.DataFrame, *, human: bool = False) -> pd.DataFrame:
    """A summary whose numbers are told apart by metric, domain, knob and concept."""
    rows = []
    domains = [domain for domain in DOMAINS if domain in set(scores["domain"])]
    places = [("all", "all", "all")]
    for domain in domains:
        knobs = scores.loc[scores["domain"] == domain, "knob"].unique()
        places += [(domain, "all", "all"), *((domain, knob, "all") for knob in knobs)]
        places += [(domain, "all", concept) for concept in CONCEPTS[domain]]
    metrics = {**METRICS, "human": ("human", False)} if human else METRICS
    samples = ("evaluated", "human") if human else ("evaluated",)
    for sample in samples:
        for metric, (formula, kin) in metrics.items():
            if metric == "human" and sample == "evaluated":
                continue
            for domain, knob, concept in places:
                row: dict[str, Any] = dict.fromkeys(SUMMARY.columns)
                row |= {"painter": painter, "is_stand_in": painter == "sketch", "sample": sample}
                row |= {"metric": metric, "formula": formula, "same_family": kin, "domain": domain}
                row |= {"knob": knob, "concept": concept, "pairs": 400, "prompts": 3}
                row |= {"unscored": 1 if metric == "qwen" else 0, "ties": 0}
                for measure in MEASURES:
                    value = number(painter, sample, metric, domain, knob, concept, measure)
                    row |= {measure: value, f"{measure}_low": value - 0.05}
                    row |= {f"{measure}_high": value + 0.05}
                if metric == "prior":
                    row |= dict.fromkeys(
                        ("correct_margin", "correct_margin_low", "correct_margin_high")
                    )
                rows.append(row)
    return SUMMARY.build_table(rows).to_pandas()


def number(*of: str) -> float:
    """A number from 0.1 to 0.9 that is its name's own."""
    return 0.1 + int(hashlib.sha256("/".join(of).encode()).hexdigest()[:4], 16) % 801 / 1000


def triplets_of(domain: str) -> pd.DataFrame:
    """Four triplets of a domain, one of them rejected."""
    rows = []
    for place in range(4):
        row: dict[str, Any] = dict.fromkeys(TRIPLETS.columns)
        row |= {
            "concept_id": f"{domain}/{place}",
            "domain": domain,
            "knob": "count",
            "sample_rank": place,
        }
        row |= {"writer": "grammar", "outcome": "accepted", "rules": [], "attempts": 1}
        row |= {"labels": [], "values": [], "calls": []}
        if place == 3:
            row |= {"outcome": "rejected", "rules": ["too_long", "names_group"], "attempts": 3}
        rows.append(row)
    return TRIPLETS.build_table(rows).to_pandas()


def painted(
    painter: str,
    pictures: Pictures,
    domains: Sequence[str] = DOMAINS,
    *,
    human: bool = False,
    missing: Sequence[str] = (),
) -> SummarisedPainter:
    """A painter with everything, or with some domains alone."""
    pairs = pairs_of(painter, pictures, domains)
    scores = scores_of(pairs)
    stages = {"concepts": (4, 4), "triplets": (3, 4), "painted": (4, 4), "kept": (2, 4)}
    stages |= {"evaluated": (2, 2), "scored": (1, 2)}
    retention = [
        [domain, knob, stage, some, of, some / of]
        for domain in domains
        for knob in ("all", "count", "spatial")
        for stage, (some, of) in stages.items()
    ]
    return SummarisedPainter(
        name=painter,
        summary=summary_of(painter, scores, human=human),
        pairs=pairs,
        scores=scores,
        human=_people(pairs) if human else HUMAN_SCORES.build_table([]).to_pandas(),
        retention=pd.DataFrame(
            retention, columns=["domain", "knob", "stage", "number", "of", "share"]
        ),
        missing=missing,
    )


def _people(pairs: pd.DataFrame) -> pd.DataFrame:
    """Two annotators who agree on all but the first picture."""
    rows = []
    for at, of in enumerate(FILTERED_COLUMNS.build_table(pairs[pairs["evaluated"]]).to_pylist()):
        for annotator in ("ada", "ben"):
            row = {name: of.get(name) for name in HUMAN_SCORES.columns}
            score = 4 if of["side"] == "correct" else 1
            differs = annotator == "ben" and at == 0
            rows.append(row | {"annotator": annotator, "score": 3 if differs else score})
    return HUMAN_SCORES.build_table(rows).to_pandas()


def written(folder: Path, *painters: SummarisedPainter, pictures: Pictures, **changes: Any) -> Path:
    """The site of these painters, in `folder`."""
    given: dict[str, Any] = {
        "prompts": {domain: triplets_of(domain) for domain in DOMAINS},
        "facts": {"Filter": "qwen_vl"},
    }
    png_of = changes.pop("png_of", pictures.pngs.__getitem__)
    publish(folder, build(painters, **(given | changes)), png_of)
    return folder
