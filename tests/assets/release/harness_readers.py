"""Rows of a release as a harness's own loading code gives them, in the process that has it."""
# ruff: noqa: PLC0415 - only that process has the harnesses

import os
import shutil
import sys
from base64 import b64decode
from hashlib import sha256
from importlib import import_module
from importlib.util import find_spec
from io import BytesIO
from pathlib import Path
from types import ModuleType

from PIL import Image

CONFIG, SPLIT = "squares", "test"


def read_inspect(folder):
    """`inspect_ai.dataset.hf_dataset`, as a task of inspect calls it."""
    from inspect_ai.dataset import Sample, hf_dataset

    def to_sample(record):
        return Sample(
            input=record["prompt"],
            target=record["accepted"],
            id=record["id"],
            metadata={"row": to_row(record)},
        )

    samples = hf_dataset(str(folder), SPLIT, name=CONFIG, sample_fields=to_sample)
    return [sample.metadata["row"] for sample in samples]


def read_lmms_eval(folder):
    """`ConfigurableTask` of lmms-eval, as a task's YAML makes one."""
    from lmms_eval.api.task import ConfigurableTask

    import_module("lmms_eval.api.metrics")  # Registers the metrics that tasks name.

    task = ConfigurableTask(
        config={
            "task": "squares",
            "dataset_path": str(folder),
            "dataset_name": CONFIG,
            "test_split": SPLIT,
            "output_type": "generate_until",
            "doc_to_visual": lambda doc: [doc["image"]],
            "doc_to_text": "prompt",
            "doc_to_target": "shade",
            "metric_list": [{"metric": "exact_match"}],
        },
        model_name="none",
    )
    assert [task.doc_to_text(doc) for doc in task.test_docs()] == task.test_docs()["prompt"]
    return [to_row(doc) for doc in task.test_docs()]


def read_vlmevalkit(folder):
    """A custom set of VLMEvalKit: an unknown name, and a TSV of that name."""
    for name in ("vlmeval", "vlmeval.dataset"):
        skip_init(name)
    from vlmeval.dataset.image_base import ImageBaseDataset

    home = Path(os.environ["HOME"])
    shutil.copy(folder / f"vlmevalkit/{CONFIG}_{SPLIT}.tsv", home)

    class CustomDataset(ImageBaseDataset):
        evaluate = None

    rows = CustomDataset(f"{CONFIG}_{SPLIT}")
    return [
        {
            "id": row["index"],
            "prompt": row["question"],
            "shade": int(row["answer"]),
            "image": hash_pixels(Image.open(BytesIO(b64decode(row["image"])))),
        }
        for row in rows
    ]


def read_evalscope(folder):
    """The loader of evalscope, by which its tasks read a folder."""
    from evalscope.api.dataset import RemoteDataLoader, Sample

    def to_sample(record):
        return Sample(input=record["prompt"], metadata={"row": to_row(record)})

    loader = RemoteDataLoader(
        data_id_or_path=str(folder),
        split=SPLIT,
        subset=CONFIG,
        sample_fields=to_sample,
        data_source="huggingface",
    )
    return [sample.metadata["row"] for sample in loader.load()]


def skip_init(name):
    """Import a package without its `__init__`, which needs all that its other modules do."""
    (folder,) = find_spec(name).submodule_search_locations
    sys.modules[name] = module = ModuleType(name)
    module.__path__ = [folder]


def to_row(record):
    """The cells of a record, with its picture, decoded or not, as the sha256 of the pixels."""
    cells, image = dict(record), record["image"]
    cells["image"] = hash_pixels(
        Image.open(BytesIO(image["bytes"])) if isinstance(image, dict) else image
    )
    return cells


def hash_pixels(image):
    """The sha256 of an image's pixels."""
    return sha256(image.convert("RGB").tobytes()).hexdigest()


def validate_records(folder):
    """Every Eval Ever's errors and warnings by file below `data`, by its repository's rules."""
    from every_eval_ever.validator.validation_core import validate_file

    paths = [path for path in sorted((folder / "data").rglob("*")) if path.is_file()]
    files = {path.relative_to(folder).as_posix(): path for path in paths}
    reports = {
        name: validate_file(
            path,
            repo_path=name,
            available_files=files,
            read_repo_file=lambda file: (folder / file).read_text("utf-8"),
            run_semantic_checks=True,
        )
        for name, path in files.items()
    }
    return {name: [*report.errors, *report.warnings] for name, report in reports.items()}
