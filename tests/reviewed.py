"""Data roots in which there is something to review, made by the assets' own functions."""

import os
import socket
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path
from urllib.error import URLError
from urllib.request import urlopen

from assets.kit.score_sheets import write_score_part, write_sheets
from assets.protobias.human_scores import FORM as SCORES
from assets.vhexpansion.negation_review import write_pairs
from assets.vlmbias.photographs.selection import write_candidates
from resources.storage.data_root import DataRoot
from resources.storage.image_store import ImageStore
from tests.ports import free_port
from tests.providers import pictures

PROJECT = Path(__file__).parents[1]
SENTENCE = "Accept it if a dog is seen from the side and has exactly 5 legs."


def open_home(root):
    """The stores of a data root."""
    return DataRoot(root=str(root)), ImageStore(root=str(root))


def candidate(images, number, size=(64, 48)):
    """A candidate for review: an original, or an edit of it that a model has checked."""
    subject, edit = divmod(number, 4)
    return {
        "sha256": images.put(pictures.png(f"candidate {number}", *size)),
        "painter": "artist",
        "base_id": f"animals/dog-{subject}",
        "subject": f"dog-{subject}",
        "variant": "counterfactual" if edit else "original",
        "edit_number": max(0, edit - 1),
        "check": "failed" if number % 5 == 2 else "passed",
        "failed_checks": ["framing"] if number % 5 == 2 else [],
        "decided_by": "model",
        "sentence": SENTENCE,
        "outcome": "candidate",
        "is_stand_in": False,
    }


def make_candidates(root, numbers, size=(64, 48)):
    """Write the review of some candidates, as vlmbias/candidates does; returns their rows."""
    home, images = open_home(root)
    rows = [candidate(images, number, size) for number in numbers]
    write_candidates(home, images, "animals", rows, {})
    return rows


def make_scores(root, numbers, text="A penguin on a stone.", **drawn):
    """Write the score sheets of some pictures, as protobias/human_scores does."""
    home, images = open_home(root)
    rows = [
        {"sha256": images.put(pictures.png(f"scored {number}", 64, 48)), "text": f"{text} {number}"}
        | drawn
        for number in numbers
    ]
    folder = home.path("reviews", "protobias", "artist")
    write_sheets(folder, SCORES, rows, images)
    write_score_part(home, SCORES, "artist", folder, rows)
    return rows


def make_pairs(root, numbers):
    """Write the sheet of some negated questions, as vhexpansion/negated_cases does."""
    home, images = open_home(root)
    rows = [
        {
            "case_id": f"flags/{number}",
            "question": f"Is there a star {number}?",
            "answer": "yes",
            "negated_question": f"Is there no star {number}?",
            "negated_answer": "no",
            "image_id": f"flag-{number}",
            "sha256": images.put(pictures.png(f"flag {number}", 64, 48)),
            "outcome": "negated",
        }
        for number in numbers
    ]
    write_pairs(rows, home, "flags", "grammar", 0)
    return rows


@contextmanager
def listening(port):
    """Another program that listens at a port."""
    with socket.create_server(("127.0.0.1", port)):
        yield port


@contextmanager
def serving(root, asset, *options, port=None):
    """Run `counterfactory review` until the block ends; gives its process and its address."""
    port = port or free_port()
    command = [sys.executable, "-m", "commands.app", "review", asset, "--port", str(port), *options]
    environment = {**os.environ, "COUNTERFACTORY_HOME": str(root), "DAGSTER_HOME": str(root)}
    process = subprocess.Popen(
        command, cwd=PROJECT, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    address = f"http://127.0.0.1:{port}/"
    try:
        until = time.monotonic() + 120
        while True:
            assert process.poll() is None, process.stderr.read().decode()
            try:
                urlopen(f"{address}form").close()
                break
            except URLError:
                assert time.monotonic() < until
                time.sleep(0.05)
        yield process, address
    finally:
        process.kill()
        process.communicate()
