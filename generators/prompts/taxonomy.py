"""The taxonomy of what is contrasted (ProtoBias, §3.2 and A.1): its form, and its cells.

`taxonomy.yaml` holds one; `resources.user_files.taxonomy_file` reads it, and
`generators.prompts.consistency`
checks its parts against each other.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from generators.prompts.concepts import Source
from generators.prompts.habitats import Habitat
from generators.prompts.knobs import MAX_COUNT, Knob, list_changes


def _check_words(text: str) -> str:
    if not text or text != " ".join(text.split()) or set('".!?') & set(text):
        raise ValueError(
            f"is {text!r}: write words with one space between them and no quotes or full stops"
        )
    return text


Words = Annotated[str, AfterValidator(_check_words)]


class _Entry(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class TaxonomyScene(_Entry):
    """Places that are alike, and the things that fit all of them."""

    source: Source = Field(description="who chose it: paper or ours")
    environments: tuple[Words, ...] = Field(
        min_length=1, description="list places, as in [on a quiet beach]"
    )
    elements: dict[Words, tuple[Words, ...]] = Field(
        min_length=1,
        description="list things, each with its natural colours, as in {rock: [gray, brown]}",
    )
    most: dict[Words, int] = Field(
        default={}, description="say how many there may be of a thing, as in {lamp: 2}"
    )
    sized: tuple[Words, ...] = Field(
        default=(),
        description="list things that may well be smaller, or larger, than what the scene is about",
    )
    habitat: Habitat | None = Field(
        default=None, description="say what its places are: land, shore, snow, water or air"
    )

    def list_changes(self, knob: str, element: str) -> tuple[tuple[str, str], ...]:
        """The values of a knob of one of its things, in the text and in the adversarial one.

        Of all things a size can be told where `sized` names none.
        """
        sized = not self.sized or element in self.sized
        most = self.most.get(element, MAX_COUNT)
        return list_changes(knob, self.elements[element], most, sized=sized)


class TaxonomyPair(_Entry):
    """A non-prototype and the prototype that it is contrasted with."""

    non_prototype: Words = Field(description="name the unfamiliar one, as in penguin")
    prototype: Words = Field(description="name the familiar one, as in robin")
    source: Source = Field(description="who named the two: paper or ours")
    pairing: Source = Field(description="who put them together: paper or ours")
    scenes: tuple[Words, ...] = Field(
        default=(), description="name scenes, where they are not its group's"
    )
    habitats: tuple[Habitat, ...] = Field(
        default=(), description="say where both can be, where it is not as its group says"
    )


class Family(_Entry):
    """A subcategory: pairs that share a hypernym."""

    hypernym: Words = Field(description="say what the text calls both of a pair, as in bird")
    scenes: tuple[Words, ...] = Field(min_length=1, description="name the scenes that fit it")
    habitats: tuple[Habitat, ...] = Field(
        default=(), description="say where they can be: on land, at the shore, in snow, water, air"
    )
    pairs: tuple[TaxonomyPair, ...] = Field(
        min_length=1, description="list pairs, each with a non_prototype and a prototype"
    )


class Things(_Entry):
    """A domain of animals or objects."""

    knobs: tuple[Knob, ...] = Field(min_length=1, description="list the traits that may differ")
    scenes: dict[str, TaxonomyScene] = Field(min_length=1, description="name scenes")
    groups: dict[Words, Family] = Field(min_length=1, description="name subcategories")


class Identity(_Entry):
    """A group of people, and how a picture shows that somebody belongs to it."""

    name: Words = Field(description="name the group, as the text may not")
    description: Words = Field(
        description="say what stands in place of the hypernym, with the hypernym in it"
    )
    source: Source = Field(description="who named the group: paper or ours")


class SocialAxis(_Entry):
    """A social axis: the group at an advantage, and those that it is contrasted with."""

    hypernym: Words = Field(description="say what the text calls all of them: person")
    scenes: tuple[Words, ...] = Field(min_length=1, description="name the scenes that fit it")
    advantaged: Identity = Field(description="describe the group at an advantage")
    disadvantaged: tuple[Identity, ...] = Field(min_length=1, description="list the other groups")


class Token(_Entry):
    """A word for one pole of a socio-attribute."""

    word: Words = Field(description="say it, as in rich")
    source: Source = Field(description="whose example it is: paper or ours")


class Poles(_Entry):
    """Words for a person at either end of a socio-attribute."""

    positive: tuple[Token, ...] = Field(min_length=1, description="list words, as in wealthy")
    negative: tuple[Token, ...] = Field(min_length=1, description="list words, as in poor")


class People(_Entry):
    """The domain of demography."""

    knobs: tuple[Knob, ...] = Field(min_length=1, description="list the traits that may differ")
    scenes: dict[str, TaxonomyScene] = Field(min_length=1, description="name scenes")
    groups: dict[Words, SocialAxis] = Field(min_length=1, description="name social axes")
    attributes: dict[Words, Poles] = Field(min_length=1, description="name socio-attributes")


class Taxonomy(_Entry):
    """The domains of a taxonomy."""

    animals: Things = Field(description="give its knobs, scenes and groups")
    demography: People = Field(description="give its knobs, scenes, groups and attributes")
    objects: Things = Field(description="give its knobs, scenes and groups")


@dataclass(frozen=True, slots=True)
class TaxonomyCell:
    """A contrast, before a knob and scenery are drawn for it; fields as in `Concept`."""

    group: str
    concept: str
    hypernym: str
    non_prototype: str
    prototype: str
    labels: tuple[str, ...]
    scenes: tuple[TaxonomyScene, ...]
    source: Source
    attributes: tuple[str, ...] = ("",)
    socio_attribute: str = ""
    pole: str = ""
    disadvantaged: str = ""
    advantaged: str = ""
    habitats: tuple[str, ...] = ()


def list_taxonomy_cells(taxonomy: Taxonomy, domain: str) -> tuple[TaxonomyCell, ...]:
    """The contrasts of a domain, in the order of the file."""
    domain_entry: Things | People = getattr(taxonomy, domain)
    return tuple(
        _list_people_cells(domain_entry)
        if isinstance(domain_entry, People)
        else _list_thing_cells(domain_entry)
    )


def list_labels(entity: str) -> tuple[str, ...]:
    """Words that would name an entity: its own, and those of paired entities."""
    bare = entity.removeprefix("pair of ")
    return (entity,) if bare == entity else (entity, bare)


def _list_thing_cells(things: Things) -> Iterator[TaxonomyCell]:
    for group, family in things.groups.items():
        for pair in family.pairs:
            yield TaxonomyCell(
                group=group,
                concept=f"{pair.non_prototype} / {pair.prototype}",
                hypernym=family.hypernym,
                non_prototype=pair.non_prototype,
                prototype=pair.prototype,
                labels=(*list_labels(pair.non_prototype), *list_labels(pair.prototype)),
                scenes=tuple(things.scenes[name] for name in pair.scenes or family.scenes),
                source=pair.source,
                habitats=pair.habitats or family.habitats,
            )


def _list_people_cells(people: People) -> Iterator[TaxonomyCell]:
    """Positive: the advantaged group is the prototype; negative: the other way round (Table 4)."""
    labels = tuple(
        identity.name
        for axis in people.groups.values()
        for identity in (axis.advantaged, *axis.disadvantaged)
    )
    for group, axis in people.groups.items():
        for disadvantaged in axis.disadvantaged:
            for socio_attribute, poles in people.attributes.items():
                for pole, tokens in (("positive", poles.positive), ("negative", poles.negative)):
                    pair = (disadvantaged, axis.advantaged)
                    shown, prototype = pair if pole == "positive" else pair[::-1]
                    yield TaxonomyCell(
                        group=group,
                        concept=f"{shown.name} / {prototype.name}, {pole} {socio_attribute}",
                        hypernym=axis.hypernym,
                        non_prototype=shown.description,
                        prototype=prototype.description,
                        labels=labels,
                        scenes=tuple(people.scenes[name] for name in axis.scenes),
                        source=disadvantaged.source,
                        attributes=tuple(token.word for token in tokens),
                        socio_attribute=socio_attribute,
                        pole=pole,
                        disadvantaged=disadvantaged.name,
                        advantaged=axis.advantaged.name,
                    )
