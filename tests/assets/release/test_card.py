"""Data cards, read by huggingface_hub: the head that loaders need, and all that people ask."""

import pytest
from huggingface_hub import DatasetCard

from assets.kit.benchmarks import load_benchmarks
from assets.kit.licences import OWN, PartLicence
from assets.release import Release, ReleasedSplit, ReleasedTable
from assets.release.card import build_card
from assets.release.contents import Results
from assets.release.croissant import build_croissant
from assets.release.statements import PROOFS, build_statements

OWN_PART = PartLicence(OWN, "CC-BY-4.0", "Drawn by code.")
OTHER = PartLicence("a | b", "Public domain", "Found in an attic.")
BENCHMARKS = {name: b for name, b in load_benchmarks().items() if b.release_tables}


def build_release(benchmark, **changes):
    values = {
        "benchmark": benchmark.name,
        "title": benchmark.title,
        "question": benchmark.question,
        "card": benchmark.release_card,
        "version": "1.0.0",
        "partitions": (),
        "parts": (),
        "seeds": (3,),
        "fresh_seed_commands": ("counterfactory run x",),
        "licence": "CC-BY-4.0",
        "licences": (OWN_PART,),
        "tables": [
            ReleasedTable(
                declaration=table,
                splits=[ReleasedSplit(name=name, rows=500, files=()) for name in table.splits],
                proofs=dict.fromkeys(PROOFS, 7),
            )
            for table in benchmark.release_tables
        ],
        "missing_tables": [],
        "judges": ("eye",),
        "has_webdataset": True,
        "evaluation_version": benchmark.evaluation_version,
        "leaderboard": benchmark.leaderboard,
        "results": Results(),
    }
    return Release(**{**values, **changes})


@pytest.mark.parametrize("name", BENCHMARKS)
def test_each_benchmark_has_a_whole_card(name):
    benchmark = BENCHMARKS[name]
    card = DatasetCard(build_card(build_release(benchmark), []))
    assert card.data.license == "cc-by-4.0"
    assert card.data.pretty_name == benchmark.title
    declared = {
        table.config: [(split, f"data/{table.config}/{split}-*.parquet") for split in table.splits]
        for table in benchmark.release_tables
    }
    assert declared == {
        config["config_name"]: [(file["split"], file["path"]) for file in config["data_files"]]
        for config in card.data.configs
    }
    assert [config.get("default", False) for config in card.data.configs][:1] == [True]
    for table in benchmark.release_tables:
        assert all(f"| `{column}` |" in card.text for column in table.columns.columns)
    for title in (
        "## Load",
        "## Seed",
        "## Not in it",
        "## Known limits",
        "## Licences",
        "## Cite",
    ):
        assert f"\n{title}\n" in card.text
    assert "Seed: 3." in card.text
    assert "counterfactory run x" in card.text


@pytest.mark.parametrize("name", BENCHMARKS)
def test_no_statement_is_empty_and_a_model_as_proof_is_a_limit(name):
    statements = build_statements(build_release(BENCHMARKS[name]), [])
    for sentences in statements:
        assert sentences
        assert all(s.endswith((".", "?")) and s[0].isupper() for s in sentences)
    assert any(s.startswith("A model alone confirmed") for s in statements.limitations)


def test_several_licences_are_named_by_part():
    card = DatasetCard(
        build_card(build_release(BENCHMARKS["vlmbias"], licences=(OWN_PART, OTHER)), [])
    )
    assert (card.data.license, card.data.license_link) == ("other", "LICENCES.md")
    assert "| a \\| b | Public domain | Found in an attic. |" in card.text


@pytest.mark.parametrize(
    ("rows", "size"), [(999, "n<1K"), (1_000, "1K<n<10K"), (62_750, "10K<n<100K"), (10**7, "n>1M")]
)
def test_the_size_is_in_the_words_of_the_hub(rows, size):
    benchmark = BENCHMARKS["protobias"]
    (first, *_) = benchmark.release_tables
    table = ReleasedTable(
        declaration=first,
        splits=[ReleasedSplit(name="test", rows=rows, files=())],
        proofs={"model": rows},
    )
    card = DatasetCard(build_card(build_release(benchmark, tables=[table]), []))
    assert card.data.size_categories == [size]


def test_without_a_seed_the_card_says_so():
    release = build_release(BENCHMARKS["philautia"], seeds=(), fresh_seed_commands=())
    text = build_card(release, [])
    assert "No table has a seed." in text
    assert "no command makes an equivalent set" in text


@pytest.mark.parametrize(
    ("licence", "address"),
    [
        ("CC-BY-4.0", "https://spdx.org/licenses/CC-BY-4.0"),
        ("LicenseRef-mine", "LicenseRef-mine"),
        ("Foo-9", "Foo-9"),
        ("(MIT)", "(MIT)"),
        ("Public domain", "Public domain"),
    ],
)
def test_only_a_licence_of_the_list_has_an_address(tmp_path, licence, address):
    parts = (OTHER._replace(licence=licence),)
    document = build_croissant(
        tmp_path, build_release(BENCHMARKS["vlmbias"], licences=parts), [], {}
    )
    assert document["license"] == [address]
    assert document["prov:wasDerivedFrom"][0]["license"] == address
