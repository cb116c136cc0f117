"""Exhibits of a gallery, and the failures that judges' own pages show of them."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar

from assets.report.exhibits import Exhibit, Gallery, list_failures, list_thumbnails
from assets.report.publish import Thumbnail
from assets.report.subjects import ReportSubject
from metrics.statistics.firmness import Evidence

BEFORE, AFTER = Thumbnail("before", 320), Thumbnail("after", 320)
SHOWN = Exhibit(AFTER, "Dogs", [("Dogs:", "bright")], original=BEFORE)
FAILED = Exhibit(
    AFTER, "a dog", [("How good?", "5")], question="How good?", answer="5", truth="bad"
)


@dataclass(frozen=True)
class Zoo(ReportSubject):
    kind: ClassVar[str] = "dataset"
    gallery_kind: ClassVar[str] = "pairs"
    name: str = "zoo"
    dates: Mapping[str, str] = field(default_factory=dict)
    is_stand_in: bool = False

    @property
    def judge_evidence(self):
        return {"eye": Evidence(requests=40, answers=40)}


GALLERY = Gallery({"blind": [SHOWN], "eye": [FAILED, FAILED._replace(original=BEFORE)]})


def test_an_exhibit_with_a_question_is_a_failure_that_leads_to_its_judge():
    plain, changed = list_failures(Zoo(), GALLERY)
    assert (plain.model, plain.firmness, plain.link) == ("eye", "result", "pairs-zoo.html#judge-2")
    assert (plain.alt, plain.comparison) == ("a dog", "")
    assert (changed.alt, changed.comparison) == ("Changed: a dog", BEFORE.file)


def test_a_judge_without_evidence_was_not_run():
    gallery = Gallery({"ear": [FAILED]})
    (unknown,) = list_failures(Zoo(), gallery)
    (stand_in,) = list_failures(Zoo(is_stand_in=True), gallery)
    assert (unknown.firmness, stand_in.firmness) == ("not run", "stand-in")


def test_originals_come_before_what_was_made_of_them():
    assert [*list_thumbnails(Gallery({"eye": [FAILED]}, {"Bright": [SHOWN]}))] == [
        BEFORE,
        AFTER,
        AFTER,
    ]
