"""Write one scene as a vector figure for a paper: the SVG that its pixels come from, or a PDF."""

import argparse
import sys
from pathlib import Path
from typing import get_args

from generators.domains import SizeOutOfRange, UnknownDomain
from generators.figures import Kind, PdfUnavailable, UnknownScene, figure, scene_named


def main() -> int:
    """Write the figure and print its path; say what is wrong and return 1 if there is none."""
    arguments = _arguments()
    try:
        scene = scene_named(arguments.scene, arguments.seed)
        data = figure(scene, arguments.size, arguments.kind)
    except (UnknownDomain, UnknownScene, SizeOutOfRange, PdfUnavailable) as error:
        return _failed(str(error))
    path = arguments.out / f"{scene.base_id}-{arguments.size}.{arguments.kind}"
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    except OSError as error:
        return _failed(f"{path} cannot be written ({error.strerror}). Choose a folder with --out.")
    sys.stdout.write(f"{path}\n")
    return 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="figure.py", description=__doc__)
    parser.add_argument("scene", help="such as flags/united-states-stars-add")
    parser.add_argument("--kind", choices=get_args(Kind), default="pdf")
    parser.add_argument("--size", type=int, default=1152, help="length of the longer side in px")
    parser.add_argument("--seed", type=int, default=0, help="any whole number")
    parser.add_argument("--out", type=Path, default=Path("figures"), help="folder to write to")
    return parser.parse_args()


def _failed(why: str) -> int:
    sys.stderr.write(f"{why}\n")
    return 1


if __name__ == "__main__":
    sys.exit(main())
