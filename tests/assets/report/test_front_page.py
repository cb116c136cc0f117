"""The front page: what stands in which cell, and what each judge's page gathers."""

import csv
import html
import io
import re
from pathlib import Path

import pytest

from assets.report.cells import Fill
from assets.report.front_tables import MeasureColumn, overview, stand_ins
from assets.report.profiles import Profile, file_name, profiles
from assets.report.roster import Gap, Listed, Roster
from assets.report.standings import JudgeResults, Measure
from assets.report.start_page import write_start_page
from assets.report.strips import Strip, strips
from tests.assets.report.fronts import ACCURACY, INFLATION, ODD, failure, front, site, standing

ZOO = MeasureColumn("zoo", "Zoo", ACCURACY)


def profiles_of(*standings: object, **roster: object) -> list[Profile]:
    return profiles({"zoo": JudgeResults([ACCURACY], list(standings))}, Roster(**roster))


def page(folder: Path, name: str = "index.html") -> str:
    return (folder / name).read_text(encoding="utf-8")


def text_of(part: str) -> str:
    return " ".join(html.unescape(re.sub(r"<[^>]*>", " ", part)).split())


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_start_page(front(tmp_path_factory.mktemp("front") / "report")).page.parent


class TestOverview:
    def test_a_line_a_judge_and_who_has_most_results_first(self, folder: Path) -> None:
        rows = list(csv.reader(io.StringIO(page(folder, "tables/judges-and-metrics.csv"))))
        assert [row[1] for row in rows[1:]] == ["eye", ODD, "new", "ear", "gone", "clip"]
        assert [row[0] for row in rows[1:]] == ["Judges"] * 5 + ["Metrics"]

    def test_a_result_is_shown_before_a_trial_of_the_same(self) -> None:
        held = [standing("eye", 0.9, "trial", of="a"), standing("eye", 0.4, of="b")]
        (line,) = overview([ZOO], profiles_of(*held)).lines
        (cell,) = line.cells
        assert (cell.text, cell.mark, cell.numbers[""]) == ("40.0\u00a0%", "", 0.4)
        assert cell.hover == "240 pictures; b; 2026-11-20; 1 more on its page"

    def test_a_number_is_shown_before_a_source_that_has_none(self) -> None:
        standings = [standing("eye", None, of="few"), standing("eye", 0.4, of="many")]
        (line,) = overview([ZOO], profiles_of(*standings)).lines
        assert [(cell.text, cell.note) for cell in line.cells] == [("40.0\u00a0%", "")]

    def test_a_trial_is_marked_and_no_column_is_sorted_by_it(self) -> None:
        (line,) = overview([ZOO], profiles_of(standing("eye", 0.9, "trial"))).lines
        (cell,) = line.cells
        assert (cell.text, cell.mark) == ("90.0\u00a0%", "Trial")
        assert "" not in cell.numbers
        assert cell.numbers["trial"] == 0.9

    def test_a_trial_has_the_command_that_completes_it(self) -> None:
        gap = Gap("counterfactory judge eye --benchmark zoo", "at most $3.40", "40 requests.")
        roster = {"judges": [Listed("eye", "judge", "")], "gaps": {"eye": {"zoo": gap}}}
        completing = Fill(gap.price, gap.details, gap.command)
        for evidence, fill in (
            (standing("eye", 0.9, "trial"), completing),
            (standing("eye", 0.9), None),
        ):
            (line,) = overview([ZOO], profiles_of(evidence, **roster)).lines
            assert line.cells[0].fill == fill
            assert line.cells[0].text == "90.0\u00a0%"

    def test_what_was_not_run_is_no_number(self, folder: Path) -> None:
        row = next(row for row in page(folder).split("<tr") if "new.html" in row)
        assert "data-value" not in row
        assert row.count("<code>counterfactory judge new --benchmark zoo</code>") == 4
        assert row.count("at most $3.40") == 4
        assert "0.0" not in text_of(row)
        metric = next(row for row in page(folder).split("<tr") if "clip.html" in row)
        assert "asks nothing of such a model" in metric
        assert "<code>" not in metric

    def test_why_there_is_no_number_is_told(self, folder: Path) -> None:
        row = next(row for row in page(folder).split("<tr") if "gone.html" in row)
        assert "2 of 5 topics" in text_of(row)
        assert "data-value" not in row

    def test_an_optional_measure_has_a_column_where_somebody_was_asked(self) -> None:
        gain = ACCURACY._replace(name="Gain", is_optional=True)
        columns = [ZOO, MeasureColumn("zoo", "Zoo", gain)]
        gap = Gap("counterfactory judge ear --benchmark zoo", "at most $3.40")
        roster = {"judges": [Listed("ear", "judge", "")], "gaps": {"ear": {"zoo": gap}}}

        def heads(*standings: object) -> list[list[str]]:
            shown = profiles_of(standing("eye", 0.4), *standings, **roster)
            tables = overview(columns, shown), stand_ins(columns, shown)
            return [
                [head.label for group in each.groups for head in group.heads] for each in tables
            ]

        assert heads() == [["Accuracy"], ["Accuracy"]]
        assert heads(standing("prior", 0, "stand-in", gain)) == [["Accuracy"], ["Accuracy", "Gain"]]
        held = standing("eye", 0.1, measure=gain)
        assert heads(held) == [["Accuracy", "Gain"], ["Accuracy"]]
        lines = overview(columns, profiles_of(standing("eye", 0.4), held, **roster)).lines
        cells = {line.label: line.cells[1] for line in lines}
        assert (cells["ear"].note, cells["ear"].fill) == ("not asked", None)
        assert cells["eye"].text == "10.0\u00a0%"

    def test_a_change_by_month_stands_beside_the_name(self, folder: Path) -> None:
        rows = page(folder).split("<tr")
        (changed,) = (row for row in rows if "answers changed" in row)
        assert "eye openai: gpt; answers changed in 2026-03" in text_of(f"<tr{changed}")

    def test_stand_ins_stand_apart(self) -> None:
        held = [
            standing("prior", 0.0, "stand-in"),
            standing("eye", 0.5, "stand-in"),
            standing("ear", 0.6),
        ]
        found = profiles_of(*held)
        assert [line.label for line in stand_ins([ZOO], found).lines] == ["prior", "eye"]
        shown = {line.label: line.cells[0].text for line in overview([ZOO], found).lines}
        assert shown == {"prior": "", "eye": "", "ear": "60.0\u00a0%"}

    def test_a_benchmark_without_a_report_has_an_empty_column(self, folder: Path) -> None:
        heads = text_of(page(folder).partition("</thead>")[0])
        assert "Last" in heads
        assert "No report yet" in heads


class TestPages:
    def test_a_name_is_text_everywhere_and_its_file_a_plain_one(self, folder: Path) -> None:
        pages = [*folder.glob("judges/*.html"), folder / "index.html"]
        assert len(pages) == 8
        assert not any("<script>alert" in each.read_text() for each in pages)
        assert file_name(ODD) in {each.stem for each in pages}
        assert re.fullmatch(r"[a-z0-9_-]+", file_name(ODD))

    def test_what_numbers_depend_on_is_folded_below_them(self, folder: Path) -> None:
        caveat = "a part of a difference between these numbers may be due to that."
        front = text_of(page(folder))
        assert f"asked under conditions that differ in dtype, engine: {caveat}" in front
        for line in (
            "240 2026-11-20 engine vLLM 0.11.0; dtype bfloat16 by tags, of 12 replies, 3,456 char",
            "7 2026-11-21 not known: the provider does not say by provider, of 1 reply",
        ):
            assert line in front
        eye = text_of(page(folder, "judges/eye.html"))
        differing = "conditions that differ in engine (vLLM 0.11.0; vLLM 0.12.0)"
        assert f"Its answers were given under {differing}: {caveat}" in eye
        assert "Words 90 2026-11-20 to 2026-11-21 engine vLLM 0.12.0; dtype bfloat16 none" in eye
        clip = text_of(page(folder, "judges/clip.html"))
        assert "Words 5 2026-11-21 dtype float32 none" in clip
        assert "differ in" not in clip
        assert "depend on" not in text_of(page(folder, "judges/new.html"))

    def test_a_judge_that_is_asked_again_has_a_chart_by_month_below_the_finding(self, folder):
        eye = page(folder, "judges/eye.html")
        finding, chart = eye.index("as in &lt;2026-02&gt;."), eye.index("2026-01 (200 answers)")
        assert eye.index("Zoo, month by month") < finding < chart
        told = text_of(eye)
        assert "2026-02 (200 answers): 50.0 % [40.0, 60.0]." in told
        assert "2026-03, changed (200 answers)" in told
        assert "2026-04 (0 answers; 200 refused): no answer." in told
        assert "month by month" not in page(folder, "judges/ear.html")

    def test_other_names_have_other_files(self) -> None:
        names = ("eye", "Eye", "e/ye", "e-ye", "", "..", ".", "x" * 300, "x" * 301, "é", "ê")
        files = [file_name(name) for name in names]
        assert len(set(files)) == len(names)
        assert all(len(name) < 80 for name in files)

    def test_a_judge_s_page_gathers_what_all_sites_tell(self, folder: Path) -> None:
        eye = page(folder, "judges/eye.html")
        told = text_of(eye)
        for said in ("40.0 %", "−12.5 %", "+25.0 %", "pictures of sdxl", "a trial"):
            assert said in told
        assert eye.count("<li>") == 10
        assert "animal 99" in told, "each site has its turn"
        assert "As it was" in told
        assert "../words/index.html#top" in eye
        stand_in = told.partition("Stand-in runs: no results")[2]
        assert "+50.0 %" in stand_in
        assert "+50.0 %" not in told.partition("Stand-in runs: no results")[0]

    def test_a_new_judge_has_a_page_of_commands(self, folder: Path) -> None:
        told = text_of(page(folder, "judges/new.html"))
        assert told.count("counterfactory judge new --benchmark zoo") == 3
        assert "Quotes of 2026-11-21" in told

    def test_pictures_and_links_of_a_judge_s_page_are_there(self, folder: Path) -> None:
        for each in folder.glob("judges/*.html"):
            for link in re.findall(r'(?:href|src)="([^"#]+)', each.read_text()):
                if not link.startswith("data:"):
                    assert (each.parent / link).exists(), link

    def test_who_is_gone_loses_the_page_and_others_are_left_alone(self, tmp_path: Path) -> None:
        root = front(tmp_path / "report")
        write_start_page(root)
        kept = (root / "judges" / "eye.html").stat().st_mtime_ns
        site(root / "zoo", "Zoo", JudgeResults([ACCURACY], [standing("ear", 0.5)]))
        write_start_page(root)
        names = {each.stem for each in root.glob("judges/*.html")}
        assert "gone" not in names
        assert not [*root.glob("tables/judges/gone*")]
        write_start_page(root)
        eye = root / "judges" / "eye.html"
        again = eye.stat().st_mtime_ns
        write_start_page(root)
        assert eye.stat().st_mtime_ns == again != kept

    def test_with_one_benchmark_and_no_roster(self, tmp_path: Path) -> None:
        told = JudgeResults([ACCURACY], [standing("eye", 0.4)], [failure("eye")])
        site(tmp_path / "zoo", "Zoo", told)
        index = write_start_page(tmp_path).page
        assert "Zoo has found <something>." in text_of(index.read_text())
        assert "40.0 %" in text_of(index.read_text())

    def test_a_judge_with_numbers_of_one_benchmark_says_of_which(self, tmp_path: Path) -> None:
        for name, model in (("zoo", "eye"), ("words", "ear")):
            site(
                tmp_path / name, name.title(), JudgeResults([ACCURACY], [standing(model, 0.4)], [])
            )
        write_start_page(tmp_path)
        for name, model in (("Zoo", "eye"), ("Words", "ear")):
            (table,) = re.findall("<table.*?</table>", page(tmp_path, f"judges/{model}.html"), re.S)
            assert f'<th scope="rowgroup" colspan="6"><span>{name}</span></th>' in table


class TestStrips:
    def strip(self, measure: Measure, own: float, *others: float) -> Strip:
        column = MeasureColumn("zoo", "Zoo", measure)
        held = [standing("eye", own, measure=measure)]
        held += [standing(f"other {n}", v, measure=measure) for n, v in enumerate(others)]
        found = profiles({"zoo": JudgeResults([measure], held)}, Roster())
        (only,) = strips([column], found[0], found)
        return only

    def test_a_place_among_results(self) -> None:
        assert self.strip(ACCURACY, 0.5, 0.25, 0.75).rank == "2 of 3"
        assert self.strip(INFLATION, -0.1, 0.05, 0.4).rank == "2 of 3"
        assert self.strip(ACCURACY, 0.5).rank == ""

    def test_shares_are_from_0_to_1_and_changes_on_their_own_scale(self) -> None:
        share, change = self.strip(ACCURACY, 0.5, 0.25), self.strip(INFLATION, -0.1, 0.4)
        assert (share.position.value, list(share.others)) == (0.5, [0.25])
        assert [place for place, _ in change.ticks] == [0.0, pytest.approx(0.2 / 0.7), 1.0]
        assert change.position.value == pytest.approx(0.1 / 0.7)

    def test_a_trial_has_no_place(self) -> None:
        column = MeasureColumn("zoo", "Zoo", ACCURACY)
        found = profiles_of(standing("eye", 0.9, "trial"), standing("ear", 0.5))
        (strip,) = strips([column], found[0], found)
        assert (strip.trial, strip.rank) == (True, "")
        (other,) = strips([column], found[1], found)
        assert list(other.others) == []
