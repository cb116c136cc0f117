"""What judges are sent and how their replies are read and scored, by benchmark.

The versions in `evaluation_versions.json` are pinned to it.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, NamedTuple, get_args

from assets.cdh_bench.answers import score_reply as score_contrast
from assets.frame.pairwise import read_pick
from assets.frame.scores import build_request as build_score_request
from assets.frame.scores import parse_reply
from assets.game_rules.answers import score_reply as score_side
from assets.illusions.answers import read_reply
from assets.kit.step import StepReply
from assets.mm_judge_bias.answers import read_score as read_response_score
from assets.philautia.scores import parse_score
from assets.protobias.scorers import parse_outcome
from assets.vhexpansion.yes_no_step import parse_answer
from assets.vlmbias.prompting import VARIANTS
from assets.vlmbias.responses import first_prompt, score_row
from generators.domains import load_domain, load_domains
from generators.domains.optical_illusions.polarity_questions import (
    Polarity,
    write_polarity_question,
)
from generators.game_rules.rules import write_questions
from generators.photographs import load_photograph_topics
from generators.prompts.captioning import write_caption_prompt, write_score_prompt
from generators.prompts.choices import write_choice_prompt
from generators.prompts.judging_templates import TEMPLATES
from generators.prompts.pairwise import write_pairwise_prompt
from generators.prompts.rating_prompts import write_rating_prompt
from generators.prompts.response_pairs import (
    write_picture_pair_prompt,
    write_response_pair_prompt,
)
from generators.prompts.response_scores import write_response_score_prompt
from generators.prompts.yes_no import write_yes_no_prompt
from resources.models.outcomes import AnsweredOutcome

REPLIES = (
    *("{5}", "{4}", "{five}", "{5.0}", "{5.5}", "{-5}", "{1,000}", "5", "**5**", "5 stripes"),
    *("I count 5 stripes, not 4: {5}", "{4} … wait, {5}", "{5} or {6}", "{about 5}", "{}", ""),
    *("There are five stripes.", "{5 stripes}", '{"answer": 5}', "$\\boxed{5}$", "｛５｝"),
    *("<think>{4}</think>{5}", "<think>{5}", "e.g., {9}: {5}", "{5}, {5}", "{five (5)}"),
    *("{Yes}", "{No}", "{yes, they are equal}", "Yes.", "No, there is none.", "Yes and no."),
    *("{Yes} or {No}", "I think so, yes", "{no difference}", "Not exactly.", "Yes, but no"),
    *("{Greece}", "{flag of Greece}", "{Hellas}", "This is the flag of Greece.", "{Samoa}"),
    *("I'm sorry, but I can't help with that.", "I cannot tell from this picture."),
    *('{"score": 4}', '{"score": 4.5}', '{"score": 0}', '{"score": 101}', "Score: 4", "4/5"),
    *('```json\n{"score": 3}\n```', "score 3, then 4", '{"score": 2} {"score": 3}'),
    *('{"better": "first"}', '{"better": "second"}', '{"better": "tie"}', "The first is better."),
)
"""Replies of every kind, clear and awkward ones."""


class Behaviour(NamedTuple):
    """The judges' prompts of a benchmark, and what is made of a reply to each kind of question."""

    write_prompts: Callable[[], Iterable[str]]
    read: Callable[[str], Iterable[object]]


def _write_counting_prompts() -> Iterator[str]:
    texts = {
        question.text
        for domain in load_domains().values()
        for scene in domain.draw_module.list_scenes(0)
        for question in domain.ask_module.write_questions(scene)
    }
    for topic in load_photograph_topics().values():
        for photograph in topic.list_photographs(topic.BUILT_IN):
            originals = ("original",) if photograph.has_original else ()
            for variant in (*originals, "counterfactual"):
                texts |= {item.text for item in topic.write_questions(photograph, variant)}
    yield from sorted(texts)
    # An isolated picture comes with the baseline's words.
    for name, variant in VARIANTS.items():
        if variant.is_isolated:
            continue
        yield first_prompt({"prompting": name, "question": "How many?"})
        yield variant.follow_up or ""


def _read_counting_reply(reply: str) -> Iterator[object]:
    for truth, accepted in (("5", ()), ("No", ()), ("Greece", ("Greece", "Hellas"))):
        row = score_row({"response": reply, "ground_truth": truth, "accepted": accepted})
        yield [row["answer"], row["outcome"], row["score"], row["plain_answer"]]


def _read_yes_no_reply(reply: str) -> Iterator[object]:
    cells = parse_answer({"response": reply, "truth": "yes"})
    yield [cells["answer"], cells["correct"], cells.get("outcome")]


def _write_polarity_prompts() -> Iterator[str]:
    texts = {
        write_polarity_question(scene, polarity, is_control=is_control)
        for scene in load_domain("optical_illusions").draw_module.list_scenes(0)
        for polarity in get_args(Polarity)
        for is_control in (False, True)
    }
    yield from sorted(texts)


def _read_polarity_reply(reply: str) -> Iterator[object]:
    for polarity in get_args(Polarity):
        cells = read_reply({"response": reply, "polarity": polarity})
        yield [cells.get(name) for name in ("answer", "outcome", "judged_equal", "refusal")]


def _write_frame_prompts() -> Iterator[str]:
    for template in TEMPLATES:
        yield build_score_request(template, "Draw a kiwi.", "0" * 64).turns[0].text
    yield write_pairwise_prompt("Draw a kiwi.")


def _score(cells: Mapping[str, Any], *names: str) -> list[object]:
    return [cells["outcome"], *(cells.get(name) for name in names)]


def _write_rule_prompts() -> Iterator[str]:
    for game, goals in (("chess", ("checkmate", "pieces")), ("xiangqi", ("pieces",))):
        winners = dict.fromkeys(goals, "Black")
        yield from (question.question for question in write_questions(game, winners))


def _read_side_reply(reply: str) -> Iterator[object]:
    sides = reply.replace("Yes", "White").replace("No", "Black")
    row = {"game": "chess", "ground_truth": "White", "expected_bias": "Black", "response": sides}
    scored = score_side(row)
    yield from (scored[name] for name in ("answer", "outcome", "score", "usual"))


def _read_contrast_reply(reply: str) -> Iterator[object]:
    letters = reply.replace("Yes", "A").replace("No", "B. two")
    for response, options, labels in (
        (reply, [], ("Yes", "No")),
        (letters, ["1", "two"], ("A", "B")),
    ):
        row = {"response": response, "options": options}
        row |= dict(zip(("ground_truth", "expected_bias"), labels, strict=True))
        scored = score_contrast(row)
        yield from (scored[name] for name in ("answer", "outcome", "score", "usual"))


BEHAVIOURS: Mapping[str, Behaviour] = {
    "cdh_bench": Behaviour(
        lambda: [
            write_yes_no_prompt("Is it red?"),
            write_choice_prompt("How many?", {"A": "1", "B": "two"}),
        ],
        _read_contrast_reply,
    ),
    "vlmbias": Behaviour(_write_counting_prompts, _read_counting_reply),
    "vhexpansion": Behaviour(lambda: [write_yes_no_prompt("Is it red?")], _read_yes_no_reply),
    "frame": Behaviour(
        _write_frame_prompts,
        lambda reply: [
            _score(parse_reply(_answer(reply)), "score", "plain_score"),
            list(read_pick(reply)),
        ],
    ),
    "game_rules": Behaviour(_write_rule_prompts, _read_side_reply),
    "illusions": Behaviour(_write_polarity_prompts, _read_polarity_reply),
    "judge_sets": Behaviour(
        lambda: [
            write_response_pair_prompt("What is it?", ("A kiwi.", "A bird.")),
            write_picture_pair_prompt("Draw \N{OBJECT REPLACEMENT CHARACTER}.", ("A.", "B.")),
        ],
        lambda reply: list(read_pick(reply)),
    ),
    "mm_judge_bias": Behaviour(
        lambda: [write_response_score_prompt("What is it?", "A kiwi.")],
        lambda reply: list(read_response_score(reply)),
    ),
    "philautia": Behaviour(
        lambda: [
            write_caption_prompt(),
            write_score_prompt("A kiwi."),
            write_score_prompt("A kiwi.", ["A bird."]),
        ],
        lambda reply: [_score(parse_score(_answer(reply)), "score")],
    ),
    "protobias": Behaviour(
        lambda: [write_rating_prompt("A kiwi.")],
        lambda reply: [_score(parse_outcome(_answer(reply).outcome), "score", "raw")],
    ),
}


def _answer(reply: str) -> StepReply:
    return StepReply(AnsweredOutcome(text=reply), ())
