"""Rows and folders that a release refuses, with nothing left behind."""

from dataclasses import replace

import pytest

from assets.kit.table_asset import NotMaterialized
from assets.release import ReleaseOptions, ReleaseRefused, write_release
from assets.release.secrets import SecretFinder
from resources.models.catalog import Catalog, Model
from tests.assets.release.small import SHADES, SHAPES, TABLE, open_made, read_rows, with_rows

CLEAN = "counterfactory release shapes --to FOLDER --partitions 'light'"


def refused(benchmark, sources, tmp_path, error=ReleaseRefused, **options):
    """The message of a refusal that leaves the folder's parent as it was."""
    target = tmp_path / "there" / "out"
    target.parent.mkdir(exist_ok=True)
    with pytest.raises(error) as caught:
        write_release(target, benchmark, sources, ReleaseOptions(**options))
    assert not list(target.parent.iterdir())
    return str(caught.value)


def dark(**fields):
    """The benchmark, with changed rows in the partition `dark`."""
    return with_rows(
        lambda row, _: row._replace(**fields) if row.row_id.startswith("dark") else row
    )


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"is_stand_in": True}, "3 rows made by stand-ins: squares/dev/dark/10, "),
        ({"proof": None}, "3 rows with an unproved label: "),
        ({"unfit_reason": "unreviewed photograph"}, "(unreviewed photograph): "),
        ({"parts": ("brush",)}, "3 rows from brush, whose licence is unknown: "),
    ],
)
def test_rows_that_must_not_leave_are_named(fields, words, sources, tmp_path):
    message = refused(dark(**fields), sources, tmp_path)
    assert words in message
    assert "squares/test/dark/30" in message
    assert "light" not in message.partition("\nPartitions")[0]
    assert message.endswith(CLEAN)
    chosen = ReleaseOptions(partitions=["light"])
    assert write_release(tmp_path / "light", dark(**fields), sources, chosen).tables[0].rows == 3


def test_ten_rows_are_named_and_the_others_counted(sources, tmp_path):
    def many(inputs, split):
        rows = [row for row in read_rows(inputs, split) if row.row_id == "dark/20"]
        return (
            row._replace(row_id=f"row-{n}", is_stand_in=True) for row in rows for n in range(25)
        )

    benchmark = replace(SHAPES, release_tables=[replace(TABLE, read_rows=many)])
    message = refused(benchmark, sources, tmp_path)
    assert "25 rows made by stand-ins: squares/test/row-0, squares/test/row-1, " in message
    assert "squares/test/row-9 and 15 more. Add the models" in message
    assert "row-10" not in message
    assert "Partitions without" in message.splitlines()[-1] or "--partitions" not in message


def test_a_base_image_is_in_one_split_alone_unless_splits_are_views(sources, tmp_path):
    one_image = with_rows(lambda row, _: row._replace(base_image="one"))
    assert "4 rows with a base image that is in another split" in refused(
        one_image, sources, tmp_path
    )
    views = replace(one_image.release_tables[0], splits_are_views=True)
    views = replace(one_image, release_tables=[views])
    assert write_release(tmp_path / "views", views, sources, ReleaseOptions())


def test_an_id_is_that_of_one_row_of_a_split(sources, tmp_path):
    doubled = with_rows(lambda row, split: row._replace(row_id=split))
    message = refused(doubled, sources, tmp_path)
    assert "4 rows with the id of another row of their split: squares/dev/dev, " in message


def test_a_key_in_a_text_is_refused_and_not_shown(sources, tmp_path, monkeypatch):
    key = Model(
        name="eye",
        backend="openai_compatible",
        base_url="http://localhost:1/v1",
        model="eye",
        family="eye",
        roles=("judge",),
        key="EYE_KEY",
    )
    monkeypatch.setenv("EYE_KEY", "open sesame")
    catalog = Catalog((*sources.catalog.models, key))

    def with_text(text):
        return with_rows(lambda row, _: row._replace(cells={**row.cells, "accepted": ["1", text]}))

    named = refused(with_text("an open sesame."), replace(sources, catalog=catalog), tmp_path)
    assert "6 rows whose text holds the value of EYE_KEY: " in named
    assert "sesame" not in named
    secret = "sk-proj-" + "aB3_" * 10
    formed = refused(with_text(f"use {secret}"), sources, tmp_path)
    assert "whose text holds an OpenAI key" in formed
    assert secret not in formed


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("x-api-key: sk-ant-api03-" + "a" * 40, "an Anthropic key"),
        ("AIza" + "b" * 35, "a Google key"),
        ("hf_" + "c" * 34, "a Hugging Face token"),
        ("AKIA" + "D" * 16, "an AWS key"),
        ("ghp_" + "e" * 36, "a GitHub token"),
        ("-----BEGIN RSA PRIVATE KEY-----", "a private key"),
        ("a task-oriented-question-of-many-words", None),
        ("risk-averse-people-like-to-say-so-often", None),
    ],
)
def test_keys_are_known_by_their_forms(text, name):
    assert SecretFinder(Catalog(()), {}).find(["first", text]) == name


def test_a_table_that_is_not_materialized_is_refused(tmp_path, instance):
    with open_made(tmp_path / "root", instance) as sources:
        message = refused(SHAPES, sources, tmp_path, NotMaterialized)
        assert message.startswith("squares: none of the tables")
        assert "Materialize shapes/squares first." in message
    with open_made(tmp_path / "root", instance, "dark") as sources:
        message = refused(SHAPES, sources, tmp_path, NotMaterialized, partitions=["light"])
        assert message.startswith("light: nothing of this partition is materialized.")
        message = refused(SHAPES, sources, tmp_path, ValueError, partitions=["lihgt"])
        assert "'lihgt': no table to release has such a partition, did you mean light?" in message


@pytest.mark.parametrize("kind", ["file", "folder"])
def test_a_folder_that_is_not_empty_stays_as_it_is(kind, sources, tmp_path):
    target = tmp_path / "there" / "out"
    (target if kind == "folder" else target.parent).mkdir(parents=True)
    file = target / "notes.txt" if kind == "folder" else target
    file.write_text("mine")
    with pytest.raises(ValueError, match="not an empty folder"):
        write_release(target, SHAPES, sources, ReleaseOptions())
    assert file.read_text() == "mine"
    assert [*target.parent.iterdir()] == [target]


def test_an_empty_folder_is_filled(sources, tmp_path):
    (tmp_path / "out").mkdir()
    write_release(tmp_path / "out", SHAPES, sources, ReleaseOptions())
    assert (tmp_path / "out" / "SHA256SUMS").exists()


def test_a_picture_that_is_damaged_leaves_no_folder(sources, tmp_path):
    row = next(read_rows(sources.to_inputs([*SHADES]), "test"))
    sources.images.path(row.cells["image"]).write_bytes(b"no picture")
    assert "is not what was written there" in refused(SHAPES, sources, tmp_path, Exception)


@pytest.mark.parametrize(
    ("licence", "remedy"),
    [("CC-BY 4", "Write one as in CC-BY-4.0"), ("cc-by-4.0", r"Write CC-BY-4\.0\."), ("", "MIT")],
)
def test_a_licence_without_an_spdx_name_is_refused(licence, remedy):
    with pytest.raises(ValueError, match=f"{licence}.*{remedy}"):
        ReleaseOptions(licence=licence)
