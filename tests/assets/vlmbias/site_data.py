"""Small tables in the columns of the report, with pictures to go with them."""

import hashlib
import io
import json
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import pandas as pd
from PIL import Image, ImageDraw, ImageOps

from assets.report.publish import publish
from assets.vlmbias import pages
from assets.vlmbias.responses import read_plainly
from metrics import BASELINE, accuracy_table

SIZES = (384, 768, 1152)
STAND_INS = frozenset({"prior", "pixels", "random"})
JUDGES = (*sorted(STAND_INS), "some/vlm-1")
SHOWN = {
    "in-image title": lambda image: ImageOps.expand(image, (0, 40, 0, 0), "white"),
    "isolated": ImageOps.invert,
}
"""What becomes of a picture under the promptings that show another one."""
PROMPTINGS = (BASELINE, "debiased", "double-check", "in-image title")
REFUSAL = "I cannot say <b>that</b>."
REASON = "The picture may show a protected emblem <and> cannot be described."
ADDED = "scenes/flags/subject-0-add.html"
ODD = '<script>alert("x")</script> & “Ünïcode”'


class Made(NamedTuple):
    """Who made a picture, and who says what is on it."""

    painter: str = ""
    review: str = "pixels"
    is_stand_in: bool = False

    @property
    def image_set(self) -> str:
        """Where its pictures stand apart from the benchmark and its originals, if they do."""
        apart = "unreviewed" if self.review == "unreviewed" else ""
        return "stand-in" if self.is_stand_in else apart


DRAWN = Made()

Reply: TypeAlias = dict[str, Any] | None
Answering: TypeAlias = Callable[[str, str, dict[str, Any]], Reply]
"""What a model gives under a prompting to a question: columns of its answer, None if not asked."""


class Report:
    """Tables and pictures of `subjects` originals a topic, two counterfactuals each.

    `painted` are photographed topics with how they were made, once a painter: one counterfactual
    each.
    """

    def __init__(
        self,
        subjects: int = 2,
        topics: Sequence[str] = ("flags", "game_boards"),
        *,
        models: Sequence[str] = JUDGES,
        promptings: Sequence[str] = (BASELINE,),
        answering: "Answering | None" = None,
        painted: Sequence[tuple[str, Made]] = (),
    ) -> None:
        self._asked = [(model, prompting) for model in models for prompting in promptings]
        self._answering = answering or stubborn
        self.pngs: dict[str, bytes] = {}
        self._shown_instead: dict[tuple[str, str], str] = {}
        self._images: list[dict[str, Any]] = []
        self._measurements: list[dict[str, Any]] = []
        self._questions: list[dict[str, Any]] = []
        self._answers: list[dict[str, Any]] = []
        for domain in topics:
            for number in range(subjects):
                subject = ODD if number == 1 else f"Subject {number}"
                for modification in ("add", "remove", "none"):
                    self._scene(domain, number, subject, modification, DRAWN)
        for domain, made in painted:
            for number in range(subjects):
                for modification in ("add", "none"):
                    self._scene(domain, number, f"Subject {number}", modification, made)

    def tables(self) -> dict[str, Any]:
        """The keyword arguments of `build`."""
        return {
            "images": pd.DataFrame(self._images),
            "measurements": pd.DataFrame(self._measurements),
            "questions": pd.DataFrame(self._questions),
            "answers": pd.DataFrame(self._answers),
            "accuracy": accuracy_table(pd.DataFrame(self._answers)),
            "png_of": self.pngs.__getitem__,
            "facts": {"Seed": "0", "Odd": ODD},
            "stand_ins": STAND_INS,
            "complete": len(self._images),
        }

    def _scene(self, domain: str, number: int, subject: str, modification: str, made: Made) -> None:
        standard = 5 + number % 7
        truth = standard + {"add": 1, "remove": -1, "none": 0}[modification]
        name = f"{domain}/subject-{number}"
        original = modification == "none"
        at = f"/{made.painter}" if made.painter else ""
        original_id = f"{name}{at}"
        scene = {
            "base_id": original_id if original else f"{name}-{modification}{at}",
            "domain": domain,
            "subject": subject,
            "subtopic": "Stripes" if number % 2 else "Stars",
            "variant": "original" if original else "counterfactual",
            "image_set": made.image_set or ("originals" if original else "benchmark"),
            **made._asdict(),
        }
        for size in SIZES:
            png = picture(truth, size, f"{domain}{number}{made.painter}")
            sha256 = hashlib.sha256(png).hexdigest()
            self.pngs[sha256] = png
            image = {"image_id": f"{scene['base_id']}/{size}", "sha256": sha256}
            self._images.append(
                {
                    **image,
                    **scene,
                    "original_id": original_id,
                    "modification": modification
                    if original or domain != "game_boards"
                    else f"{modification} row last",
                    "width": size,
                    "height": size * 2 // 3,
                    "size": size,
                    "seed": 0,
                    "target": "stripes",
                    "targets": ["stripes"],
                    "truths": [float(truth)],
                    "standards": [float(standard)],
                    **(
                        _painted(made, original)
                        if made.painter
                        else _drawn(domain, truth - standard)
                    ),
                }
            )
            self._ask({**image, **scene, "size": size}, truth, standard)
            if made.painter:
                continue
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

    def _shown(self, sha256: str, prompting: str) -> str:
        """The sha256 of the picture that is sent: titled, isolated, or as it is."""
        if prompting not in SHOWN:
            return sha256
        if (sha256, prompting) not in self._shown_instead:
            image = Image.open(io.BytesIO(self.pngs[sha256]))
            out = io.BytesIO()
            SHOWN[prompting](image.convert("RGB")).save(out, "PNG", compress_level=1)
            digest = hashlib.sha256(out.getvalue()).hexdigest()
            self._shown_instead[sha256, prompting] = digest
            self.pngs[digest] = out.getvalue()
        return self._shown_instead[sha256, prompting]

    def _ask(self, image: dict[str, Any], truth: int, standard: int) -> None:
        yes = "Yes" if truth == standard else "No"
        asked = [
            ("Q1", "How many stripes are there?", str(truth), str(standard)),
            ("Q2", "Count the stripes.", str(truth), str(standard)),
            ("Q3", f"Is this {image['subject']}?", yes, "Yes"),
        ]
        if image["variant"] == "original" and self._answering is lifelike:
            asked += [
                ("N1", "What is this?", image["subject"], image["subject"]),
                ("N2", "How many does it have?", str(standard), str(standard)),
            ]
        for question_id, text, right, bias in asked:
            question = {
                **image,
                "question_id": question_id,
                "target": "stripes",
                "question": f"{text} Answer in curly brackets, e.g., {{9}}.",
                "ground_truth": right,
                "expected_bias": bias,
            }
            self._questions.append(question)
            for model, prompting in self._asked:
                reply = self._answering(model, prompting, question)
                if reply is not None:
                    about = {"model": model, "prompting": prompting, "prompt": text}
                    about["shown_sha256"] = self._shown(image["sha256"], prompting)
                    self._answers.append({**question, **about, **_ended(reply, right)})


def stubborn(model: str, prompting: str, question: dict[str, Any]) -> Reply:
    """The stand-in judges, and a model that refuses to count and says Yes to everything."""
    right, bias = question["ground_truth"], question["expected_bias"]
    if model == "pixels" and question["painter"]:
        return None
    if model in STAND_INS:
        return {"answer": {"prior": bias, "pixels": right, "random": "7"}[model]}
    if question["question_id"] == "Q3":
        return {"answer": "Yes"}
    return {"outcome": "refused", "response": REFUSAL, "refusal": "model"}


def lifelike(model: str, prompting: str, question: dict[str, Any]) -> Reply:
    """Answers by chance as real models give them, the same each time.

    The baseline alone asks more than Q1 and Q2.
    vlm-1 has not been asked about flags by the in-image title, vlm-2 has not been double-checked
    at all, vlm-3 was replaced behind its name, the provider of vlm-4 dislikes some subjects, and
    vlm-5 breaks down now and then.
    """
    right, bias = question["ground_truth"], question["expected_bias"]
    if model in STAND_INS:
        asked = prompting == BASELINE and not question["question_id"].startswith("N")
        return stubborn(model, prompting, question) if asked else None
    if prompting != BASELINE and question["question_id"] not in ("Q1", "Q2"):
        return None
    number = int(model.rsplit("-", 1)[1])
    if (number, prompting) == (2, "double-check") or (
        (number, prompting, question["domain"]) == (1, "in-image title", "flags")
    ):
        return None
    chance = _chance(model, prompting, question["image_id"], question["question_id"])
    served = f"{model}-2026-0{1 + (number == 3 and chance < 0.3)}-01"
    if number == 4 and _chance(question["base_id"]) < 0.2:
        kind = "image safety" if chance < 0.7 else "content filter"
        return {"outcome": "refused", "refusal": kind, "reason": REASON, "served_model": served}
    if number == 5 and chance < 0.03:
        return {"outcome": "failed", "reason": "503: the model is overloaded, after 6 attempts"}
    gain = {"debiased": 0.05, "double-check": 0.08, "in-image title": -0.04}.get(prompting, 0.0)
    known = question["variant"] == "original"
    answer = right if chance < (0.97 if known else 0.05 + 0.03 * number + gain) else bias
    if chance > 0.9 and not known:
        answer = "3"
    reply: dict[str, Any] = {"answer": answer, "served_model": served}
    if number == 6 and chance < 0.1:
        reply |= {"outcome": "unparsed", "answer": None, "response": "I count 5, or 6."}
    if prompting == "double-check":
        reply["first_response"] = f"There are {{{bias}}}."
    return reply


def _chance(*names: str) -> float:
    """A number from 0 to 1 that these names decide."""
    return int(hashlib.sha256("/".join(names).encode()).hexdigest()[:8], 16) / 0x1_0000_0000


def _ended(reply: dict[str, Any], right: str) -> dict[str, Any]:
    """The columns of an answer, those that a reply leaves open filled in."""
    answer, outcome = reply.get("answer"), reply.get("outcome", "answered")
    scores = {"answered": float(answer == right), "unparsed": 0.0}
    columns = _fill(reply, answer, outcome, scores.get(outcome))
    return columns | read_plainly({**columns, "accepted": None, "ground_truth": right})


def _fill(
    reply: dict[str, Any], answer: str | None, outcome: str, score: float | None
) -> dict[str, Any]:
    return {
        "first_response": None,
        "response": None if answer is None else f"{{{answer}}}",
        "answer": None,
        "refusal": None,
        "reason": None,
        "served_model": None,
        **reply,
        "outcome": outcome,
        "score": score,
    }


_CHANGES = {
    "chess_pieces": {"square": "f2", "removed": "Pawn", "added": "Queen"},
    "patterned_grids": {"cell": "D3"},
}
"""Settings from which a topic says what was changed."""


def _drawn(domain: str, added: int) -> dict[str, Any]:
    """The columns of a drawn picture that a photograph's differ from."""
    return {
        "settings": json.dumps(
            {"ground": "grey", "added_stripes": added, **_CHANGES.get(domain, {})}
        ),
        "generator_version": "1",
        "rasteriser": "resvg 1",
        **dict.fromkeys(("source_sha256", "source_width", "source_height")),
    }


def _painted(made: Made, original: bool) -> dict[str, Any]:
    """The columns of a photograph that a drawn picture's differ from."""
    settings = {"painter": made.painter, "painting 1": "Paint it with all of its stripes."}
    if not original:
        settings |= {"editor": "some/editor", "edit": "Add 1 more stripe.", "edit_number": "2"}
    return {
        "settings": json.dumps(settings, sort_keys=True),
        "generator_version": f"{made.painter}-2026-01-01",
        "rasteriser": "Pillow 1, Lanczos",
        "source_sha256": "0" * 64,
        "source_width": 1536.0,
        "source_height": 1024.0,
    }


def build(folder: Path, *, png_of: Callable[[str], bytes], **tables: Any) -> Path:
    """Publish the site of these tables, and return the path of its front page."""
    return publish(folder, pages.build(**tables), png_of).page


def written(folder: Path, **changes: Any) -> Path:
    """The folder of a small site of one original, some of its tables changed."""
    return build(folder, **{**_small(), **changes}).parent


@cache
def _small() -> dict[str, Any]:
    return Report(subjects=1, topics=["flags"]).tables()


@cache
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
