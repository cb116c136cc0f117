"""Measure speed and memory on this machine, as docs/speed.md quotes them, and those of peers.

Takes half an hour or so and 6 GB of a temporary folder; nothing is written outside it but the
table of `python -m bench gpu`. Limits are for a machine with two cores that does nothing else.
"""

import argparse
import sys
from importlib import import_module
from pathlib import Path

from bench import gpu
from bench.machine import machine

CASES = (
    *(
        "drawing",
        "seeds",
        "peers",
        "demo",
        "shared_stores",
        "asking",
        "calls",
        "cassette",
        "quote",
        "two_homes",
    ),
    *(
        "prompts",
        "negation",
        "sketch",
        "pairs",
        "frame",
        "collection",
        "scoring",
        "perturbations",
        "survival",
        "perturbation_peers",
    ),
    *("attacks", "gpu", "answers", "preference", "front_page", "training", "paper_size"),
    *("release", "reroll", "ray_tasks", "review", "drift"),
)
"""Modules of this folder with a function `figures`; each is measured by itself."""


def main() -> None:
    """Print the machine, then the figures of each case, each as soon as it is measured."""
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("cases", nargs="*", metavar="CASE", help="run these alone, of those listed")
    parser.add_argument("--tiny", action="store_true", help="gpu: try it with tiny models")
    parser.add_argument("--to", type=Path, help="gpu: the file of its table (gpu.md)")
    parser.add_argument("--list", action="store_true", help="list the cases and run none")
    arguments = parser.parse_args()
    if unknown := set(arguments.cases) - set(CASES):
        parser.error(f"cases: no {', '.join(sorted(unknown))}. There are {', '.join(CASES)}.")
    if arguments.cases == ["gpu"] and not arguments.list:
        sys.exit(gpu.main(arguments.to or Path("gpu.md"), tiny=arguments.tiny))
    if arguments.tiny or arguments.to:
        parser.error("--tiny and --to are of the case gpu alone: python -m bench gpu --tiny")
    if not arguments.list:
        print(machine())
    for name in arguments.cases or CASES:
        case = import_module(f"bench.{name}")
        title = str(case.__doc__).partition("\n")[0]
        print(f"{name:<9} {title}" if arguments.list else f"\n{title}", flush=True)
        for figure in () if arguments.list else case.figures():
            print(figure, flush=True)


if __name__ == "__main__":
    main()
