"""What the documents point at is there."""

import re
from pathlib import Path

import pytest
from dagster import AssetKey
from typer.main import get_command

from assets.kit.plan import Plan
from assets.planning import Task, quote_tasks
from assets.planning.obstacles import Limits, find_obstacles
from commands.app import app
from resources.models.catalog import load_catalog
from resources.models.requests import (
    EditRequest,
    LookRequest,
    PaintRequest,
    ScoreRequest,
    Turn,
    WriteRequest,
)
from tests.assets.plans import plan_context
from tests.assistant_files import INDEX, SKILL

PROJECT = Path(__file__).parents[1]
DOCUMENTS = [
    *(PROJECT / name for name in ("README.md", "CHANGELOG.md", "CONTRIBUTING.md")),
    *PROJECT.glob("docs/*.md"),
    INDEX,
    SKILL,
]
LINK = re.compile(r"\]\(([^)\s]+)\)")
# In code, where "make" is a command and no verb.
COMMAND = re.compile(r"(?:^\$? *|`)make ([a-z]\w*)", re.MULTILINE)
TARGET = re.compile(r"^([a-z]\w*):", re.MULTILINE)
OURS = re.compile(r"(?:^ *\$ |`)counterfactory ((?:\\\n|[^\n`#])*)", re.MULTILINE)
"""What follows the command's name, in code; a line that ends with a backslash goes on."""

BLOCK = re.compile(r"^( *)```yaml\n(.*?)^ *```", re.MULTILINE | re.DOTALL)
ENTRY = re.compile(r"^- (?:name|pattern):.*?\n(?=\S|\Z)", re.MULTILINE | re.DOTALL)
PICTURE = "0" * 64
SENT = {
    "judge": LookRequest((Turn("user", "How many legs has it?", (PICTURE,)),)),
    "captioner": LookRequest((Turn("user", "Describe it.", (PICTURE,)),)),
    "moderator": LookRequest((Turn("user", "Is it harmful?", (PICTURE,)),)),
    "writer": WriteRequest((Turn("user", "Write a sentence."),)),
    "painter": PaintRequest("A dog."),
    "editor": EditRequest("Add a leg.", (PICTURE,)),
    "metric": ScoreRequest("A dog.", PICTURE),
}
"""A request by role; detectors and encoders work on this machine."""


def entries():
    """Each entry of a model that the documents, or the comments of models.yaml, show."""
    for document in DOCUMENTS:
        for indent, block in BLOCK.findall(document.read_text(encoding="utf-8")):
            for entry in ENTRY.findall(re.sub(f"^{indent}", "", block, flags=re.MULTILINE)):
                if "\n  backend:" in entry:
                    yield document.name, entry
    comments = re.sub("^# ?", "", (PROJECT / "models.yaml").read_text(), flags=re.MULTILINE)
    yield from (("models.yaml", entry) for entry in ENTRY.findall(comments))


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
        if name in ("--help", "--install-completion", "--version"):
            continue
        assert name in commands, line
        options = {option for each in commands[name].params for option in each.opts}
        assert {word for word in words if word.startswith("-")} <= options | {"--help"}, line


def test_the_documents_do_link_and_mention():
    text = "".join(document.read_text(encoding="utf-8") for document in DOCUMENTS)
    assert len(LINK.findall(text)) > 10
    assert {"demo", "ui", "test", "lint", "bench"} <= set(COMMAND.findall(text))
    assert {"quote", "run", "export", "import", "prune", "figure"} <= {
        line.split()[0] for line in OURS.findall(text)
    }


@by_name([document for document in DOCUMENTS if document.parent == PROJECT / "docs"])
def test_the_readme_leads_to_every_document(document):
    readme = (PROJECT / "README.md").read_text(encoding="utf-8")
    assert f"](docs/{document.name})" in readme


@pytest.mark.parametrize(("document", "entry"), [*entries()])
def test_every_model_that_is_shown_can_be_quoted_and_asked_within_a_budget(
    document, entry, tmp_path, monkeypatch
):
    pattern = "- name: found\n  model: gpt-image-9\n"
    path = tmp_path / "models.yaml"
    path.write_text(re.sub(r"^- pattern:.*\n", pattern, entry))
    models = load_catalog(path).models
    # Further ones are its steps of thinking.
    model = models[0]
    if model.key_variable:
        monkeypatch.setenv(model.key_variable, "a key")
    plans = [Plan(each, [SENT[role]]) for each in models for role in each.roles if role in SENT]
    # Files of scores, folders of pictures and logs are read, and asked nothing.
    if model.backend not in ("file", "folder", "imported") and plans:
        key = AssetKey("asking")
        with plan_context(tmp_path) as sources:
            quoted = quote_tasks({key: lambda *_: iter(plans)}, sources, [Task(key, "", {})])
        assert sum(total.to_send for total in quoted.totals) == len(plans)
        assert [*find_obstacles(quoted.totals, Limits(total=1000.0))] == []


def test_all_examples_are_looked_at():
    names = [document for document, _ in entries()]
    assert names.count("models.yaml") == 35
    assert {"add-a-model.md", "local-models.md", "new-model.md", "philautia.md"} < {*names}
