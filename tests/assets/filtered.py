"""Filtered pairs of schematics for tests: all kept, and all of them evaluated."""

import pyarrow.parquet as pq

from assets.protobias.filtered_pairs import FILTERED_COLUMNS
from generators import sketch
from resources.storage.image_store import ImageStore
from tests.assets.paired import SKETCH, concepts_of
from tests.assets.written import right
from tests.runs import table

SIDES = ("correct", "adversarial")


def filtered_rows(root, domain, number, samples=1):
    """Rows of `filtered_pairs` of so many concepts, with their pictures stored below `root`."""
    images, rows = ImageStore(root=str(root)), []
    for place, concept in enumerate(concepts_of(number, domain)):
        triplet = right(concept)
        for sample in range(samples):
            for side in SIDES:
                prompt = getattr(triplet, side)
                pair = f"{concept.concept_id}/{sample}"
                known = {name: getattr(concept, name) for name in ("group", "concept", "knob")}
                known |= {"domain": domain, "painter": "sketch", "text": triplet.text}
                known |= {"concept_id": concept.concept_id, "pair_id": pair, "side": side}
                known |= {"image_id": f"sketch/{pair}/{side}", "prompt": prompt, "sample": sample}
                known |= {"sha256": images.put(sketch.paint_sketch(prompt, str(sample)))}
                known |= {
                    "outcome": "painted",
                    "is_stand_in": True,
                    "calls": [],
                    "filter_calls": [],
                }
                known |= {"filter": "pixels", "filter_family": SKETCH.family, "filter_score": 10}
                known |= {"filter_outcome": "scored", "kept": True, "pair_kept": True}
                known |= {"rank": place * samples + sample, "evaluated": True}
                rows.append(dict.fromkeys(FILTERED_COLUMNS.columns) | known)
    return rows


def write_filtered(root, domain, rows, painter="sketch"):
    """Store them as `filtered_pairs`."""
    path = table(root, f"filtered_pairs/{domain}", painter, "protobias")
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(FILTERED_COLUMNS.build_table(rows), path)
