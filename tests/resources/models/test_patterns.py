"""Patterns: read from models.yaml, matched against lists over HTTP, and what they found kept."""

import json
import re
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest

from resources.models import discovered_models, discovery
from resources.models.catalog import CatalogError, CatalogFiles
from resources.models.discovery import MAX_NEW_MODELS, poll_providers
from resources.models.patterns import build_model_name
from resources.models.replies import Interrupted, ModelUnavailable, UnparsableReply
from resources.storage.files import open_address
from tests.providers import Provider, faults
from tests.resources.models.backends.asking import KEY, Asker, entry

PATTERN = {
    "pattern": "gpt-image-*",
    "backend": "openai",
    "family": "gpt",
    "roles": ["painter", "editor"],
    "parameters": {"size": "1024x1024", "quality": "high"},
    "price": {"per_image": {"1024x1024/high": 0.13}},
}
ANY = {"pattern": "x-*", "family": "x", "roles": ["painter"]}
TEXT_MODEL = {
    "name": "gpt",
    "backend": "openai",
    "model": "gpt-5-mini",
    "family": "gpt",
    "roles": ["judge"],
}


@pytest.fixture(scope="module")
def _provider():
    with Provider() as provider:
        yield provider


@pytest.fixture
def provider(_provider, monkeypatch):
    _provider.clear()
    _provider.received.clear()
    _provider.key, _provider.models_on_a_page, _provider.latency_s = KEY, None, 0.0
    _provider.models = {
        "openai": ["gpt-5-mini", "gpt-image-2"],
        "gemini": ["gemini-3-flash", "gemini-3-flash-image", "gemini-embedding-image-1"],
    }
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setenv("GEMINI_API_KEY", KEY)
    return _provider


@pytest.fixture
def files(tmp_path):
    return CatalogFiles(tmp_path / "models.yaml", tmp_path / "data" / "discovered.yaml")


@pytest.fixture
def write(files, provider):
    """Write models.yaml: entries that ask the provider here."""

    def write(*entries):
        base = {"openai": provider.openai_url, "gemini": provider.url}
        whole = [
            {"family": "some", "base_url": base.get(each["backend"])} | each for each in entries
        ]
        files.models.write_text("".join(f"- {json.dumps(each)}\n" for each in whole))

    return write


def names(catalog):
    return [model.name for model in catalog.models]


class TestTheFile:
    @pytest.fixture
    def said(self, files, write):
        def said(*entries):
            write(*entries)
            with pytest.raises(CatalogError) as caught:
                files.load()
            return re.sub(r"(?m)^.*models\.yaml", "", str(caught.value))

        return said

    def test_a_pattern_is_no_model(self, files, write):
        write(TEXT_MODEL, PATTERN)
        catalog = files.load()
        assert names(catalog) == ["gpt"]
        [pattern] = catalog.patterns
        assert pattern.pattern == "gpt-image-*"
        made = pattern.build_entry("gpt_image_2", "gpt-image-2")
        assert made.price.per_image == {"1024x1024/high": 0.13}
        assert made.roles == ("painter", "editor")

    @pytest.mark.parametrize(
        ("fields", "words"),
        [
            ({"pattern": "*"}, ", line 1, *: `pattern` is '*', which matches every model"),
            ({"pattern": "[!a]?*"}, "which matches every model that a provider has: begin it"),
            ({"pattern": ""}, "`pattern` has to be text, as in gpt-image-*"),
            ({"pattern": 4}, "`pattern` has to be text"),
            ({"model": "gpt-image-2"}, "`model` and `pattern` are given both: keep the one"),
            ({"name": "gpt_image"}, "`name` has no effect beside `pattern`"),
            ({"backend": "diffusers"}, "lists no painters that a pattern could match"),
            ({"roles": ["painter", "judge"]}, "is an asset of its own, so give it an entry"),
            ({"roles": ["editor"]}, "`roles` of a pattern are painter, or painter and editor"),
            ({"prize": {}}, "`prize` is no field, did you mean price?"),
            ({"key": KEY}, "`key` is no name of an environment variable"),
        ],
    )
    def test_what_is_wrong_is_named_with_the_remedy(self, said, fields, words):
        text = said({**PATTERN, **fields})
        assert words in text
        assert KEY not in text

    def test_neither_model_nor_pattern(self, said):
        text = said({**TEXT_MODEL, "model": None}, {"name": "a", "backend": "openai", "roles": []})
        assert "`model` is missing: the provider's id of the model, or `pattern` in its" in text

    def test_the_same_pattern_twice(self, said):
        assert "`pattern` is that of line 1, which gets all" in said(PATTERN, PATTERN)


@pytest.fixture(scope="module")
def asker():
    asker = Asker()
    yield asker
    asker.close()


class TestLists:
    def listed(self, asker, backend, url, key=KEY):
        listed = asker.use(entry(backend, url), lambda backend: backend.list_models(), key)
        return [model.id for model in listed]

    def test_ids_of_all_pages(self, asker, provider):
        provider.models["openai"] = ["a", "b", "gpt-image-2"]
        for provider.models_on_a_page in (None, 1, 2):
            assert self.listed(asker, "openai", provider.openai_url) == ["a", "b", "gpt-image-2"]
            found = self.listed(asker, "gemini", provider.url)
            assert found == ["gemini-3-flash", "gemini-3-flash-image"]
        assert {request.task for request in provider.received} == {"models"}
        assert all(request.key == KEY for request in provider.received)

    @pytest.mark.parametrize("backend", ["openai", "gemini"])
    def test_a_list_that_cannot_be_had_is_a_fault(self, asker, provider, backend):
        url = provider.openai_url if backend == "openai" else provider.url
        with pytest.raises(ModelUnavailable) as caught:
            self.listed(asker, backend, url, "sk-another-key")
        assert "sk-another-key" not in str(caught.value)
        provider.script([faults.DROPPED, faults.MALFORMED_JSON])
        with pytest.raises(Interrupted):
            self.listed(asker, backend, url)
        with pytest.raises(UnparsableReply, match="is not what this API sends"):
            self.listed(asker, backend, url)


class TestWhatIsFound:
    def test_a_match_is_a_whole_entry_that_is_kept(self, files, write, provider):
        write(TEXT_MODEL, PATTERN)
        assert not files.discovered.exists()
        made = poll_providers(files)
        assert [record.model.name for record in made.new_models] == ["gpt_image_2"]
        assert made.warnings == []
        text = files.discovered.read_text()
        assert text.startswith("# What patterns in models.yaml have found")
        assert "name: gpt_image_2" in text
        assert re.search(r"pattern: gpt-image-\*\n  discovered_on: '\d{4}-\d\d-\d\d'\n", text)
        catalog = files.load()
        assert names(catalog) == ["gpt", "gpt_image_2"]
        model = catalog.models[1]
        assert (model.model, model.parameters["quality"]) == ("gpt-image-2", "high")
        before = files.discovered.stat().st_mtime_ns
        assert poll_providers(files).new_models == []
        assert files.discovered.stat().st_mtime_ns == before

    def test_it_outlives_its_pattern_and_follows_it_till_then(self, files, write, provider):
        write(PATTERN)
        poll_providers(files)
        write({**PATTERN, "price": {"per_image": {"1024x1024/high": 0.2}}})
        priced = files.load().models[0].price
        assert priced.per_image == {"1024x1024/high": 0.2}
        poll_providers(files)
        write({**PATTERN, "pattern": "gpt-image-3*", "price": {}})
        assert names(files.load()) == ["gpt_image_2"]
        write()
        assert files.load().models[0].price == priced

    def test_an_id_that_the_user_lists_is_not_doubled(self, files, write, provider):
        mine = {**PATTERN, "name": "mine", "model": "gpt-image-2", "parameters": {}}
        del mine["pattern"]
        write(PATTERN)
        poll_providers(files)
        write(PATTERN, mine)
        assert names(files.load()) == ["mine"]
        files.discovered.unlink()
        assert poll_providers(files) == ([], [])
        assert not files.discovered.exists()

    def test_a_name_that_a_pattern_has_given_is_taken(self, files, write, provider):
        write(PATTERN)
        poll_providers(files)
        write({**TEXT_MODEL, "name": "GPT_image_2"}, PATTERN)
        with pytest.raises(CatalogError, match="that of gpt-image-2, which a pattern has found"):
            files.load()

    def test_patterns_that_match_nothing_or_everything_are_told_of(self, files, write, provider):
        many = [f"gpt-image-{number}" for number in range(MAX_NEW_MODELS + 1)]
        provider.models["openai"] = ["gpt-5-mini", *many]
        write(PATTERN, {**PATTERN, "pattern": "flux-*"}, {**PATTERN, "pattern": "g*"})
        made = poll_providers(files)
        assert made.new_models == []
        too_many, none, everything = made.warnings
        assert re.search(r"gpt-image-\* .* matches 11, 11 of them new: too many", too_many)
        assert re.search(r"Of the 12 models .* flux-\* in .* matches none. Correct it", none)
        assert "g*" in everything
        assert not files.discovered.exists()

    def test_a_short_list_may_match_as_a_whole_and_is_told_of_once(self, files, write, provider):
        provider.models["openai"] = ["gpt-image-2", "gpt-image-3"]
        write(PATTERN)
        made = poll_providers(files)
        assert [record.model.model for record in made.new_models] == ["gpt-image-2", "gpt-image-3"]
        [told] = made.warnings
        assert re.search(r"gpt-image-\* in .* matches all 2 models that .* lists, and takes", told)
        assert "gpt-image-2, gpt-image-3. Make it narrower if some of them paint no" in told
        assert poll_providers(files) == ([], [])

    @pytest.mark.parametrize(
        "ids",
        [
            [f"gpt-image-{number}" for number in range(MAX_NEW_MODELS + 1)],
            [f"gpt-image-{number}-{size}" for number in range(5) for size in ("mini", "max", "hd")],
            ["gpt-5", *(f"gpt-image-1[{number}]" for number in range(12))],
            [f"gpt-image-{letter}" for letter in "aabbbbbbbbbbbbcdefghijk"],
        ],
    )
    def test_the_pattern_that_it_is_told_to_become_finds_models(self, files, write, provider, ids):
        """What is said is done, and helps: another pattern, which is not refused."""
        provider.models["openai"] = ids
        write(PATTERN)
        [told] = poll_providers(files).warnings
        narrower = re.search(r"narrower ones, as in (\S+), or give", told)[1]
        assert narrower != PATTERN["pattern"]
        write({**PATTERN, "pattern": narrower})
        made = poll_providers(files)
        assert 0 < len(made.new_models) <= MAX_NEW_MODELS
        assert made.warnings == []

    def test_where_no_narrower_pattern_helps_entries_do(self, files, write, provider):
        provider.models["openai"] = ["gpt-image-2"] * (MAX_NEW_MODELS + 1)
        write(PATTERN)
        [told] = poll_providers(files).warnings
        assert "by narrower ones, or give the models that you mean entries with `name`" in told

    def test_two_patterns_share_a_list_and_the_first_that_matches_wins(
        self, files, write, provider
    ):
        provider.models["openai"] += ["gpt-image-2-mini", "gpt-image-2.mini"]
        write({**PATTERN, "pattern": "*-mini", "parameters": {"size": "512x512"}}, PATTERN)
        found = {record.model.name: record.model for record in poll_providers(files).new_models}
        assert set(found) == {
            "gpt_5_mini",
            "gpt_image_2_mini",
            "gpt_image_2_mini_2",
            "gpt_image_2",
        }
        assert found["gpt_image_2_mini"].parameters == {"size": "512x512"}
        assert found["gpt_image_2_mini_2"].model == "gpt-image-2.mini"
        assert provider.count == 1

    def test_a_list_that_repeats_the_key_does_not_tell_it(self, files, write, provider, tmp_path):
        provider.models["openai"] = ["gpt-5-mini", "gpt-image-2", f"gpt-image-{KEY}"]
        write(PATTERN)
        told = poll_providers(files).warnings
        kept = [path.read_text() for path in tmp_path.rglob("*") if path.is_file()]
        assert not [text for text in [*kept, *told] if KEY in text]

    def test_a_list_that_cannot_be_had_stops_no_other(self, files, write, provider, monkeypatch):
        gemini = {**PATTERN, "pattern": "*-image", "backend": "gemini", "parameters": {}}
        keyless = {**gemini, "key": "A_KEY_THAT_IS_NOT_SET"}
        wrong = {**PATTERN, "key": "A_WRONG_KEY", "pattern": "gpt-image-2*"}
        write(keyless | {"pattern": "*-pro-image"}, wrong, gemini)
        monkeypatch.setenv("A_WRONG_KEY", "sk-wrong")
        made = poll_providers(files)
        assert [record.model.model for record in made.new_models] == ["gemini-3-flash-image"]
        unset, refused = made.warnings
        assert "A_KEY_THAT_IS_NOT_SET is not set" in unset
        assert re.search(
            r"list for the pattern gpt-image-2\* .* could not be loaded: HTTP 401", refused
        )
        kept = files.discovered.read_text()
        provider.always(faults.SERVER_ERROR)
        assert len(poll_providers(files).warnings) == 3
        assert files.discovered.read_text() == kept

    def test_a_provider_that_does_not_answer_is_given_up(self, files, write, provider, monkeypatch):
        monkeypatch.setattr("resources.models.discovery.LIST_TIMEOUT_S", 0.3)
        provider.latency_s = 600.0
        write(PATTERN)
        assert "no answer within" in poll_providers(files).warnings[0]

    @pytest.mark.parametrize("backend", ["openai", "gemini"])
    def test_odd_ids_are_refused_by_name_and_the_rest_is_found(
        self, files, write, provider, backend
    ):
        odd = ["\0", "\ud800", "\n", "9" * 5000, "\x1b[2J"]
        provider.models[backend] = [*(f"x-{each}" for each in odd), "x-2", "other"]
        write({**ANY, "backend": backend})
        made = poll_providers(files)
        assert [record.model.model for record in made.new_models] == ["x-2"]
        (told,) = made.warnings
        assert re.search(r"^5 of the models .* skipped: 'x-\\", told)
        assert told.isprintable()
        assert len(told) < 1000
        assert poll_providers(files).new_models == []

    @pytest.mark.parametrize("backend", ["openai", "gemini"])
    def test_a_list_that_nests_deep_does_not_stop_the_others(self, files, write, provider, backend):
        deep = []
        for _ in range(800):
            deep = [deep]
        provider.models[backend] = [deep]
        other = "gemini" if backend == "openai" else "openai"
        provider.models[other] = ["x-2", "other"]
        write({**ANY, "backend": backend}, {**ANY, "backend": other})
        made = poll_providers(files)
        assert [record.model.backend for record in made.new_models] == [other]
        assert made.warnings

    def test_without_patterns_nobody_is_asked(self, files, write, provider):
        write(TEXT_MODEL)
        assert poll_providers(files) == ([], [])
        assert provider.count == 0

    def test_a_file_that_someone_broke_is_named(self, files, write, provider):
        write(PATTERN)
        poll_providers(files)
        text = files.discovered.read_text()
        files.discovered.write_text(text.replace("discovered_on:", "fond:"))
        words = r"discovered\.yaml, line \d+, gpt_image_2: `fond` is no field"
        with pytest.raises(CatalogError, match=words) as caught:
            files.load()
        assert "`discovered_on` is missing" in str(caught.value)

    def test_what_is_written_is_read_the_same(self, files, write, provider):
        odd = {"on": "no", "ratio": "16:9", "day": "2026-11-21", "few": [0.00001, True, None]}
        provider.models["openai"].append("gpt-image-Ünï")
        write({**PATTERN, "parameters": odd})
        made = poll_providers(files)
        assert discovered_models.read_discovered(files.discovered) == made.new_models
        assert files.load().models[0].parameters == odd


@pytest.mark.parametrize("kind", ["memory", pytest.param("s3", marks=pytest.mark.slow)])
def test_two_machines_that_find_something_at_once_keep_both(request, provider, tmp_path, kind):
    """Both have read the file before either writes it: first that is none, then one of both."""
    if kind == "s3":
        request.getfixturevalue("s3")
    root = open_address({"s3": "s3://pictures/home", "memory": f"memory://{tmp_path.name}"}[kind])
    machines = []
    for pattern in ("gpt-*", "gpt-image-*"):
        entry = PATTERN | {"pattern": pattern, "base_url": provider.openai_url}
        path = tmp_path / f"{len(machines)}.yaml"
        path.write_text(f"- {json.dumps(entry)}\n")
        machines.append(CatalogFiles(path, root / "discovered.yaml"))

    # In memory nothing tells a file that was changed from one that was not.
    for listed in (["gpt-a", "gpt-image-a"], ["gpt-b", "gpt-image-b"])[: 1 + (kind == "s3")]:
        provider.models["openai"] = listed
        meeting, find = Barrier(2), discovery._find_new_models
        waiting = iter([meeting.wait, meeting.wait])

        def meet(*arguments, waiting=waiting, find=find):
            next(waiting, lambda: None)()
            return find(*arguments)

        with (
            pytest.MonkeyPatch.context() as patch,
            ThreadPoolExecutor(2) as threads,
        ):
            patch.setattr(discovery, "_find_new_models", meet)
            found = list(threads.map(poll_providers, machines))
        assert {record.model.model for result in found for record in result.new_models} == {*listed}
        assert sum(len(result.new_models) for result in found) == 2
    models = ["gpt-a", "gpt-image-a", "gpt-b", "gpt-image-b"][: 2 + 2 * (kind == "s3")]
    for machine in machines:
        assert {model.model for model in machine.load().models} == {*models}


@pytest.mark.parametrize(
    ("model", "name"),
    [
        ("gpt-image-2.6-sunburst", "gpt_image_2_6_sunburst"),
        ("4o-image", "model_4o_image"),
        ("input", "input_model"),
        ("class", "class_model"),
        ("---", "model"),
        ("publishers/x/models/a", "publishers_x_models_a"),
    ],
)
def test_names_are_made_of_ids(model, name):
    assert build_model_name(model, ()) == name
    assert build_model_name(model, {name.upper()}) == f"{name}_2"


def test_long_ids_keep_apart():
    one, other = (build_model_name("a" * 80 + end, ()) for end in "bc")
    assert one != other
    assert len(one) == len(other) == 64
    assert len(build_model_name("a" * 64, {"a" * 64})) <= 64
