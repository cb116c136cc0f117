"""Small tables in the columns of the report, with pictures to go with them."""

import hashlib
import io
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd
from PIL import Image, ImageDraw

from assets.site import build
from metrics import QUESTION_GROUPS, TASK_MEAN, WHOLE_TOPIC

SIZES = (384, 768, 1152)
JUDGES = ("prior", "pixels", "random", "some/vlm-1")
REFUSAL = "I cannot say <b>that</b>."
ADDED = "scenes/flags/subject-0-add.html"
ODD = '<script>alert("x")</script> & “Ünïcode”'


class Report:
    """Tables and pictures of `subjects` originals a topic, two counterfactuals each."""

    def __init__(self, subjects: int = 2, topics: Sequence[str] = ("flags", "game_boards")) -> None:
        self.pngs: dict[str, bytes] = {}
        self._images: list[dict[str, Any]] = []
        self._measurements: list[dict[str, Any]] = []
        self._questions: list[dict[str, Any]] = []
        self._answers: list[dict[str, Any]] = []
        for domain in topics:
            for number in range(subjects):
                subject = ODD if number == 1 else f"Subject {number}"
                for modification in ("add", "remove", "none"):
                    self._scene(domain, number, subject, modification)

    def tables(self) -> dict[str, Any]:
        """The keyword arguments of `build`."""
        return {
            "images": pd.DataFrame(self._images),
            "measurements": pd.DataFrame(self._measurements),
            "questions": pd.DataFrame(self._questions),
            "answers": pd.DataFrame(self._answers),
            "accuracy": _accuracy(pd.DataFrame(self._answers)),
            "png_of": self.pngs.__getitem__,
            "title": "VLMBias, drawn again",
            "facts": {"Seed": "0", "Odd": ODD},
        }

    def _scene(self, domain: str, number: int, subject: str, modification: str) -> None:
        standard = 5 + number % 7
        truth = standard + {"add": 1, "remove": -1, "none": 0}[modification]
        original_id = f"{domain}/subject-{number}"
        original = modification == "none"
        scene = {
            "base_id": original_id if original else f"{original_id}-{modification}",
            "domain": domain,
            "subject": subject,
            "subtopic": "Stripes" if number % 2 else "Stars",
            "variant": "original" if original else "counterfactual",
            "image_set": "originals" if original else "benchmark",
        }
        for size in SIZES:
            png = picture(truth, size, f"{domain}{number}")
            sha256 = hashlib.sha256(png).hexdigest()
            self.pngs[sha256] = png
            image = {"image_id": f"{scene['base_id']}/{size}", "sha256": sha256}
            self._images.append(
                {
                    **image,
                    **scene,
                    "original_id": original_id,
                    "modification": modification,
                    "width": size,
                    "height": size * 2 // 3,
                    "size": size,
                    "seed": 0,
                    "target": "stripes",
                    "targets": ["stripes"],
                    "truths": [float(truth)],
                    "standards": [float(standard)],
                    "settings": json.dumps({"ground": "grey", "added_stripes": truth - standard}),
                    "generator_version": "1",
                    "rasteriser": "resvg 1",
                }
            )
            self._measurements.append(
                {
                    **image,
                    "target": "stripes",
                    "measured": float(truth),
                    "agrees": True,
                    "problem": "",
                    "mark": 7.25 if size == SIZES[0] else None,
                    "gap": 3.0 if size == SIZES[0] else None,
                    "measure_version": "1",
                }
            )
            self._ask({**image, **scene, "size": size}, truth, standard)

    def _ask(self, image: dict[str, Any], truth: int, standard: int) -> None:
        yes = "Yes" if truth == standard else "No"
        for question_id, text, right, bias in (
            ("Q1", "How many stripes are there?", str(truth), str(standard)),
            ("Q2", "Count the stripes.", str(truth), str(standard)),
            ("Q3", f"Is this {image['subject']}?", yes, "Yes"),
        ):
            question = {
                **image,
                "question_id": question_id,
                "target": "stripes",
                "question": f"{text} Answer in curly brackets, e.g., {{9}}.",
                "ground_truth": right,
                "expected_bias": bias,
            }
            self._questions.append(question)
            for model in JUDGES:
                answer = {"prior": bias, "pixels": right, "random": "7"}.get(model)
                if model not in ("prior", "pixels", "random") and question_id == "Q3":
                    answer = "Yes"
                self._answers.append(
                    {
                        **question,
                        "model": model,
                        "prompting": "baseline",
                        "prompt": question["question"],
                        "response": REFUSAL if answer is None else f"{{{answer}}}",
                        "answer": answer,
                        "outcome": "refused" if answer is None else "answered",
                        "score": None if answer is None else float(answer == right),
                    }
                )


def written(folder: Path, **changes: Any) -> Path:
    """The folder of a small site of one original, some of its tables changed."""
    return build(folder, **{**Report(subjects=1, topics=["flags"]).tables(), **changes}).parent


def picture(bars: int, size: int, kind: str) -> bytes:
    """A PNG with that many bars in a colour of its kind."""
    image = Image.new("RGB", (size, size * 2 // 3), "#dddddd")
    draw = ImageDraw.Draw(image)
    colour = "#" + hashlib.sha256(kind.encode()).hexdigest()[:6]
    step = size / (2 * bars + 1)
    for bar in range(bars):
        left = step * (2 * bar + 1)
        draw.rectangle((left, size / 9, left + step, size * 5 / 9), fill=colour)
    out = io.BytesIO()
    image.save(out, "PNG")
    return out.getvalue()


def _accuracy(answers: pd.DataFrame) -> pd.DataFrame:
    answers = answers.assign(questions=answers.question_id.map(QUESTION_GROUPS))
    over = ["model", "prompting", "image_set", "questions"]
    found = []
    for topic, subtopic in (("domain", None), ("domain", "subtopic"), (None, None)):
        columns = [column for column in (topic, subtopic) if column]
        for key, group in answers.groupby(over + columns):
            names = dict(zip(over + columns, key, strict=True))
            rate = float(group.score.mean())
            bias = float((group.answer == group.expected_bias).mean())
            found.append(
                {
                    **{name: names[name] for name in over},
                    "topic": names.get("domain", TASK_MEAN),
                    "subtopic": names.get("subtopic", WHOLE_TOPIC),
                    "base_images": group.base_id.nunique(),
                    "answers": int(group.score.count()),
                    "accuracy": rate,
                    "accuracy_low": max(0.0, rate - 0.07),
                    "accuracy_high": min(1.0, rate + 0.06),
                    "bias_rate": bias,
                    "bias_rate_low": max(0.0, bias - 0.05),
                    "bias_rate_high": min(1.0, bias + 0.05),
                    "bias_share_of_wrong": None if rate == 1 else min(1.0, bias / (1 - rate)),
                    "unparsed_rate": 0.0,
                    "refused_rate": float((group.outcome == "refused").mean()),
                    "failed_rate": 0.0,
                }
            )
    return pd.DataFrame(found)
