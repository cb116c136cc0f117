"""The README's picture: the front page of a demo with a judge that answers as the papers' average.

    .venv/bin/python -m tests.readme_picture [--to FILE]

The judge looks at nothing. It knows the demo's tables, and is right at random at the average rates
that the papers print (VLMBias, Tables 2 and 3; VHExpansion, Table 3, POPE; FRAME, Tables 3, 4 and
12), over real HTTP. It works on a copy of what `make demo` has made, and changes nothing of it.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Hashable, Mapping
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory

import pandas as pd
from playwright.sync_api import sync_playwright

from tests.providers import Provider, Received

ROOT = Path(__file__).parents[1]
NAME = "dice_as_published"
ENTRY = f"""
- name: {NAME}
  backend: openai
  model: gpt-test
  family: dice
  roles: [judge]
  base_url: URL
  longest_output: 100
  tokens_per_image: 1000
  price: {{input_per_million: 0.0, output_per_million: 0.0}}
"""
BENCHMARKS = ("vlmbias", "vhexpansion", "frame")
SIZE = {"width": 1280, "height": 940}

Key = tuple[str, str]
"""A picture's sha256 and the question or text that is asked about it."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--to", type=Path, default=ROOT / "docs" / "images" / "front_page.png")
    options = parser.parse_args()
    with TemporaryDirectory() as folder:
        home = Path(folder)
        for name in ("data", ".dagster"):
            if not (ROOT / name).is_dir():
                raise SystemExit(f"There is no {ROOT / name}. Run `make demo` first.")
            shutil.copytree(ROOT / name, home / name)
        with Provider(build_answerer(home / "data"), keep_bodies=False) as provider:
            judge_all(home, provider.openai_url)
        photograph(home / "data" / "report" / "index.html", options.to)


def judge_all(home: Path, url: str) -> None:
    """Have the judge answer in the copy, by the command that anybody would use."""
    models = home / "models.yaml"
    models.write_text((ROOT / "models.yaml").read_text() + ENTRY.replace("URL", url))
    variables = {
        "COUNTERFACTORY_HOME": str(home / "data"),
        "COUNTERFACTORY_MODELS": str(models),
        "DAGSTER_HOME": str(home / ".dagster"),
        "OPENAI_API_KEY": "none",
    }
    chosen = [word for name in BENCHMARKS for word in ("--benchmark", name)]
    command = [sys.executable, "-m", "commands.app", "judge", NAME, *chosen, "--no-budget"]
    subprocess.run(command, check=True, cwd=ROOT, env=os.environ | variables)


def photograph(page_path: Path, target: Path) -> None:
    """Take the upper part of a page as a PNG of 128 colours."""
    from PIL import Image  # noqa: PLC0415 - with the browser alone

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox", "--disable-gpu"]
        )
        page = browser.new_page(viewport=SIZE)
        page.goto(page_path.as_uri())
        page.wait_for_load_state("networkidle")
        page.screenshot(path=str(target))
        browser.close()
    with Image.open(target) as image:
        image.convert("RGB").quantize(128).save(target, optimize=True)


def build_answerer(home: Path) -> Callable[[Received], str]:
    """Build what answers by the tables of a demo; what they do not have is an error."""
    answers = build_vlmbias_answers(home) | build_vhexpansion_answers(home)
    scores = build_frame_scores(home)

    def answer(received: Received) -> str:
        image, text = sha256(received.images[0]).hexdigest(), received.texts[-1]
        if '"score"' in text:
            return json.dumps({"score": scores[image]})
        return next(
            answers[image, question] for question in questions_by_image[image] if question in text
        )

    questions_by_image: dict[str, list[str]] = {}
    for image, question in sorted(answers, key=lambda key: -len(key[1])):
        questions_by_image.setdefault(image, []).append(question)
    return answer


def lot(*names: Hashable) -> float:
    """A number from 0 to 1 that depends on names alone."""
    return int(sha256(repr(names).encode()).hexdigest()[:12], 16) / 16**12


def published(benchmark: str) -> pd.DataFrame:
    """What a paper prints."""
    return pd.read_csv(ROOT / "assets" / benchmark / "pages" / "paper.csv")


def build_vlmbias_answers(home: Path) -> dict[Key, str]:
    """The right answer at the topic's mean rate on changed pictures, else the expected bias."""
    printed = published("vlmbias")
    means = printed[printed["model"] == "Mean"]
    rates: Mapping[str, float] = means[means["table"] == 2].set_index("column")["value"]
    illusions = means[means["group"] == "Optical illusions"].set_index("column")["value"]
    answers = {}
    for row in pd.read_parquet(home / "vlmbias" / "questions").itertuples():
        topic = row.domain.replace("_", " ").capitalize()
        rate = rates[topic] if row.variant != "original" else rates["Unmodified"]
        if topic == "Optical illusions":
            rate = illusions["Original" if row.variant == "original" else "Modified"]
        is_right = lot(row.base_id, row.question) < rate / 100
        answers[row.sha256, row.question] = (
            f"{{{row.ground_truth if is_right else row.expected_bias}}}"
        )
    return answers


def build_vhexpansion_answers(home: Path) -> dict[Key, str]:
    """The right answer at the mean accuracy on POPE, and to the negation as often as symmetric."""
    printed = published("vhexpansion")
    pope = printed[(printed["table"] == 3) & (printed["dataset"] == "POPE")]
    means = pope.groupby("measure")["value"].mean()
    pictures = pd.read_parquet(home / "vhexpansion" / "common_perturbations")
    answers = {}
    cases = pd.read_parquet(home / "vhexpansion" / "negated_cases")
    for row in cases[cases["outcome"] == "negated"].itertuples():
        other = {"yes": "no", "no": "yes"}
        shown = pictures.loc[pictures["original"] == row.sha256, "sha256"]
        for image in (row.sha256, *shown):
            draw = lot(row.case_id)
            is_right, is_symmetric = draw < means["accuracy"], draw < means["symmetric"]
            answers[image, row.question] = row.answer if is_right else other[row.answer]
            answer = row.negated_answer if is_symmetric else other[row.negated_answer]
            answers[image, row.negated_question] = answer
    return answers


def build_frame_scores(home: Path) -> dict[str, int]:
    """Scores of pictures: the mean score, raised by as many percent as each bias does."""
    printed = published("frame")
    mean, percents = printed["original"].mean(), printed.groupby("bias")["percent"].mean()
    scores: dict[str, int] = {}
    for row in pd.read_parquet(home / "frame" / "biased_images").itertuples():
        factor = 1 + percents.get(row.bias, 0.0) / 100
        scores[row.sha256] = int(min(5, mean * factor + lot(row.item_id)))
    return scores


if __name__ == "__main__":
    main()
