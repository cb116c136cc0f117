"""Mutation testing of `metrics/`: change the code in one place at a time and run its tests.

    .venv/bin/python -m tests.mutants [--sample N] [--seed N] [--only GLOB]

mutmut makes the mutants and runs for each the tests that reach it. A mutant that no test notices
survives. `HARMLESS` are changes of words and of guards; `tests/metrics/equivalent_mutants.txt`
lists further ones that change no number, each with the reason. Fails where more than 5 % of the
sample survive apart from these.
"""

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
from fnmatch import fnmatch
from hashlib import md5
from pathlib import Path

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "build" / "mutants"
EQUIVALENTS = ROOT / "tests" / "metrics" / "equivalent_mutants.txt"
LIMIT = 0.05
SURVIVED, UNTESTED = 0, 33
"""Exit codes of mutmut: all tests pass, and no test reaches the function."""
HARMLESS = (
    (
        r"""f?("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')""",
        lambda text: text[0].replace("XX", "").lower() if " " in text[0] else text[0],
    ),
    (r",? *\bstrict=\w+", ""),
    (r"\bsort=None", "sort=False"),
    (
        r"(np\.asarray\(.+?|\.to_numpy\(|\.astype\()(?:, *)?"
        r"(?:np\.float64|float|str|bool|object|None)?\)",
        r"\1)",
    ),
    (r", *(?=\))", ""),
    (r'"NAN"', '"nan"'),
)
"""Patterns with what takes their place: lines that are the same then differ in the wording of a
sentence, in whether `zip` guards against lists of unequal length, in the type that an array of
numbers is read as, or in how False and NaN are written."""
SETTINGS = """
[tool.mutmut]
source_paths = ["metrics"]
also_copy = ["assets"]
pytest_add_cli_args_test_selection = ["tests/metrics"]
pytest_add_cli_args = ["-q", "-x", "-p", "no:cacheprovider", "-m", "not slow"]
"""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--sample", type=int, default=120, help="mutants to try; 0 for all")
    parser.add_argument("--seed", type=int, default=0, help="seed of the sample")
    parser.add_argument("--only", default="*", help="as in 'metrics.frame.inflation.*'")
    options = parser.parse_args()
    stage()
    names = [name for name in mutant_names() if fnmatch(name, options.only)]
    if options.sample:
        names = sorted(names, key=lambda name: md5(f"{options.seed} {name}".encode()).digest())
        names = names[: options.sample]
    survivors = run_mutants(names)
    reasons = read_equivalents(EQUIVALENTS.read_text())
    changes = {name: describe_change(name) for name in survivors}
    alive = [
        name
        for name, change in changes.items()
        if change not in reasons and not is_harmless(change)
    ]
    for name in alive:
        print(f"\n{name}\n{changes[name]}")
    print(
        f"\n{len(names)} mutants: {len(alive)} survive ({len(alive) / len(names):.1%}; at most "
        f"{LIMIT:.0%} may), {len(survivors) - len(alive)} change no number."
    )
    return int(len(alive) > LIMIT * len(names))


def stage() -> None:
    """Copy what is mutated, its tests and the tables that they read to a folder for mutmut."""
    shutil.rmtree(FOLDER, ignore_errors=True)
    (FOLDER / "tests").mkdir(parents=True)
    for name in ("metrics", "assets", "tests/metrics"):
        shutil.copytree(ROOT / name, FOLDER / name, ignore=shutil.ignore_patterns("__pycache__"))
    for path in (ROOT / "tests").glob("*.py"):
        shutil.copy(path, FOLDER / "tests")
    project = (ROOT / "pyproject.toml").read_text()
    (FOLDER / "pyproject.toml").write_text(project + SETTINGS)


def mutant_names() -> list[str]:
    """The names of all mutants, as mutmut numbers them."""
    os.chdir(FOLDER)
    from mutmut.mutation.file_mutation import mutate_file_contents  # noqa: PLC0415
    from mutmut.utils.format_utils import get_mutant_name  # noqa: PLC0415

    return [
        get_mutant_name(path, mutant)
        for path in sorted(Path("metrics").rglob("*.py"))
        for mutant in mutate_file_contents(str(path), path.read_text()).mutant_names
    ]


def run_mutants(names: list[str]) -> list[str]:
    """Run the tests of each mutant; returns those that no test noticed.

    Raises `CalledProcessError` where the tests fail without any change.
    """
    mutmut = Path(sys.executable).with_name("mutmut")
    with (FOLDER / "log.txt").open("w") as log:
        subprocess.run([mutmut, "run", *names], cwd=FOLDER, check=True, stdout=log)
    exit_codes = {}
    for path in (FOLDER / "mutants" / "metrics").rglob("*.meta"):
        exit_codes.update(json.loads(path.read_text())["exit_code_by_key"])
    unfinished = [name for name in names if exit_codes[name] is None]
    if unfinished:
        raise RuntimeError(f"mutmut has not tried {len(unfinished)} mutants, as {unfinished[0]}")
    return [name for name in names if exit_codes[name] in {SURVIVED, UNTESTED}]


def describe_change(name: str) -> str:
    """The function and the lines that a mutant takes away and adds, without their indentation."""
    mutmut = Path(sys.executable).with_name("mutmut")
    shown = subprocess.run(
        [mutmut, "show", name], cwd=FOLDER, check=True, capture_output=True, text=True
    ).stdout
    lines = [line for line in shown.splitlines() if re.match(r"[-+](?![-+]{2} )", line)]
    changed = [f"{line[0]} {line[1:].strip()}" for line in lines]
    function = re.sub(r"\.x[_ǁ]", ".", re.sub(r"__mutmut_\d+$", "", name)).replace("ǁ", ".")
    return "\n".join([function, *changed])


def is_harmless(change: str) -> bool:
    """Whether a change is of the kinds of `HARMLESS` alone."""
    _, *lines = change.splitlines()
    for pattern, substitute in HARMLESS:
        lines = [re.sub(pattern, substitute, line) for line in lines]
    removed, added = ([line[2:] for line in lines if line[0] == sign] for sign in "-+")
    return removed == added


def read_equivalents(text: str) -> dict[str, str]:
    """The reason by change, of paragraphs of a change and a line `= reason`."""
    paragraphs = [part.strip() for part in text.split("\n\n") if not part.startswith("#")]
    split = [part.rpartition("\n= ") for part in paragraphs if part]
    unreasoned = [reason for change, _, reason in split if not change]
    if unreasoned:
        raise ValueError(f"{EQUIVALENTS}: no line '= reason' in {unreasoned[0]!r}. Add it.")
    return {change: reason for change, _, reason in split}


if __name__ == "__main__":
    sys.exit(main())
