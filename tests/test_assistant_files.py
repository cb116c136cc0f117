"""llms.txt and the skill: they say what the documents say, in the form that readers expect."""

import re

import pytest
import yaml

from tests.assistant_files import (
    INDEX,
    PROJECT,
    SKILL,
    Excerpt,
    build_index,
    build_skill,
    read_excerpt,
)

STALE = "the documents have changed: run .venv/bin/python -m tests.assistant_files"


@pytest.mark.parametrize(("path", "build"), [(INDEX, build_index), (SKILL, build_skill)])
def test_the_files_are_what_the_documents_say(path, build):
    assert path.read_text(encoding="utf-8") == build(), STALE


def test_the_index_has_the_form_of_llmstxt_and_each_document_once():
    title, quote, *blocks = INDEX.read_text(encoding="utf-8").strip().split("\n\n")
    assert re.fullmatch(r"# \w+", title)
    assert re.fullmatch(r"> .+", quote)
    lists = [block for block in blocks if block.startswith("- ")]
    assert [block for block in blocks if block.startswith("## ")][-1] == "## Optional"
    entries = [
        re.fullmatch(r"- \[(.+)\]\((\S+)\): (.+)", line) for b in lists for line in b.split("\n")
    ]
    assert all(entries)
    paths = [entry[2] for entry in entries]
    assert sorted(path for path in paths if path.startswith("docs/")) == sorted(
        f"docs/{path.name}" for path in PROJECT.glob("docs/*.md")
    )
    assert len({*paths}) == len(paths)


def test_the_skill_has_a_name_a_description_and_few_lines():
    text = SKILL.read_text(encoding="utf-8")
    _, front, body = text.split("---\n", 2)
    fields = yaml.safe_load(front)
    assert {*fields} == {"name", "description"}
    assert fields["name"] == SKILL.parent.name
    assert 50 < len(fields["description"]) < 1024
    assert len(text.splitlines()) <= 150
    assert body.count("```") % 2 == 0
    assert not re.search(r":\n\n(?!```|- |\|)", body), "a paragraph that leads to nothing"


def test_an_excerpt_of_what_a_document_has_no_longer_is_an_error():
    with pytest.raises(
        ValueError, match=r"docs/run\.md, Materialize from .*: no block begins Gone"
    ):
        read_excerpt(Excerpt("docs/run.md", "Materialize from the command line", ("Gone",)))
