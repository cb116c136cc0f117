"""Concepts: instances of the taxonomy, sampled by seed without repeats."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import asdict, fields
from typing import Any, NamedTuple

import pandas as pd
from dagster import MarkdownMetadataValue
from pydantic import Field

from assets.kit.columns import TEXT, TEXTS, WHOLE, Columns
from assets.kit.limits import format_count_of_total
from assets.kit.plan import PaperSample
from assets.kit.previews import markdown_table
from assets.kit.step import Step, StepAsset, StepTable
from assets.kit.step_run import Row, StepRun
from assets.protobias.common import asset_key, protobias_domains
from generators.prompts.concepts import Concept
from generators.prompts.sampling import SIZES, find_existing, sample_concepts
from resources.models.requests import Request
from resources.settings.run_config import Config
from resources.storage.data_root import DataRoot
from resources.storage.files import list_folder
from resources.user_files.taxonomy_file import find_taxonomy_path, load_taxonomy

CONCEPTS = Columns(
    concept_id=(TEXT, "Readable name, derived from its contents alone"),
    domain=(TEXT, "animals, demography or objects"),
    group=(TEXT, "Subcategory of the taxonomy, as in birds or religion"),
    concept=(TEXT, "The cell of the taxonomy in words, as in penguin / robin"),
    hypernym=(TEXT, "Word for the main entity in the text"),
    non_prototype=(TEXT, "Main entity in the correct sentence"),
    prototype=(TEXT, "Main entity in the adversarial sentence"),
    attribute=(TEXT, "Attribute of the main entity in all three sentences; demography only"),
    socio_attribute=(TEXT, "wealth, intellect, morality, power or civility; else empty"),
    pole=(TEXT, "positive or negative; demography only"),
    disadvantaged=(TEXT, "Name of the group; demography only"),
    advantaged=(TEXT, "Name of the group; demography only"),
    labels=(TEXTS, "Words that the text may not contain"),
    knob=(TEXT, "Trait of the extra element that differs in the adversarial sentence"),
    values=(TEXTS, "Value of the knob in the text, and in the adversarial sentence"),
    extra_element=(TEXT, "Object beside the main entity"),
    environment_hint=(TEXT, "Setting of the scene"),
    source=(TEXT, "Origin of the pair: the paper's, ours or the user's own"),
    habitats=(TEXTS, "Settings that fit both entities; empty for any"),
    sample_rank=(WHOLE, "Rank in the sample, from 0: a smaller sample begins a larger one"),
    seed=(WHOLE, "Random seed for sampling"),
)

_FIELDS = tuple(field.name for field in fields(Concept))


def to_concept(row: Mapping[str, Any]) -> Concept:
    """The concept of a row of `concepts`, or of any table that has its columns."""
    values = {name: row[name] for name in _FIELDS}
    lists = {name: tuple(row[name]) for name in ("labels", "values", "habitats")}
    return Concept(**{**values, **lists})


class ProtoConceptsConfig(Config):
    """Number of concepts to draw, and whether stored concepts are kept."""

    instances: int | None = Field(
        default=None,
        ge=1,
        description=(
            "Number of concepts. Default: the paper's number (animals 2,000, demography 2,400, "
            "objects 1,875). A smaller number selects the first of a larger one."
        ),
    )
    seed: int = Field(default=0, description="Random seed for sampling.")
    keeps_stored: bool | None = Field(
        default=None,
        description=(
            "Keep the stored concepts that taxonomy.yaml still has, in their order, and draw only "
            "the missing ones. Default: yes if a painter other than a stand-in painted this "
            "domain and the seed is the same."
        ),
    )


class ProtoConcepts(Step[ProtoConceptsConfig]):
    """Sample a domain's concepts. Raises `NotEnoughConcepts` if the taxonomy has too few."""

    config = ProtoConceptsConfig
    asset = StepAsset(
        key=asset_key("concepts"),
        partitions_def=protobias_domains,
        description=(
            "Concepts for triplets: instances of the taxonomy, each with a knob, an extra element "
            "and a place (ProtoBias, A.1)."
        ),
    )
    table = StepTable(columns=CONCEPTS)

    def rows(self, work: StepRun[ProtoConceptsConfig]) -> list[dict[str, Any]]:
        """Sample the taxonomy."""
        return [
            asdict(concept) | {"sample_rank": place, "seed": work.config.seed}
            for place, concept in enumerate(
                sample_with_stored(work.home, work.partition, work.config)
            )
        ]

    def metadata(self, work: StepRun[ProtoConceptsConfig], rows: Sequence[Row]) -> dict[str, Any]:
        """Report added and dropped concepts, and the effect on existing pictures."""
        table = pd.DataFrame(rows)
        earlier_ids, concept_ids = _ids(_load_stored(work.home, work.partition)), _ids(table)
        painters = list(load_painter_pictures(work.home, work.partition))
        if warning := dropped_pictures_warning(painters, earlier_ids - concept_ids, concept_ids):
            work.log.warning(warning)
        return {
            "concepts": len(rows),
            "kept": len(earlier_ids & concept_ids),
            "dropped": len(earlier_ids - concept_ids),
            "new": len(concept_ids - earlier_ids),
            "pictures": markdown_table(describe_effects(painters, concept_ids)),
            "cells": table["concept"].nunique(),
            "by_cell": _tabulate_counts(table, ["group", "concept", "source"]),
            "by_knob": _tabulate_counts(table, ["knob"]),
            "by_source": _tabulate_counts(table, ["source"]),
        }


def sample_domain_concepts(
    domain: str, config: ProtoConceptsConfig, kept_concepts: Sequence[Concept] = ()
) -> Iterator[Concept]:
    """A domain's concepts for a config, `kept_concepts` first. Raises `NotEnoughConcepts`."""
    return sample_concepts(
        load_taxonomy(find_taxonomy_path()), domain, config.instances, config.seed, kept_concepts
    )


def sample_with_stored(
    home: DataRoot, domain: str, config: ProtoConceptsConfig
) -> Iterator[Concept]:
    """Yield a domain's sampled concepts, starting from the stored ones where these are kept."""
    earlier = _load_stored(home, domain)
    if earlier.empty or not _keeps(home, domain, config, earlier):
        return sample_domain_concepts(domain, config)
    before = (to_concept(row) for row in CONCEPTS.read_rows(earlier, asset_key("concepts")))
    return sample_domain_concepts(
        domain, config, [*find_existing(load_taxonomy(find_taxonomy_path()), domain, before)]
    )


def _keeps(home: DataRoot, domain: str, config: ProtoConceptsConfig, earlier: pd.DataFrame) -> bool:
    if config.keeps_stored is not None:
        return config.keeps_stored
    return set(earlier["seed"]) == {config.seed} and any(
        not painter.is_stand_in and painter.pictures
        for painter in load_painter_pictures(home, domain)
    )


def _load_stored(home: DataRoot, domain: str) -> pd.DataFrame:
    """The concepts that are stored; an empty table where there are none yet."""
    table = home.find(asset_key("concepts"), domain)
    return pd.DataFrame(columns=list(CONCEPTS.columns)) if table is None else table


def _ids(rows: pd.DataFrame) -> set[str]:
    return set(rows["concept_id"])


def format_sample_size(number: int, domain: str) -> str:
    """Format a sample size, as in "6 of 2,000 concepts"; the total appears only where larger."""
    paper_size = SIZES[domain]
    return (
        format_count_of_total(number, paper_size, "concepts")
        if number < paper_size
        else f"{number:,} concepts"
    )


def estimate_paper_sample(
    domain: str, drawn: int, limit: int | None, number: int, request: Request
) -> PaperSample | None:
    """Estimate a step's requests for the paper's sample: their number and the largest request.

    None where as many concepts are drawn; `limit` is that of the step itself.
    """
    concepts = min(drawn, limit or drawn)
    if concepts >= SIZES[domain]:
        return None
    return PaperSample(format_sample_size(concepts, domain), number, request)


def _tabulate_counts(rows: pd.DataFrame, columns: list[str]) -> MarkdownMetadataValue:
    return markdown_table(rows.groupby(columns, sort=False).size().reset_index(name="concepts"))


_PAIRS = asset_key("image_pairs")


class PainterPictures(NamedTuple):
    """The pictures of one painter in a domain."""

    painter: str
    is_stand_in: bool
    """Whether the painter is a stand-in, whose pictures cost nothing."""
    pictures: Mapping[str, int]
    """Number of pictures by concept id."""

    def count_pictures(self, concepts: Set[str]) -> int:
        """Count the pictures of some concepts."""
        return sum(number for name, number in self.pictures.items() if name in concepts)

    def count_missing(self, concepts: Set[str]) -> int:
        """Count the pictures to paint for concepts without any, with equally many samples."""
        return len(concepts - self.pictures.keys()) * max(self.pictures.values(), default=0)


def load_painter_pictures(home: DataRoot, domain: str) -> Iterator[PainterPictures]:
    """Yield the stored pictures of each painter in a domain."""
    for path in list_folder(home.path(*_PAIRS.path, domain)):
        if path.name.startswith(".") or path.suffix != ".parquet":
            continue
        columns = ["concept_id", "outcome", "is_stand_in"]
        rows = home.table(_PAIRS, f"{domain}|{path.stem}", columns)
        rows = rows[rows["outcome"].isin(["painted", "flawed"])]
        yield PainterPictures(
            path.stem, bool(rows["is_stand_in"].all()), Counter(rows["concept_id"])
        )


def describe_effects(painters: Sequence[PainterPictures], concepts: Set[str]) -> pd.DataFrame:
    """Tabulate, by painter, the existing pictures, those still in the sample and those to paint."""
    return pd.DataFrame(
        [
            (
                painter.painter,
                sum(painter.pictures.values()),
                painter.count_pictures(concepts),
                painter.count_missing(concepts),
            )
            for painter in painters
        ],
        columns=["painter", "pictures", "still used", "to be painted"],
    )


def dropped_pictures_warning(
    painters: Sequence[PainterPictures], dropped: Set[str], concepts: Set[str]
) -> str | None:
    """A warning of paid pictures that are no longer used; None if there are none."""
    lost = [
        painter
        for painter in painters
        if not painter.is_stand_in and painter.count_pictures(dropped)
    ]
    if not lost:
        return None
    descriptions = "; ".join(
        f"{painter.painter} has {painter.count_pictures(dropped):,} pictures of these, and would "
        f"paint {painter.count_missing(concepts):,} of others"
        for painter in lost
    )
    return (
        f"This sample lacks {len(dropped):,} concepts of the one before: {descriptions}. What is "
        "stored stays until protobias/prompt_triplets and image_pairs are materialized again."
    )
