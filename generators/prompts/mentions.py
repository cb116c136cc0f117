"""Mentions of a knob's value in a sentence, and the sentence with the other value."""

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache

from generators.prompts.grammar import extra
from generators.prompts.phrasing import article, phrase, places
from generators.prompts.words import plural

VAGUE = (
    "no", "not", "without", "never", "or", "either", "neither", "least", "most", "more", "less",
    "fewer", "than", "nearly", "almost", "approximately", "roughly",
)  # fmt: skip
"""Words that make a value uncertain, so that the text states no truth."""

_REACH, _FAR = 4, 8
_VAGUE = frozenset(VAGUE)
_SOME = (" about", " around", " over", " under", " up to")
"""The same, right before a number."""
_BREAKS = frozenset(
    ("a", "an", "the", "and", "or", "of", "in", "on", "at", "by", "near", "beside", "behind",
     "under", "over", "with", "to", "from", "next", "is", "are")
)  # fmt: skip
_APART = _BREAKS - {"a", "an", "the", "of", "is", "are"}
"""What begins another part of a sentence."""
_JOINS = frozenset(["with", "and"])
"""What begins another thing than the one before."""
_AFTER_SIDES = _BREAKS.union(
    (",", "there", "side", "edge", "corner", "half", "part", "foreground", "background")
)
"""What may follow a side that is no bird's left foot."""
_GAZES = ("fac", "look", "gaz", "glanc", "turn", "head", "point")
_SURFACES = frozenset(["water", "surface", "leaves", "foliage", "needles", "petals"])
"""What a thing's colour is said of, as in "a pond with blue water" (Table 3)."""
_LINKS = frozenset(
    ("that", "which", "is", "are", "was", "were", "being", "painted", "colored", "coloured",
     "dark", "light", "bright", "pale", "deep")
)  # fmt: skip
_VIEWS = frozenset(["it", "itself", "scene", "image", "picture", "frame", "view"])
_ABOUT = frozenset(["exactly", "only", "just"])
_PLURAL: Mapping[str, str] = {"is": "are", "was": "were", "has": "have"}
_SINGULAR = {many: one for one, many in _PLURAL.items()}


class KnobMentions:
    """Finds where sentences mention the value of a knob, of its two, for one extra element."""

    def __init__(self, knob: str, values: tuple[str, str], element: str) -> None:
        self._knob, (self._shown, self._changed) = knob, values
        self._one, self._many = phrase(element), phrase(plural(element))
        self.shown_as = extra(knob, self._shown, element, "main thing")

    def shown_at(self, words: Sequence[str], main: Sequence[str]) -> list[int]:
        """Where the text says the value of the element; `main` are the words of the main entity."""
        return self._said_at(words, self._shown, self._changed, main)

    def changed_at(self, words: Sequence[str], main: Sequence[str]) -> list[int]:
        """Where a sentence says the value that the adversarial one has to have."""
        return self._said_at(words, self._changed, self._shown, main)

    def changes(self, words: Sequence[str], at: Sequence[int]) -> Iterator[list[str]]:
        """The ways to say the other value at these places instead; the plainest first."""
        changed = list(words)
        for place in at:
            changed[place] = self._changed
            if place and changed[place - 1] in ("a", "an") and self._knob != "count":
                changed[place - 1] = article(self._changed)
        if self._knob != "count" or "one" not in (self._shown, self._changed):
            yield changed
            return
        for place in reversed(at):
            start = self._follows(words, place, self._forms(self._shown))
            changed[start : start + len(self._one)] = self._forms(self._changed)[0]
        yield changed
        yield self._agreeing(changed, at)

    def _forms(self, value: str) -> tuple[tuple[str, ...], ...]:
        """How the element is called with a value."""
        if self._knob != "count":
            return (self._one, self._many)
        return (self._one,) if value == "one" else (self._many,)

    def _said_at(
        self, words: Sequence[str], value: str, other: str, main: Sequence[str]
    ) -> list[int]:
        compared = value in ("smaller", "larger")
        said = [
            at
            for at, word in enumerate(words)
            if word == value
            and not _VAGUE.intersection(
                [*words[max(0, at - 4) : at], *words[at + 1 + compared : at + 5]]
            )
        ]
        if compared:
            return [at for at in said if self._is_compared(words, at, main)]
        forms = self._forms(value)
        if self._knob == "spatial":
            return [at for at in said if self._is_about(words, at, other, main)]
        if self._knob == "layout_relation":
            return [at for at in said if self._relates(words, at, other, main)]
        before = [at for at in said if self._follows(words, at, forms) >= 0]
        if self._knob == "count":
            return [at for at in before if not f" {' '.join(words[:at])}".endswith(_SOME)]
        return before or [at for at in said if self._is_linked(words, at)]

    def _follows(self, words: Sequence[str], at: int, forms: Sequence[Sequence[str]]) -> int:
        """Where the element follows a value as its noun, with adjectives between; else -1."""
        for start in range(at + 1, min(at + 1 + _REACH, len(words))):
            for form in forms:
                if words[start] == form[0] and tuple(words[start : start + len(form)]) == form:
                    return start
            if words[start] in _BREAKS or (words[start] == "," and _is_many(words[start - 1])):
                break
        return -1

    def _is_linked(self, words: Sequence[str], at: int) -> bool:
        """Whether a value is said of the element before it, as in "a rock that is gray"."""
        end = at
        while end and words[end - 1] in _LINKS:
            end -= 1
        if end == at and words[at - 1] == "with" and _SURFACES.intersection(words[at + 1 : at + 2]):
            end -= 1
        return end < at and self._ends(words, end)

    def _is_compared(self, words: Sequence[str], at: int, main: Sequence[str]) -> bool:
        """Whether it is the element that is said to be smaller or larger than the main entity."""
        end = at
        while end and words[end - 1] in _LINKS:
            end -= 1
        whose = at + 1 + (words[at + 2 : at + 3] == ["the"])
        return (
            self._ends(words, end)
            and words[at + 1 : at + 2] == ["than"]
            and (
                words[whose + 1 : whose + 2] == ["it"]
                or self._follows(words, whose, (tuple(main),)) >= 0
            )
        )

    def _ends(self, words: Sequence[str], end: int) -> bool:
        """Whether the element is what ends there."""
        return any(tuple(words[end - len(form) : end]) == form for form in (self._one, self._many))

    def _is_about(self, words: Sequence[str], at: int, other: str, main: Sequence[str]) -> bool:
        """Whether a side or depth is said of the element, and of nothing else that is nearer."""
        for form in (self._one, self._many):
            for place in places(words, form):
                between = words[min(place, at) : max(place, at)]
                if len(between) > _FAR or other in between:
                    continue
                mains = places(between, tuple(main))
                if place < at:
                    # "A rock behind the bird in the background" is about the rock.
                    nearer = any(not _APART.intersection(between[m - 2 : m]) for m in mains)
                else:
                    nearer = bool(mains)
                apart = _JOINS if place < at else _APART
                if not (nearer or apart.intersection(between)):
                    return True
        return False

    def _relates(self, words: Sequence[str], at: int, other: str, main: Sequence[str]) -> bool:
        """Whether a side is of the element, or the element's side of the main entity."""
        start = at + 2 if words[at + 1 : at + 2] == ["side"] else at + 1
        follows = words[start] if start < len(words) else ","
        if follows == "of":
            whose = start + (words[start + 1 : start + 2] in (["a"], ["an"], ["the"]))
            if self._follows(words, whose, (self._one, self._many)) >= 0:
                return True
            of_view = _VIEWS.intersection(words[whose + 1 : whose + 2])
            if not (of_view or self._follows(words, whose, (tuple(main),)) >= 0):
                return False
        elif not (follows in _AFTER_SIDES or follows.endswith("s")) or any(
            word.startswith(_GAZES) for word in words[max(0, at - 3) : at]
        ):
            return False
        return self._is_about(words, at, other, main)

    def _agreeing(self, words: Sequence[str], at: Sequence[int]) -> list[str]:
        """The sentence with the verbs beside the element in its new number."""
        changed, form = list(words), self._forms(self._changed)[0]
        verbs = _SINGULAR if self._changed == "one" else _PLURAL
        for place in at:
            before = place - 2 if place and words[place - 1] in _ABOUT else place - 1
            if before >= 0:
                changed[before] = verbs.get(words[before], words[before])
            after = self._follows(words, place, (form,)) + len(form)
            if after < len(words) and words[after] in ("that", "which"):
                after += 1
            if after < len(words):
                changed[after] = verbs.get(words[after]) or _in_number(
                    words[after], single=self._changed == "one"
                )
        return changed


def _is_many(word: str) -> bool:
    """Whether it is a plural, as "trees" of "two trees, rocks", and no adjective."""
    return word.endswith("s") and not word.endswith(("ous", "less"))


def _in_number(verb: str, *, single: bool) -> str:
    if single:
        return plural(verb)
    stems = (verb[:-1], verb[:-2], f"{verb[:-3]}y")
    return next((stem for stem in stems if stem and plural(stem) == verb), verb)


@lru_cache(maxsize=65536)
def mentions_of(knob: str, values: tuple[str, str], element: str) -> KnobMentions:
    """The finder of such a knob's mentions, built once."""
    return KnobMentions(knob, values, element)
