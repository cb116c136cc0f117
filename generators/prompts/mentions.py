"""Mentions of a knob's value in a sentence, and the sentence with the other value."""

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache

from generators.prompts.phrasing import find_article, find_phrase, tokenize_phrase
from generators.prompts.triplet_grammar import describe_extra
from generators.prompts.vocabulary import to_plural

VAGUE = (
    "no", "not", "without", "never", "or", "either", "neither", "least", "most", "more", "less",
    "fewer", "than", "nearly", "almost", "approximately", "roughly",
)  # fmt: skip
"""Words that make a value uncertain, so that the text states no truth."""

_NOUN_REACH, _MAX_DISTANCE = 4, 8
_VAGUE = frozenset(VAGUE)
_VAGUE_BEFORE_NUMBER = (" about", " around", " over", " under", " up to")
"""The same, right before a number."""
_BREAKS = frozenset(
    ("a", "an", "the", "and", "or", "of", "in", "on", "at", "by", "near", "beside", "behind",
     "under", "over", "with", "to", "from", "next", "is", "are")
)  # fmt: skip
_APART = _BREAKS - {"a", "an", "the", "of", "is", "are"}
"""Words that begin another part of a sentence."""
_JOINS = frozenset(["with", "and"])
"""Words that begin another thing than the one before."""
_AFTER_SIDES = _BREAKS.union(
    (",", "there", "side", "edge", "corner", "half", "part", "foreground", "background")
)
"""Words that may follow a side that is no bird's left foot."""
_GAZES = ("fac", "look", "gaz", "glanc", "turn", "head", "point")
_SURFACES = frozenset(["water", "surface", "leaves", "foliage", "needles", "petals"])
"""Parts whose colour stands for the thing's, as in "a pond with blue water" (Table 3)."""
_LINKS = frozenset(
    ("that", "which", "is", "are", "was", "were", "being", "painted", "colored", "coloured",
     "dark", "light", "bright", "pale", "deep")
)  # fmt: skip
_VIEWS = frozenset(["it", "itself", "scene", "image", "picture", "frame", "view"])
_ABOUT = frozenset(["exactly", "only", "just"])
_PLURAL: Mapping[str, str] = {"is": "are", "was": "were", "has": "have"}
_SINGULAR = {plural: singular for singular, plural in _PLURAL.items()}


class KnobMentions:
    """Finds the mentions of a knob's two values for one extra element in sentences."""

    def __init__(self, knob: str, values: tuple[str, str], element: str) -> None:
        self._knob, (self._shown, self._changed) = knob, values
        self._single_form, self._plural_form = (
            tokenize_phrase(element),
            tokenize_phrase(to_plural(element)),
        )
        self.shown_phrase = describe_extra(knob, self._shown, element, "main thing")

    def find_shown(self, words: Sequence[str], main: Sequence[str]) -> list[int]:
        """Find where the text states the value; `main` are the words of the main entity."""
        return self._find_value(words, self._shown, self._changed, main)

    def find_changed(self, words: Sequence[str], main: Sequence[str]) -> list[int]:
        """Find where a sentence states the value that the adversarial one has to have."""
        return self._find_value(words, self._changed, self._shown, main)

    def write_changes(self, words: Sequence[str], indices: Sequence[int]) -> Iterator[list[str]]:
        """The ways to say the other value at these places instead; the plainest first."""
        changed = list(words)
        for index in indices:
            changed[index] = self._changed
            if index and changed[index - 1] in ("a", "an") and self._knob != "count":
                changed[index - 1] = find_article(self._changed)
        if self._knob != "count" or "one" not in (self._shown, self._changed):
            yield changed
            return
        for index in reversed(indices):
            start = self._find_noun(words, index, self._list_forms(self._shown))
            changed[start : start + len(self._single_form)] = self._list_forms(self._changed)[0]
        yield changed
        yield self._agree_verbs(changed, indices)

    def _list_forms(self, value: str) -> tuple[tuple[str, ...], ...]:
        """The element's names with a value."""
        if self._knob != "count":
            return (self._single_form, self._plural_form)
        return (self._single_form,) if value == "one" else (self._plural_form,)

    def _find_value(
        self, words: Sequence[str], value: str, other_value: str, main: Sequence[str]
    ) -> list[int]:
        is_comparison = value in ("smaller", "larger")
        indices = [
            index
            for index, word in enumerate(words)
            if word == value
            and not _VAGUE.intersection(
                [*words[max(0, index - 4) : index], *words[index + 1 + is_comparison : index + 5]]
            )
        ]
        if is_comparison:
            return [index for index in indices if self._is_compared(words, index, main)]
        forms = self._list_forms(value)
        if self._knob == "spatial":
            return [index for index in indices if self._is_about(words, index, other_value, main)]
        if self._knob == "layout_relation":
            return [index for index in indices if self._is_related(words, index, other_value, main)]
        preceding = [index for index in indices if self._find_noun(words, index, forms) >= 0]
        if self._knob == "count":
            return [
                index
                for index in preceding
                if not f" {' '.join(words[:index])}".endswith(_VAGUE_BEFORE_NUMBER)
            ]
        return preceding or [index for index in indices if self._is_linked(words, index)]

    def _find_noun(self, words: Sequence[str], index: int, forms: Sequence[Sequence[str]]) -> int:
        """Find where the element follows a value as its noun, with adjectives between; else -1."""
        for start in range(index + 1, min(index + 1 + _NOUN_REACH, len(words))):
            for form in forms:
                if words[start] == form[0] and tuple(words[start : start + len(form)]) == form:
                    return start
            if words[start] in _BREAKS or (words[start] == "," and _is_plural(words[start - 1])):
                break
        return -1

    def _is_linked(self, words: Sequence[str], index: int) -> bool:
        """True if a value is said of the element before it, as in "a rock that is gray"."""
        end = index
        while end and words[end - 1] in _LINKS:
            end -= 1
        if (
            end == index
            and words[index - 1] == "with"
            and _SURFACES.intersection(words[index + 1 : index + 2])
        ):
            end -= 1
        return end < index and self._is_element_end(words, end)

    def _is_compared(self, words: Sequence[str], index: int, main: Sequence[str]) -> bool:
        """True if the element is said to be smaller or larger than the main entity."""
        end = index
        while end and words[end - 1] in _LINKS:
            end -= 1
        main_index = index + 1 + (words[index + 2 : index + 3] == ["the"])
        return (
            self._is_element_end(words, end)
            and words[index + 1 : index + 2] == ["than"]
            and (
                words[main_index + 1 : main_index + 2] == ["it"]
                or self._find_noun(words, main_index, (tuple(main),)) >= 0
            )
        )

    def _is_element_end(self, words: Sequence[str], end: int) -> bool:
        """True if the element's words end there."""
        return any(
            tuple(words[end - len(form) : end]) == form
            for form in (self._single_form, self._plural_form)
        )

    def _is_about(
        self, words: Sequence[str], index: int, other_value: str, main: Sequence[str]
    ) -> bool:
        """True if a side or depth is said of the element, and of nothing else that is nearer."""
        for form in (self._single_form, self._plural_form):
            for form_index in find_phrase(words, form):
                between = words[min(form_index, index) : max(form_index, index)]
                if len(between) > _MAX_DISTANCE or other_value in between:
                    continue
                main_indices = find_phrase(between, tuple(main))
                if form_index < index:
                    # "A rock behind the bird in the background" is about the rock.
                    is_main_nearer = any(
                        not _APART.intersection(between[main_index - 2 : main_index])
                        for main_index in main_indices
                    )
                else:
                    is_main_nearer = bool(main_indices)
                separators = _JOINS if form_index < index else _APART
                if not (is_main_nearer or separators.intersection(between)):
                    return True
        return False

    def _is_related(
        self, words: Sequence[str], index: int, other_value: str, main: Sequence[str]
    ) -> bool:
        """True if a side is of the element, or the element's side of the main entity."""
        start = index + 2 if words[index + 1 : index + 2] == ["side"] else index + 1
        next_word = words[start] if start < len(words) else ","
        if next_word == "of":
            owner_index = start + (words[start + 1 : start + 2] in (["a"], ["an"], ["the"]))
            if self._find_noun(words, owner_index, (self._single_form, self._plural_form)) >= 0:
                return True
            is_view = _VIEWS.intersection(words[owner_index + 1 : owner_index + 2])
            if not (is_view or self._find_noun(words, owner_index, (tuple(main),)) >= 0):
                return False
        elif not (next_word in _AFTER_SIDES or next_word.endswith("s")) or any(
            word.startswith(_GAZES) for word in words[max(0, index - 3) : index]
        ):
            return False
        return self._is_about(words, index, other_value, main)

    def _agree_verbs(self, words: Sequence[str], indices: Sequence[int]) -> list[str]:
        """The sentence with the verbs beside the element in its new number."""
        changed, form = list(words), self._list_forms(self._changed)[0]
        verbs = _SINGULAR if self._changed == "one" else _PLURAL
        for index in indices:
            before = index - 2 if index and words[index - 1] in _ABOUT else index - 1
            if before >= 0:
                changed[before] = verbs.get(words[before], words[before])
            after = self._find_noun(words, index, (form,)) + len(form)
            if after < len(words) and words[after] in ("that", "which"):
                after += 1
            if after < len(words):
                changed[after] = verbs.get(words[after]) or _inflect_verb(
                    words[after], single=self._changed == "one"
                )
        return changed


def _is_plural(word: str) -> bool:
    """True if a word is a plural, as "trees" of "two trees, rocks", and no adjective."""
    return word.endswith("s") and not word.endswith(("ous", "less"))


def _inflect_verb(verb: str, *, single: bool) -> str:
    if single:
        return to_plural(verb)
    stems = (verb[:-1], verb[:-2], f"{verb[:-3]}y")
    return next((stem for stem in stems if stem and to_plural(stem) == verb), verb)


@lru_cache(maxsize=65536)
def load_mentions(knob: str, values: tuple[str, str], element: str) -> KnobMentions:
    """The finder of such a knob's mentions, built once."""
    return KnobMentions(knob, values, element)
