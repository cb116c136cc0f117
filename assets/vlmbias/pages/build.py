"""Writing the site of tables and images."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from itertools import chain
from pathlib import Path
from types import MappingProxyType

import pandas as pd

from assets.report.beside import alone
from assets.report.costs import costs
from assets.report.outcomes import served
from assets.report.publish import place
from assets.report.rendering import STATIC
from assets.report.thumbnails import Thumbnail
from assets.vlmbias.pages.edited import edited
from assets.vlmbias.pages.figures import PARTIAL, Accuracy
from assets.vlmbias.pages.gather import gather
from assets.vlmbias.pages.outcomes import Endings
from assets.vlmbias.pages.scenes import Shown
from assets.vlmbias.pages.site import Site, pages, topic_titles
from assets.vlmbias.pages.unproved import accuracy_apart, accuracy_by_painter, published
from generators.domains import Box
from resources.calls.spending import Spent


def build(
    folder: Path,
    *,
    images: pd.DataFrame,
    measurements: pd.DataFrame,
    questions: pd.DataFrame,
    answers: pd.DataFrame,
    accuracy: pd.DataFrame,
    png_of: Callable[[str], bytes],
    title: str,
    facts: Mapping[str, str],
    references: Collection[str],
    complete: int,
    partial: Mapping[str, Sequence[str]] = MappingProxyType({}),
    edited_tables: Collection[pd.DataFrame] = (),
    spent: Sequence[Spent] = (),
    originals: bool = False,
    outlines: Mapping[str, Sequence[Box]] = MappingProxyType({}),
) -> Path:
    """Write the site into `folder` and return the path of its `index.html`.

    The tables have the columns of the assets of the same names, `images` those of photographs
    (empty where a picture is drawn), and `measurements` one more: `agrees`, whether the reading
    confirms the label (False where there is none), as whoever checks the labels decides.
    `png_of` gives the PNG of a sha256; `facts` are the lines of the footer; `references` names
    the judges that are no models but bracket them; `complete` is how many images the benchmark
    has when all are made; `partial` says in words, by judge, what was asked in part, whose
    answers are of the image set of that name; `edited_tables` are those of the writers that
    edited drawings, and `spent` is what was paid for all of it. Photographs are shown smaller
    than they are; with `originals` they lie in the site as they are as well, and pages lead to
    them. `outlines` are, by base image, what was changed. What `folder` held before is replaced
    when the new site is whole, and not before; images that it already has are taken over unread
    by `png_of`, if their bytes still have the hash that they are named by.
    """
    scenes, judges = gather(images, measurements, questions, answers, references)
    for scene in scenes:
        scene.outline = outlines.get(scene.base_id, ())
    titles = topic_titles(scenes)
    partly = accuracy[accuracy["image_set"].eq(PARTIAL)]
    shown = Accuracy.of(published(accuracy), list(titles), references, partly)
    named = [(name, titles[name]) for name in shown.topics]
    site = Site(
        title=title,
        facts=facts,
        titles=titles,
        scenes=scenes,
        judges=judges,
        accuracy=shown,
        in_part=Accuracy.of(partly, list(titles), references),
        partial=partial,
        apart=accuracy_apart(answers, list(titles), references),
        by_painter=accuracy_by_painter(answers, list(titles), references),
        endings=Endings.of(published(answers), named, references),
        served=served(
            answers[~answers["model"].isin(references)].rename(columns={"model": "name"})
        ),
        complete=complete,
        edited=edited(edited_tables, scenes),
        costs=costs(spent),
        originals=originals,
    )
    return place(
        folder,
        pictures=_pictures(site),
        thumbnails=_thumbnails(site),
        png_of=png_of,
        static=STATIC,
        pages=chain(pages(site), alone(title)),
    )


def _pictures(site: Site) -> Iterable[str]:
    """The sha256 of every picture that lies in the site as it is, each once."""
    whole = (scene for scene in site.scenes if site.originals or not scene.painted)
    pictures = (picture.sha256 for scene in whole for picture in scene.pictures)
    shown = (each.sha256 for each in _shown(site) if not each.painted)
    return dict.fromkeys(chain(pictures, shown, site.edited.hashes if site.edited else ()))


def _thumbnails(site: Site) -> Iterable[Thumbnail]:
    """Every picture that is shown smaller, each once."""
    shown = (each.thumbnail for each in _shown(site) if each.thumbnail)
    return dict.fromkeys(chain((each for s in site.scenes for each in s.thumbnails), shown))


def _shown(site: Site) -> Iterable[Shown]:
    return (each for scene in site.scenes for many in scene.shown.values() for each in many)
