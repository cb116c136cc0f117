"""Whether a triplet keeps ProtoBias's rules, whoever wrote it (§3.2, Tables 3 to 5)."""

from collections.abc import Iterator, Mapping, Sequence

from generators.prompts.concepts import Concept, Fault, Faults, Triplet
from generators.prompts.grammar import LONGEST
from generators.prompts.phrasing import (
    article,
    in_words,
    is_one_sentence,
    named,
    phrase,
    places,
    replaced,
    tokens,
)
from generators.prompts.telling import Told, told

RULES: Mapping[str, str] = {
    "words": f"Each sentence has at most {LONGEST} words",
    "sentence": "Each is one sentence, which ends with a full stop",
    "opening": "A demography text begins with “A {attribute} person”",
    "label": "The text names neither entity, nor any group",
    "hypernym": "The text names the hypernym",
    "knob": "The text tells the knob's value of the extra element",
    "correct": "The correct sentence is the text, with the non-prototype for the hypernym",
    "change": "The adversarial sentence tells the knob's other value",
    "adversarial": "It differs from the text in that and in the prototype alone",
}
"""What a triplet is checked for, by name."""


def faults(concept: Concept, triplet: Triplet) -> Faults:
    """Everything that is wrong with a triplet; nothing where it keeps all rules.

    A sentence may say in any words where things are: what has to be in it is the hypernym, or what
    stands in its place, and the extra element with the knob's value. Neither capitals nor "2" for
    "two", "a single" for "one" or "grey" for "gray" make a difference; a verb goes with the count
    ("two rocks lie" for "one rock lies"). A second "person" may stay where a description, which has
    that word in it, stands for the first.
    """
    return tuple(_faults(concept, triplet))


def _faults(concept: Concept, triplet: Triplet) -> Iterator[Fault]:
    for name, sentence in zip(Triplet._fields, triplet, strict=True):
        if sentence.count(" ") >= LONGEST and len(sentence.split()) > LONGEST:
            yield Fault("words", f"{name} has more than {LONGEST} words: shorten it.")
        if not is_one_sentence(sentence):
            yield Fault("sentence", f"{name} has to be one sentence that ends with a full stop.")
    text, hypernym = tokens(triplet.text), phrase(concept.hypernym)
    for label in named(triplet.text, concept.labels):
        yield Fault("label", f"text may not say “{label}”: say “{concept.hypernym}” alone.")
    if concept.attribute:
        opening = f"{article(concept.attribute)} {concept.attribute} {concept.hypernym}"
        if tuple(text[: len(phrase(opening))]) != phrase(opening):
            yield Fault("opening", f"text has to begin with “{opening.capitalize()}”.")
    main = places(text, hypernym)
    if not main:
        yield Fault("hypernym", f"text has to call the main thing “{concept.hypernym}”.")
        return
    if not _is_one_of(
        triplet.correct, correct := list(_instead(text, main, concept, concept.non_prototype))
    ):
        yield Fault("correct", f"correct has to read “{in_words(correct[0])}”")
    knob = told(concept.knob, concept.values, concept.extra_element)
    shown = knob.shown_at(text, hypernym)
    if not shown:
        yield Fault("knob", f"text has to tell the knob as in “{knob.shown_as}”.")
        return
    yield from _adversarial(concept, triplet, text, knob, shown)


def _adversarial(
    concept: Concept, triplet: Triplet, text: Sequence[str], knob: Told, shown: Sequence[int]
) -> Iterator[Fault]:
    hypernym = phrase(concept.hypernym)
    wanted = [
        sentence
        for changed in knob.changes(text, shown)
        for sentence in _instead(changed, places(changed, hypernym), concept, concept.prototype)
    ]
    if _is_one_of(triplet.adversarial, wanted):
        return
    said = knob.changed_at(tokens(triplet.adversarial), phrase(concept.prototype))
    rule = "adversarial" if said else "change"
    yield Fault(rule, f"adversarial has to read “{in_words(wanted[0])}”")


def _instead(
    words: Sequence[str], main: Sequence[int], concept: Concept, entity: str
) -> Iterator[list[str]]:
    """The sentence with an entity for the hypernym: each time, or where it may, the first."""
    length = len(phrase(concept.hypernym))
    yield replaced(words, main, length, entity)
    if len(main) > 1 and places(phrase(entity), phrase(concept.hypernym)):
        yield replaced(words, main[:1], length, entity)


def _is_one_of(sentence: str, wanted: Sequence[Sequence[str]]) -> bool:
    said = " ".join(tokens(sentence))
    return any(said == " ".join(each).lower() for each in wanted)
