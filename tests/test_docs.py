"""What the documents point at is there."""

import re
from pathlib import Path

import pytest
from typer.main import get_command

from commands.app import app

PROJECT = Path(__file__).parents[1]
DOCUMENTS = [PROJECT / "README.md", PROJECT / "CONTRIBUTING.md", *PROJECT.glob("docs/*.md")]
LINK = re.compile(r"\]\(([^)\s]+)\)")
# In code, where "make" is a command and no verb.
COMMAND = re.compile(r"(?:^\$? *|`)make ([a-z]\w*)", re.MULTILINE)
TARGET = re.compile(r"^([a-z]\w*):", re.MULTILINE)
OURS = re.compile(r"(?:^ *\$ |`)counterfactory ((?:\\\n|[^\n`#])*)", re.MULTILINE)
"""What follows the command's name, in code; a line that ends with a backslash goes on."""


def by_name(paths):
    return pytest.mark.parametrize("document", paths, ids=lambda p: str(p.relative_to(PROJECT)))


def anchors(document):
    """The names that a heading of the document can be linked by."""
    headings = re.findall(r"^#+ (.+)$", document.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@by_name(DOCUMENTS)
def test_every_relative_link_leads_somewhere(document):
    broken = []
    for link in LINK.findall(document.read_text(encoding="utf-8")):
        if re.match(r"[a-z]+:", link):
            continue
        path, _, anchor = link.partition("#")
        there = document.parent / path if path else document
        if not there.exists() or (anchor and anchor not in anchors(there)):
            broken.append(link)
    assert broken == []


@by_name(DOCUMENTS)
def test_every_make_target_that_is_mentioned_exists(document):
    targets = set(TARGET.findall((PROJECT / "Makefile").read_text(encoding="utf-8")))
    mentioned = set(COMMAND.findall(document.read_text(encoding="utf-8")))
    assert mentioned <= targets


@by_name(DOCUMENTS)
def test_every_command_that_is_mentioned_exists_and_takes_its_options(document):
    commands = get_command(app).commands
    for line in OURS.findall(document.read_text(encoding="utf-8")):
        name, *words = line.split()
        if name in ("--help", "--install-completion"):
            continue
        assert name in commands, line
        options = {option for each in commands[name].params for option in each.opts}
        assert {word for word in words if word.startswith("-")} <= options | {"--help"}, line


def test_the_documents_do_link_and_mention():
    text = "".join(document.read_text(encoding="utf-8") for document in DOCUMENTS)
    assert len(LINK.findall(text)) > 10
    assert {"demo", "ui", "test", "lint", "bench"} <= set(COMMAND.findall(text))
    assert {"quote", "run", "export", "import", "collect", "figure"} <= {
        line.split()[0] for line in OURS.findall(text)
    }


@by_name([document for document in DOCUMENTS if document.parent == PROJECT / "docs"])
def test_the_readme_leads_to_every_document(document):
    readme = (PROJECT / "README.md").read_text(encoding="utf-8")
    assert f"](docs/{document.name})" in readme
