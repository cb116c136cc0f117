"""Docstrings and strings of the product name what exists."""

import ast
import builtins
import doctest
import importlib
import re
from functools import cache
from pathlib import Path

import dagster
import pytest
from dagster_webserver.webserver import DagsterWebserver

PROJECT = Path(__file__).parents[1]
PACKAGES = ("assets", "commands", "generators", "metrics", "resources", "sensors")
PATHS = [
    PROJECT / "definitions.py",
    *(path for package in PACKAGES for path in sorted((PROJECT / package).rglob("*.py"))),
]
QUOTED = re.compile(r"(?<!`)`([^`\n]+)`(?!`)")
IDENTIFIERS = re.compile(r"[A-Za-z_][\w.]*(\(.*\)|\[.*\])?")
WORD = re.compile(r"[A-Za-z_]\w*")
OUTSIDE = {
    *("C5", "EMPTY", "Origin", "_high", "_low", "candidateCount", "g1", "null", "response_format"),
    *("PIL", "RepositoryDefinition", "add_callback", "asdict", "asset_graph", "dataclasses"),
    *("Dataset", "define_asset_job", "dump", "execute_job", "model_type", "save_to_disk"),
    *("agrees", "bias_aware", "counterfactual", "counterfactory", "negated_response"),
    *("suggestions", "vlmbias__answers__gpt", "yaml"),
}
"""Names in docstrings that no product file declares: of other packages, files and examples."""
CLASS_NAME = re.compile("[A-Z][a-z]+(?:[A-Z][a-z]+)+")
OTHER_WORDS = {
    *("CascadeClassifier", "LastModified", "MullerLyer", "NoOpComputeLogManager", "PerDay"),
    *("PaliGemmaProcessor", "ProtoBias", "QskZl"),
}
"""Strings that look like the name of a class: of other packages, and of no program."""


def to_module(path):
    parts = path.relative_to(PROJECT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


EXAMPLES = [
    pytest.param(path, id=to_module(path))
    for path in PATHS
    if re.search("^ *>>> ", path.read_text(encoding="utf-8"), re.MULTILINE)
]


@pytest.mark.parametrize("path", EXAMPLES)
def test_examples_in_docstrings_hold(path):
    failed, attempted = doctest.testmod(importlib.import_module(to_module(path)))
    assert attempted
    assert not failed


@cache
def scan_product():
    """The docstrings, strings and words of each file, and the names that the product declares."""
    docstrings, strings, words, declared = [], [], {}, set()
    for path in PATHS:
        declared.update(path.relative_to(PROJECT).with_suffix("").parts)
        file_words = words[path] = set()
        tree = ast.parse(path.read_text(encoding="utf-8"))
        prose = set()
        for node in ast.walk(tree):
            match node:
                case ast.Expr(value=ast.Constant(value=str(text))):
                    docstrings.append((path, node.lineno, text))
                    prose.add(node.value)
                case ast.Constant(value=str(text)) if node not in prose:
                    strings.append((path, node.lineno, text))
                    file_words.update(WORD.findall(text))
                    if "_" in text:
                        declared.add(text)
                case ast.Name(id=name) | ast.Attribute(attr=name) | ast.arg(arg=name):
                    file_words.add(name)
                case ast.alias(name=name):
                    file_words.update(name.split("."))
                case ast.keyword(arg=str(name)):
                    file_words.add(name)
                case ast.Call(func=ast.Name(id="Columns"), keywords=columns):
                    declared.update(column.arg for column in columns if column.arg)
                case (
                    ast.FunctionDef(name=name)
                    | ast.AsyncFunctionDef(name=name)
                    | ast.ClassDef(name=name)
                ):
                    declared.add(name)
                case ast.AnnAssign(target=ast.Name(id=name)):
                    declared.add(name)
        assignments = (node for node in tree.body if isinstance(node, ast.Assign))
        for assignment in assignments:
            declared.update(getattr(target, "id", "") for target in assignment.targets)
    return docstrings, strings, words, declared


def test_names_in_docstrings_exist():
    docstrings, _, words, declared = scan_product()
    unknown = []
    for path, line, text in docstrings:
        for match in QUOTED.finditer(text):
            if not IDENTIFIERS.fullmatch(match[1]):
                continue
            missing = {*WORD.findall(match[1])} - words[path] - declared - OUTSIDE
            if missing:
                number = line + text[: match.start()].count("\n")
                unknown.append(f"{path.relative_to(PROJECT)}:{number} {match[1]}")
    assert not unknown


def test_strings_that_look_like_classes_name_one():
    _, strings, _, declared = scan_product()
    outside = {*OTHER_WORDS, *vars(builtins), *vars(dagster), DagsterWebserver.__name__}
    assert not [
        f"{path.relative_to(PROJECT)}:{line} {text}"
        for path, line, text in strings
        if CLASS_NAME.fullmatch(text) and text not in declared | outside
    ]
