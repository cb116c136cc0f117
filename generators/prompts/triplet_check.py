"""Checks of a prompt triplet by ProtoBias's rules, whoever wrote it (§3.2, Tables 3 to 5)."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache

from generators.prompts.concepts import Concept, Triplet, TripletFault, TripletFaults
from generators.prompts.habitats import find_habitats
from generators.prompts.mentions import KnobMentions, load_mentions
from generators.prompts.phrasing import (
    find_labels,
    find_phrase,
    is_one_sentence,
    join_tokens,
    replace_phrase,
    tokenize,
    tokenize_phrase,
)
from generators.prompts.triplet_grammar import MAX_WORDS
from generators.prompts.vocabulary import add_article

RULES: Mapping[str, str] = {
    "words": f"Each sentence has at most {MAX_WORDS} words",
    "sentence": "Each is one sentence, which ends with a full stop",
    "opening": "A demography text begins with “A {attribute} person”",
    "label": "The text names neither entity, nor any group",
    "hypernym": "The text names the hypernym",
    "habitat": "The text puts the animals where both can be",
    "knob": "The text tells the knob's value of the extra element",
    "correct": "The correct sentence is the text, with the non-prototype for the hypernym",
    "change": "The adversarial sentence tells the knob's other value",
    "adversarial": "It differs from the text in that and in the prototype alone",
}
"""The rules for triplets, by name."""


def find_faults(concept: Concept, triplet: Triplet) -> TripletFaults:
    """Find all faults of a triplet; none where it keeps all rules.

    A sentence may say in any words where things are: what has to be in it is the hypernym, or what
    stands in its place, and the extra element with the knob's value. Neither capitals nor "2" for
    "two", "a single" for "one" or "grey" for "gray" make a difference; a verb goes with the count
    ("two rocks lie" for "one rock lies"). A second "person" may stay where a description, which has
    that word in it, stands for the first.
    """
    return tuple(_iterate_faults(concept, triplet))


def _iterate_faults(concept: Concept, triplet: Triplet) -> Iterator[TripletFault]:
    for name, sentence in zip(Triplet._fields, triplet, strict=True):
        if sentence.count(" ") >= MAX_WORDS and len(sentence.split()) > MAX_WORDS:
            yield TripletFault(
                rule="words", problem=f"{name} has more than {MAX_WORDS} words: shorten it."
            )
        if not is_one_sentence(sentence):
            yield TripletFault(
                rule="sentence",
                problem=f"{name} has to be one sentence that ends with a full stop.",
            )
    text, hypernym = tokenize(triplet.text), tokenize_phrase(concept.hypernym)
    text_habitats = find_habitats(triplet.text) if concept.habitats else []
    if text_habitats and not any(
        habitats.intersection(concept.habitats) for habitats in text_habitats
    ):
        yield TripletFault(
            rule="habitat",
            problem=f"text has to say a place where {concept.non_prototype} and "
            f"{concept.prototype} can both be ({', '.join(concept.habitats)}), "
            f"as in “{concept.environment_hint}”.",
        )
    for label in find_labels(triplet.text, concept.labels):
        yield TripletFault(
            rule="label", problem=f"text may not say “{label}”: say “{concept.hypernym}” alone."
        )
    opening = _build_opening(concept.attribute, concept.hypernym) if concept.attribute else ()
    if tuple(text[: len(opening)]) != opening:
        yield TripletFault(
            rule="opening", problem=f"text has to begin with “{join_tokens(opening)[:-1]}”."
        )
    main = find_phrase(text, hypernym)
    if not main:
        yield TripletFault(
            rule="hypernym", problem=f"text has to call the main thing “{concept.hypernym}”."
        )
        return
    if not _is_among(
        triplet.correct, _write_with_entity(text, main, concept, concept.non_prototype)
    ):
        expected_words = next(_write_with_entity(text, main, concept, concept.non_prototype))
        yield TripletFault(
            rule="correct", problem=f"correct has to read “{join_tokens(expected_words)}”"
        )
    knob = load_mentions(concept.knob, concept.values, concept.extra_element)
    shown, expected = knob.find_shown(text, hypernym), knob.shown_phrase
    if not shown or knob.find_changed(text, hypernym):
        yield TripletFault(
            rule="knob", problem=f"text has to tell the knob once, for certain: “{expected}”."
        )
    elif not _is_among(triplet.adversarial, _write_adversarial(text, main, concept, knob, shown)):
        has_other_value = knob.find_changed(
            tokenize(triplet.adversarial), tokenize_phrase(concept.prototype)
        )
        expected_words = next(_write_adversarial(text, main, concept, knob, shown))
        yield TripletFault(
            rule="adversarial" if has_other_value else "change",
            problem=f"adversarial has to read “{join_tokens(expected_words)}”",
        )


@lru_cache(maxsize=1024)
def _build_opening(attribute: str, hypernym: str) -> tuple[str, ...]:
    return tokenize_phrase(add_article(f"{attribute} {hypernym}"))


def _write_with_entity(
    words: Sequence[str], main: Sequence[int], concept: Concept, entity: str
) -> Iterator[list[str]]:
    """The sentence with an entity for the hypernym: each time, or where it may, the first."""
    hypernym = tokenize_phrase(concept.hypernym)
    yield replace_phrase(words, main, len(hypernym), entity)
    if len(main) > 1 and find_phrase(tokenize_phrase(entity), hypernym):
        yield replace_phrase(words, main[:1], len(hypernym), entity)


def _write_adversarial(
    words: Sequence[str],
    main: Sequence[int],
    concept: Concept,
    knob: KnobMentions,
    indices: Sequence[int],
) -> Iterator[list[str]]:
    """The possible adversarial sentences: the knob changed, and the prototype in place."""
    for changed in knob.write_changes(words, indices):
        yield from _write_with_entity(changed, main, concept, concept.prototype)


def _is_among(sentence: str, candidates: Iterable[Sequence[str]]) -> bool:
    plain, spelled_sentence = sentence.lower(), ""
    for candidate in candidates:
        if join_tokens(candidate).lower() == plain:
            return True
        spelled_sentence = spelled_sentence or " ".join(tokenize(sentence))
        if " ".join(candidate).lower() == spelled_sentence:
            return True
    return False
