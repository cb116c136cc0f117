"""What assistants that write code read first, made from the documents.

    .venv/bin/python -m tests.assistant_files

writes llms.txt, an index of the documents as llmstxt.org describes it, and a skill: how to run,
query and extend the project, as excerpts of the documents.
"""

import re
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from typer.main import get_command

from commands.app import app

PROJECT = Path(__file__).parents[1]
INDEX, SKILL = PROJECT / "llms.txt", PROJECT / "skills" / "counterfactory" / "SKILL.md"
LINK = re.compile(r"\[([^\]]+)\]\(([^)\s]+)\)")
FRONT_MATTER = """---
name: counterfactory
description: Run, query and extend Counterfactory, which builds benchmarks of multimodal judges as a
  Dagster graph. Use it to add or judge a model, quote and limit costs, read result tables, or add a
  domain, benchmark or step.
---
"""


class Excerpt(NamedTuple):
    """Blocks of a section: those that begin with one of `beginnings`, in the document's order."""

    document: str
    section: str
    beginnings: tuple[str, ...]
    is_named: bool = False
    """Whether the section's heading goes before it."""


EXCERPTS = {
    "Run": [
        Excerpt("README.md", "Counterfactory", ("```console",)),
        Excerpt("docs/install.md", "Without a checkout", ("```console\n$ python3", "The project")),
        Excerpt(
            "docs/run.md",
            "Materialize from the command line",
            ("```console", "For a", "The first", "| exit"),
        ),
    ],
    "Judge, within a budget": [
        Excerpt("docs/add-a-model.md", "Add a model", ("```console",)),
        Excerpt("docs/add-a-model.md", "A new judge over everything", ("```console",)),
        Excerpt("docs/pay.md", "Quote", ("A quote",)),
        Excerpt("docs/pay.md", "A trial for cents", ("`limit",)),
    ],
    "Query": [Excerpt("docs/report.md", "Query the tables", ("Each", "```python", "`sha256"))],
    "Extend": [
        Excerpt("CONTRIBUTING.md", "Contributing", ("```console",)),
        Excerpt("CONTRIBUTING.md", "Add a model, a metric, a perturbation", ("A **m",)),
        Excerpt("CONTRIBUTING.md", "Add a domain", ("One folder",), is_named=True),
        Excerpt("CONTRIBUTING.md", "Add a benchmark", ("One folder", "```"), is_named=True),
        Excerpt("CONTRIBUTING.md", "What we hold to", ("- ",)),
    ],
}


class Page(NamedTuple):
    """A document with what it is for."""

    title: str
    path: str
    task: str


def read_blocks(document: str) -> Iterator[tuple[str, str]]:
    """A document's blocks between empty lines, each with its section; a code block is one."""
    text = (PROJECT / document).read_text(encoding="utf-8")
    section, fenced = "", ""
    for block in text.strip().split("\n\n"):
        fenced = f"{fenced}\n\n{block}" if fenced else block
        if fenced.count("```") % 2:
            continue
        if heading := re.match(r"#+ (.+)", fenced):
            section = heading[1]
        yield section, fenced
        fenced = ""


def read_excerpt(excerpt: Excerpt) -> str:
    """The text of an excerpt; raises `ValueError` where the document has no such block."""
    blocks = [text for section, text in read_blocks(excerpt.document) if section == excerpt.section]
    chosen = [text for text in blocks if text.startswith(excerpt.beginnings)]
    for beginning in excerpt.beginnings:
        if not any(text.startswith(beginning) for text in chosen):
            raise ValueError(f"{excerpt.document}, {excerpt.section}: no block begins {beginning}")
    name = f"**{excerpt.section}.** " if excerpt.is_named else ""
    return name + "\n\n".join(relink(text, excerpt.document, SKILL) for text in chosen)


def relink(text: str, document: str, target: Path) -> str:
    """Text of a document with links that lead from `target` to the same places."""
    up = PurePosixPath(*[".."] * (len(target.relative_to(PROJECT).parts) - 1))

    def move(link: re.Match[str]) -> str:
        path, mark, anchor = link[2].partition("#")
        if re.match(r"[a-z]+:", link[2]):
            return link[0]
        place = (PROJECT / document).parent / path if path else PROJECT / document
        inside = place.resolve().relative_to(PROJECT.resolve())
        return f"[{link[1]}]({up / inside.as_posix()}{mark}{anchor})"

    return LINK.sub(move, text)


def list_pages() -> Iterator[Page]:
    """The pages that the README's tables lead to, with their tasks."""
    for _, block in read_blocks("README.md"):
        if not block.startswith("| "):
            continue
        head, _, *rows = block.splitlines()
        for row in rows:
            cells = row.strip("| ").split(" | ")
            links = [link for cell in cells for link in LINK.findall(cell)]
            first = links[0] if head.startswith("| benchmark") else None
            tasks = cells[1 if first else 0].split("; ")
            if len(tasks) != len(links):
                tasks = [cells[1 if first else 0]] * len(links)
            for (title, path), task in zip([first] if first else links, tasks, strict=False):
                yield Page(title, path, task)


def find_other_pages(listed: set[str]) -> Iterator[Page]:
    """The documents that no table of the README has, with their opening sentences."""
    for path in sorted(PROJECT.glob("docs/*.md")):
        name = f"docs/{path.name}"
        if name not in listed:
            blocks = [text for _, text in read_blocks(name)]
            words = LINK.sub(r"\1", " ".join(blocks[1].split()))
            sentence = blocks[0][2:] if words.startswith("|") else words.partition(". ")[0]
            yield Page(blocks[0][2:], name, sentence.rstrip("."))


def build_index() -> str:
    """The content of llms.txt."""
    blocks = [text for _, text in read_blocks("README.md")]
    summary = LINK.sub(r"\1", " ".join(blocks[1].split()))
    pages = [*list_pages()]
    others = [*find_other_pages({page.path for page in pages})]
    benchmarks = [page for page in pages if page.task.endswith("?")]
    tasks = [page for page in pages if page not in benchmarks]
    skill = Page("Skill", str(SKILL.relative_to(PROJECT)), "run, query and extend it, on one page")
    parts = [f"# {blocks[0][2:]}", f"> {summary}", "Paths start at the root of the project."]
    for heading, group in (
        ("Docs", [skill, *tasks]),
        ("Benchmarks", benchmarks),
        ("Optional", others),
    ):
        lines = [f"- [{page.title}]({page.path}): {page.task}" for page in group]
        parts.append("\n".join([f"## {heading}", "", *lines]))
    return "\n\n".join(parts) + "\n"


def build_skill() -> str:
    """The content of the skill."""
    blocks = [text for _, text in read_blocks("README.md")]
    parts = [FRONT_MATTER + "\n# Counterfactory", relink(blocks[1], "README.md", SKILL)]
    for heading, excerpts in EXCERPTS.items():
        parts += [f"## {heading}", *map(read_excerpt, excerpts)]
    names = ", ".join(f"`{name}`" for name in get_command(app).commands)
    parts += [f"## More\n\nAll commands, each with an example in its `--help`: {names}."]
    parts += ["All pages: [llms.txt](../../llms.txt)."]
    return "\n\n".join(parts) + "\n"


def main() -> None:
    SKILL.parent.mkdir(parents=True, exist_ok=True)
    INDEX.write_text(build_index(), encoding="utf-8")
    SKILL.write_text(build_skill(), encoding="utf-8")


if __name__ == "__main__":
    main()
