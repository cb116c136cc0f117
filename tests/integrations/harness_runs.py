"""Runs of our task files by each harness, in the process that has it, with a fake model.

The model answers by a picture's pixels and the prompt, and each run gives the path of its log.
"""
# ruff: noqa: PLC0415 - only that process has the harnesses

import json
import os
import sys
from hashlib import sha256
from importlib import import_module
from io import BytesIO
from pathlib import Path
from types import ModuleType

from PIL import Image

from tests.assets.release.harness_readers import skip_init

INTEGRATIONS = Path(__file__).parents[2] / "integrations"
TASK = "counterfactory_vlmbias_test"


def to_key(picture, prompt):
    """Name a question by the pixels of its picture, and its text."""
    return f"{sha256(picture.convert('RGB').tobytes()).hexdigest()} {prompt}"


def run_lmms_eval(folder, replies_file):
    """Run the task in `folder/..`, where the release is `vlmbias-release`."""
    os.chdir(folder.parent)
    from lmms_eval.api.model import lmms
    from lmms_eval.evaluator import simple_evaluate
    from lmms_eval.loggers import EvaluationTracker
    from lmms_eval.tasks import TaskManager

    replies = json.loads(replies_file.read_text())

    class FakeModel(lmms):
        def generate_until(self, requests):
            answers = []
            for request in requests:
                prompt, _, doc_to_visual, doc_id, task, split = request.args
                (picture,) = doc_to_visual(self.task_dict[task][split][doc_id])
                answers.append(replies[to_key(picture, prompt)])
            return answers

        def loglikelihood(self, requests):
            raise AssertionError(f"the task asks for no likelihood: {requests}")

        generate_until_multi_round = loglikelihood

    tracker = EvaluationTracker(output_path=str(folder.parent / "logs"))
    manager = TaskManager("ERROR", include_path=str(INTEGRATIONS / "lmms_eval"))
    results = simple_evaluate(
        model=FakeModel(),
        tasks=[TASK],
        task_manager=manager,
        evaluation_tracker=tracker,
        log_samples=True,
        bootstrap_iters=0,
    )
    samples = results.pop("samples")
    tracker.save_results_aggregated(results, samples, "20260101_000000")
    tracker.save_results_samples(task_name=TASK, samples=samples[TASK])
    (log,) = (folder.parent / "logs").rglob("*_samples_*.jsonl")
    return log, results["results"][TASK]["accuracy,none"]


def run_inspect(folder, replies_file):
    """Run the task on a released folder."""
    from inspect_ai import eval as evaluate
    from inspect_ai.model import ModelOutput, ModelUsage, get_model

    replies = json.loads(replies_file.read_text())

    def answer(messages, *_):
        image, text = messages[-1].content
        data = import_module("base64").b64decode(image.image.partition(",")[2])
        reply = replies[to_key(Image.open(BytesIO(data)), text.text)]
        output = ModelOutput.from_content("mockllm/model", reply)
        output.usage = ModelUsage(input_tokens=9, output_tokens=9, total_tokens=18)
        return output

    sys.path.append(str(INTEGRATIONS / "inspect_ai"))
    task = import_module("counterfactory_vlmbias").counterfactory_vlmbias(str(folder))
    model = get_model("mockllm/model", custom_outputs=answer)
    (log,) = evaluate(task, model=model, log_dir=str(folder.parent / "logs"), display="none")
    assert log.status == "success", log.error
    metrics = {score.name: score.metrics["mean_answered"].value for score in log.results.scores}
    return Path(log.location), metrics["accuracy"]


def run_vlmevalkit(folder, replies_file):
    """Run the split `main` of the published layout on a released folder."""
    os.environ |= {"COUNTERFACTORY_RELEASE": str(folder), "PRED_FORMAT": "xlsx"}
    # Their `__init__` needs what all data sets and models need; what is run is all here.
    for name in ("vlmeval", "vlmeval.dataset"):
        skip_init(name)
    sys.modules["vlmeval.dataset"].DATASET_CLASSES = []
    sys.modules["vlmeval"].dataset = sys.modules["vlmeval.dataset"]
    sys.modules["vlmeval.config"] = config = ModuleType("vlmeval.config")
    config.supported_VLM = {}
    sys.path.append(str(INTEGRATIONS / "vlmevalkit"))
    run = import_module("run")
    from vlmeval.inference import infer_data_job

    replies = json.loads(replies_file.read_text())

    class FakeModel:
        def set_dump_image(self, dump_image):
            pass

        def generate(self, message, dataset=None):
            image, text = (part["value"] for part in message)
            return replies[to_key(Image.open(image), text)]

    name = "counterfactory_vlms_are_biased_main"
    work = folder.parent / "logs"
    work.mkdir()
    infer_data_job(
        FakeModel(), work_dir=str(work), model_name="fake", dataset=run.CounterfactoryVLMBias(name)
    )
    (log,) = work.glob("fake_*")
    return log, run.CounterfactoryVLMBias.evaluate(str(log))["accuracy"]
