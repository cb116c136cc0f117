"""`python -m tests.integrations.scorer_file` writes `integrations/counterfactory_scorer.py`.

It holds the modules of `metrics/reply_parsing` that read a reply, so that a harness scores as the
program does without importing its packages.
"""

import ast
import re
from pathlib import Path

PROJECT = Path(__file__).parents[2]
SCORER = PROJECT / "integrations" / "counterfactory_scorer.py"
MODULES = ("reply_text", "written_numbers", "written_names", "bracketed_answers")
HEAD = '''"""Reader and scorer of Counterfactory's VLMBias, in one file for other harnesses.

Made from `metrics/reply_parsing` by `python -m tests.integrations.scorer_file`: change it there.
"""

'''
TAIL = '''

def read_answer(reply: str, ground_truth: str, accepted: Sequence[str] = ()) -> ParsedAnswer:
    """Read a reply to a question by what its right answer is: a name, Yes or No, or a count."""
    if accepted:
        return read_name(reply, accepted)
    return (read_yes_no if ground_truth in ("Yes", "No") else read_count)(reply)


def score_reply(
    reply: str, ground_truth: str, expected_bias: str | None = None, accepted: Sequence[str] = ()
) -> dict[str, float]:
    """Score a reply: accuracy and bias, 1 or 0; NaN for a refusal, which counts in neither."""
    parsed = read_answer(reply, ground_truth, accepted)
    score = score_answer(parsed, ground_truth)
    if score is None:
        return {"accuracy": math.nan, "bias": math.nan}
    return {"accuracy": score, "bias": float(parsed.answer == expected_bias is not None)}


def score_row(reply: str, row: Mapping[str, Any]) -> dict[str, float]:
    """Score a reply to a row of the table `questions`; NaN outside of what the report averages.

    That is Q1 and Q2 about the benchmark's pictures. Of the other rows, Q3 and the sanity check
    among them, many have the familiar answer for the right one.
    """
    if row["question_id"] not in ("Q1", "Q2") or row["image_set"] != "benchmark":
        return {"accuracy": math.nan, "bias": math.nan}
    return score_reply(reply, row["ground_truth"], row["expected_bias"], row.get("accepted") or ())


def mean_of_answered(scores: Sequence[float]) -> float:
    """Average scores; those that are NaN count in neither sum nor number, NaN without any."""
    answered = [score for score in scores if not math.isnan(score)]
    return sum(answered) / len(answered) if answered else math.nan
'''


def build_scorer() -> str:
    """Build the file: the modules below one another, a name that two of them use made unique."""
    names_by_module = {"typing": {"Any"}, "collections.abc": {"Mapping"}}
    bodies, taken = [], set()
    plain_imports = {"import math"}
    for name in MODULES:
        source = (PROJECT / "metrics" / "reply_parsing" / f"{name}.py").read_text(encoding="utf-8")
        tree = ast.parse(source)
        nodes = tree.body[1:]
        lines = source.splitlines()
        for node in nodes:
            if isinstance(node, ast.Import):
                plain_imports.add(ast.unparse(node))
            elif isinstance(node, ast.ImportFrom) and not node.module.startswith("metrics."):
                imported = names_by_module.setdefault(node.module, set())
                imported |= {alias.name for alias in node.names}
        first = max(
            node.end_lineno for node in nodes if isinstance(node, ast.Import | ast.ImportFrom)
        )
        docstring = "\n".join(lines[: tree.body[0].end_lineno])
        body = "\n".join(lines[first:]).strip("\n")
        names = {
            target.id
            for node in nodes
            if isinstance(node, ast.Assign)
            for target in node.targets
            if isinstance(target, ast.Name)
        }
        for clash in sorted(names & taken):
            body = re.sub(rf"\b{clash}\b", f"{clash}_IN_{name.upper()}", body)
        taken |= names
        rules = re.sub(r'^r?"""|"""$', "", docstring).strip().splitlines()
        comment = "\n".join(f"# {line}".rstrip() for line in rules)
        bodies.append(f"{comment}\n\n{body}")
    imports = [
        *sorted(plain_imports),
        *(f"from {m} import {', '.join(sorted(n))}" for m, n in sorted(names_by_module.items())),
    ]
    return HEAD + "\n".join(imports) + "\n\n" + "\n\n\n".join(bodies) + "\n" + TAIL


if __name__ == "__main__":
    SCORER.write_text(build_scorer(), encoding="utf-8")
