"""Flaws of painted pictures: of the wrong size, blank, or the same as another."""

from assets.kit.flaws import mark_flaws
from generators.picture_inspection import Inspection


def picture(place, prompt="p", sample=0, size=(64, 64), **more):
    row = {"pair_id": f"c/{place}", "side": "correct", "prompt": prompt, "sample": sample}
    row |= {"sha256": f"sha {place}", "width": size[0], "height": size[1], "seed": sample}
    return {**row, "outcome": "painted", "is_stand_in": False, "flaw": None, "reason": None, **more}


class TestFlaws:
    def flaws(self, *rows, parameters=(), blank=None):
        found = {
            row["sha256"]: Inspection(
                row["width"], row["height"], blank, pixels=row.get("pixels", row["sha256"])
            )
            for row in rows
        }
        rows = mark_flaws(rows, found, dict(parameters), lambda row: row["pair_id"])
        return [row["flaw"] for row in rows]

    def test_without_a_size_asked_for_the_usual_one_is_right(self):
        rows = [picture(0), picture(1), picture(2, size=(64, 48))]
        assert self.flaws(*rows) == [None, None, "wrong size"]
        asked = {"image_config": {"image_size": "1K"}}
        assert self.flaws(picture(0, size=(1024, 1024)), *rows[:2], parameters=asked) == [
            None,
            "wrong size",
            "wrong size",
        ]
        assert self.flaws(*rows, parameters={"width": 64, "height": 48})[2] is None

    def test_the_same_request_may_have_the_same_picture_twice(self):
        same = [picture(place, sha256="sha") for place in range(2)]
        assert self.flaws(*same) == [None, None]

    def test_schematics_of_different_prompts_may_be_the_same_but_not_of_different_seeds(self):
        same = [picture(0, "p", sha256="s"), picture(1, "q", sha256="s")]
        assert self.flaws(*same) == ["repeated"] * 2
        stand_ins = [{**row, "is_stand_in": True} for row in same]
        assert self.flaws(*stand_ins) == [None, None]
        assert (
            self.flaws(*stand_ins, picture(2, "p", 1, sha256="s", is_stand_in=True))[2]
            == "repeated"
        )

    def test_each_prompt_has_a_first_picture_of_its_own(self):
        rows = [picture(place, "pq"[place], 1 - place, sha256="s") for place in range(2)]
        assert self.flaws(*[row | {"is_stand_in": True} for row in rows]) == [None, None]

    def test_the_same_pixels_in_two_encodings_are_a_repetition(self):
        rows = [picture(place, "pq"[place], pixels="the same") for place in range(2)]
        assert self.flaws(*rows) == ["repeated"] * 2

    def test_what_is_not_painted_has_no_flaw(self):
        row = picture(0) | {"outcome": "failed", "sha256": None}
        assert self.flaws(row, picture(1), blank="black") == [None, "blank"]
