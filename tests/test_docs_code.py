"""What the documents have people type into files: run configs, selections, Python."""

import ast
import importlib
import re
import shlex
from importlib.util import module_from_spec, spec_from_file_location
from typing import get_type_hints

import pytest
import yaml
from dagster import AssetKey, AssetSelection, validate_run_config

from tests.test_docs import BLOCK, DOCUMENTS, OURS, PROJECT

MODELS = """
- {name: gpt_4_1, backend: openai, model: gpt-4.1, family: gpt, roles: [judge, writer]}
- {name: gpt_4o, backend: openai, model: gpt-4o, family: gpt, roles: [judge]}
- {name: gpt_5, backend: openai, model: gpt-5, family: gpt, roles: [judge]}
- {name: random, backend: stand_in, model: random, family: any, roles: [judge], drift_budget: 0}
- name: gpt_6_luna
  backend: openai
  model: gpt-6-luna
  family: gpt
  roles: [captioner, judge]
  drift_budget: 1.50
"""
COLLECTIONS = """
- {name: tifa160, path: tifa160.csv, columns: {image: image}}
- {name: photographs, path: questions.csv, columns: {image: image}}
"""
JOBS = {"submit": "submit_batch", "judge_everything": "judge_everything", "quote": "quote"}
"""Jobs by the operation that the documents configure."""

PYTHON = re.compile(r"```python\n(.*?)```", re.DOTALL)


@pytest.fixture(scope="module")
def definitions(tmp_path_factory):
    """The definitions of a user who has the models and the collection of the documents."""
    folder = tmp_path_factory.mktemp("documented")
    (folder / "models.yaml").write_text(MODELS)
    (folder / "collections.yaml").write_text(COLLECTIONS)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("COUNTERFACTORY_MODELS", str(folder / "models.yaml"))
        patch.setenv("COUNTERFACTORY_COLLECTIONS", str(folder / "collections.yaml"))
        patch.setenv("COUNTERFACTORY_HOME", str(folder / "data"))
        spec = spec_from_file_location("documented_definitions", PROJECT / "definitions.py")
        module = module_from_spec(spec)
        spec.loader.exec_module(module)
        return module.defs


def run_configs():
    """Each run config that the documents show, by its operation."""
    for document in DOCUMENTS:
        for indent, block in BLOCK.findall(document.read_text(encoding="utf-8")):
            text = re.sub(f"^{indent}", "", block, flags=re.MULTILINE)
            if not re.search("^(ops|resources):", text, re.MULTILINE):
                continue
            config = yaml.safe_load(text)
            resources = {key: config[key] for key in config if key == "resources"}
            for operation, content in config.get("ops", {"": {}}).items():
                ops = {"ops": {operation: content}} if operation else {}
                yield pytest.param(operation, ops | resources, id=f"{document.name}-{operation}")


def selections():
    """Each selection of assets in a command of the documents."""
    for document in DOCUMENTS:
        for line in OURS.findall(document.read_text(encoding="utf-8")):
            words = shlex.split(line.replace("\\\n", " "))
            if words[0] in ("run", "quote", "prompts", "export") and not words[1].startswith("-"):
                yield pytest.param(words[1], id=f"{document.name}-{words[1]}")


@pytest.mark.parametrize(("operation", "config"), [*run_configs()])
def test_every_run_config_is_valid(definitions, operation, config):
    repository = definitions.get_repository_def()
    if operation in JOBS:
        job = repository.get_job(JOBS[operation])
    else:
        key = AssetKey(operation.split("__") if operation else ["vlmbias", "drawn_images"])
        job = repository.get_job("__ASSET_JOB").get_subset(asset_selection={key})
    validate_run_config(job, config)


@pytest.mark.parametrize("selection", [*selections()])
def test_every_selection_finds_assets(definitions, selection):
    if re.fullmatch(r"[\w/*]+", selection):
        selection = f'key:"{selection}"'
    assert AssetSelection.from_string(selection).resolve(definitions.resolve_asset_graph())


def python_blocks():
    for document in DOCUMENTS:
        for block in PYTHON.findall(document.read_text(encoding="utf-8")):
            if "from resources" in block:
                yield pytest.param(block, id=document.name)


@pytest.mark.parametrize("block", [*python_blocks()])
def test_python_uses_names_that_exist(block):
    """Imports, and the attributes of what an imported function returns."""
    tree = ast.parse(block)
    names, results = {}, {}
    for node in tree.body:
        if isinstance(node, ast.ImportFrom):
            module = importlib.import_module(node.module)
            names |= {alias.name: getattr(module, alias.name) for alias in node.names}
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call):
            function = names.get(getattr(node.value.func, "id", None))
            if function and isinstance(node.targets[0], ast.Name):
                results[node.targets[0].id] = get_type_hints(function)["return"]
    attributes = [node for node in ast.walk(tree) if isinstance(node, ast.Attribute)]
    uses = [
        (results[node.value.id], node.attr)
        for node in attributes
        if isinstance(node.value, ast.Name) and node.value.id in results
    ]
    assert uses
    assert [attribute for result, attribute in uses if not hasattr(result, attribute)] == []


def test_all_of_it_is_looked_at():
    assert len([*run_configs()]) >= 15
    assert len([*selections()]) >= 15
    assert len([*python_blocks()]) == 1
