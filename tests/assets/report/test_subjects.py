"""The order in which a report takes its subjects."""

from types import SimpleNamespace

from assets.report.subjects import firmest_first


def test_collections_come_first_among_what_is_equally_firm(tmp_path, monkeypatch):
    (tmp_path / "mine.yaml").write_text("- {name: mine, path: mine}\n- {name: more, path: more}\n")
    monkeypatch.setenv("COUNTERFACTORY_COLLECTIONS", str(tmp_path / "mine.yaml"))
    subjects = [
        SimpleNamespace(name=name, firmness=firmness, size=size)
        for name, firmness, size in (
            ("flags", "trial", 9),
            ("boards", "trial", 5),
            ("mine", "trial", 1),
            ("more", "trial", 2),
            ("animals", "result", 3),
        )
    ]
    ordered = firmest_first(subjects, key=lambda subject: -subject.size)
    assert [subject.name for subject in ordered] == ["animals", "more", "mine", "flags", "boards"]
