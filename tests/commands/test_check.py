"""`counterfactory check`: what an entry can do, against a real wire, and each thing wrong."""

import json
import re
import socket
import ssl
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from threading import Thread

import pytest
import yaml
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from generators.number_picture import draw_number
from resources.models.catalog import load_catalog
from tests.providers import Provider, faults, openai_wire, pictures
from tests.providers.faults.base import Fault
from tests.providers.http import Response, closed_port

PRICE = "price: {{input_per_million: 1.0, output_per_million: 2.0}}"
PAID = (
    "- {{name: m, backend: openai, model: gpt-5-mini, family: f, base_url: {url}, key: CHECK_KEY, "
    f"{PRICE}, parameters: {{{{max_completion_tokens: 100}}}}, roles: [writer, judge]}}}}"
)
SERVED = (
    "- {{name: m, backend: openai_compatible, model: gpt-5-mini, family: f, base_url: {url}, "
    "parameters: {{max_tokens: 16000}}, roles: [judge, writer]}}"
)
JUDGE = SERVED.replace(", writer", "")
PAINTER = (
    "- {{name: m, backend: openai, model: gpt-image-1.5, family: f, base_url: {url}, "
    f"key: CHECK_KEY, {PRICE}, longest_output: 2000, roles: [painter, editor], "
    "parameters: {{size: 64x64}}}}"
)
TRIPLET = json.dumps({"text": "A bird.", "correct": "A penguin.", "adversarial": "A robin."})


def draw(*entry):
    """The picture that an entry is shown, by its backend, model and parameters."""
    return draw_number(json.dumps(entry, sort_keys=True))


PICTURES = {
    picture.png: picture
    for picture in (
        draw("openai", "gpt-5-mini", {"max_completion_tokens": 100}),
        draw("openai_compatible", "gpt-5-mini", {"max_tokens": 16000}),
    )
}
VISION = "Invalid content type. image_url is only supported by certain models."
WINDOW = (
    "The decoder prompt (length 5127) is longer than the maximum model length of 4096. Make sure "
    "that `max_model_len` is no smaller than the number of text tokens plus multimodal tokens."
)


@pytest.fixture
def server(monkeypatch):
    monkeypatch.setenv("CHECK_KEY", "sk-check-0123456789")
    with Provider(answer=seeing) as server:
        yield server


@pytest.fixture
def check(command, server, tmp_path):
    """Checks the entry `m` that a line of models.yaml has, which is pointed at the server."""

    def run(line, *options, url=None):
        models = line.format(url=url or server.openai_url)
        home = {"COUNTERFACTORY_HOME": tmp_path / "data"}
        return command("check", "m", *options, models=models, **home)

    return run


def seeing(received, number=None, colours=None, braces="{{{}}}"):
    """Answers as one who sees the picture, or says that number and those colours."""
    if received.schema is not None:
        return TRIPLET
    picture = PICTURES[received.images[0]]
    if "Which number" in received.texts[-1]:
        return braces.format(number or picture.number)
    if "Which colour" in received.texts[-1]:
        return braces.format(colours or picture.colours)
    return '{"score": 4}'


def answering(**said):
    return lambda received: seeing(received, **said)


def results(done):
    """Whether each question of the table works."""
    found = re.findall(r"^ (\S.*?)  +(works|does not)", done.stdout, re.MULTILINE)
    return {question: result == "works" for question, result in found}


def asked(server):
    """The requests that are no lists."""
    return [received for received in server.received if received.task != "models"]


def changed(done, line, tmp_path, url):
    """The entry with the fields that are to be changed, as the catalog loads it."""
    lines = done.stdout.partition("Change in models.yaml, and check again:\n")[2]
    ((entry,), (changes,)) = yaml.safe_load(line.format(url=url)), yaml.safe_load(lines)
    path = tmp_path / "changed.yaml"
    path.write_text(yaml.safe_dump([entry | changes]))
    (model,) = load_catalog(path).models
    return model


def test_all_that_works_is_told_with_its_cost_and_paid_once(check, server):
    quote = check(PAID)
    assert quote.exit_code == 0
    assert f"{server.openai_url} lists gpt-5-mini." in quote.stdout
    assert re.search(r"At most 5 questions, for at most \$0\.02\d\d\.", quote.stdout)
    assert "No question was sent. Give --budget USD" in quote.stdout
    assert asked(server) == []
    done = check(PAID, "--budget", "1")
    assert done.exit_code == 0
    assert results(done) == dict.fromkeys(
        ("sees a picture", "answers in curly brackets", "rates", "writes JSON to a schema"), True
    )
    assert re.search(r"sees a picture .* \{\d{4}\} +\d\.\d +116 \+ 1 +\$0\.000118", done.stdout)
    assert "Answers came from" not in done.stdout
    assert len(asked(server)) == 3
    again = check(PAID)
    assert again.exit_code == 0
    assert results(again) == results(done)
    assert "3 answers were stored before: --again asks anew." in again.stdout
    assert len(asked(server)) == 3
    check(PAID, "--budget", "1", "--again")
    assert len(asked(server)) == 6
    poor = check(PAID, "--budget", "0.000001", "--again")
    assert poor.exit_code == 1
    assert "budget" in poor.output
    assert check(PAID, "--again").exit_code == 0
    assert results(check(PAID)) == results(done)
    assert len(asked(server)) == 6


def test_dropped_pictures_are_told_from_misread_ones(check, server):
    server.answer = answering(number="7305", colours="black on white")
    done = check(SERVED)
    assert done.exit_code == 1
    assert not results(done)["sees a picture"]
    assert results(done)["writes JSON to a schema"]
    assert "m answers as if there was no picture: its server drops pictures silently" in done.stdout
    assert "- name: m\n  roles: [writer]\n" in done.stdout
    server.answer = answering(number="7305")
    done = check(SERVED, "--again")
    assert done.exit_code == 0
    assert "works: misreads the number" in done.stdout
    assert results(done)["tells its colours"]


def test_stored_answers_that_need_another_question_are_quoted(check, server):
    server.answer = answering(number="7305")
    server.when(
        lambda received: any("Which colour" in text for text in received.texts),
        faults.INVALID_REQUEST,
    )
    assert check(PAID, "--budget", "1").exit_code == 1
    count = len(asked(server))
    quote = check(PAID)
    assert quote.exit_code == 0, quote.output
    assert "No question was sent. Give --budget USD" in quote.stdout
    assert len(asked(server)) == count


def test_a_key_that_may_not_list_may_still_ask(check, server):
    server.when(lambda received: received.task == "models", faults.FORBIDDEN)
    done = check(JUDGE)
    assert done.exit_code == 0
    assert all(results(done).values())


def test_another_model_that_answers_is_named(check, server):
    server.served = {"gpt-5-mini": "gpt-5-mini-2026-01-01"}
    done = check(JUDGE)
    assert done.exit_code == 0
    assert "Answers came from gpt-5-mini-2026-01-01, where gpt-5-mini was asked." in done.stdout


@pytest.mark.parametrize(
    ("line", "model", "parameters", "variable"),
    [
        (
            "- {{name: m, backend: gemini, model: gemini-3-flash, family: f, base_url: {url}, "
            f"{PRICE}, roles: [judge, writer], parameters: {{{{max_output_tokens: 100}}}}}}}}",
            "gemini gemini-3-flash",
            {"max_output_tokens": 100},
            "GEMINI_API_KEY",
        ),
        pytest.param(
            "- {{name: m, backend: anthropic, model: claude-sonnet-5-5, family: f, "
            f"base_url: {{url}}, {PRICE}, roles: [judge, writer], "
            "parameters: {{max_tokens: 100}}}}",
            "anthropic claude-sonnet-5-5",
            {"max_tokens": 100},
            "ANTHROPIC_API_KEY",
            # Its SDK takes seconds to load.
            marks=pytest.mark.slow,
        ),
    ],
    ids=["gemini", "anthropic"],
)
def test_other_providers_are_checked_over_their_own_wire(
    check, server, monkeypatch, line, model, parameters, variable
):
    monkeypatch.setenv(variable, "sk-check-0123456789")
    picture = draw(*model.split(), parameters)
    monkeypatch.setitem(PICTURES, picture.png, picture)
    done = check(line, "--budget", "1", url=server.url)
    assert done.exit_code == 0, done.output
    assert all(results(done).values())
    assert len(results(done)) == 4
    server.key = "another"
    done = check(line, "--budget", "1", url=server.url)
    assert done.exit_code == 1
    assert f"refuses the key in {variable}: set {variable} to a valid one" in done.stderr


def test_an_answer_without_brackets_sees_and_does_not_fit(check, server):
    server.answer = answering(braces="It says {}.\x1b[31m[/red]")
    done = check(JUDGE)
    assert done.exit_code == 1
    assert results(done) == {
        "sees a picture": True,
        "answers in curly brackets": False,
        "rates": True,
    }
    assert "no number in curly brackets: its answers would be unparsed" in done.stdout
    assert re.search(r"It says \d{4}\.\\x1b\[31m\[/red\]", done.stdout)


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        (
            faults.INVALID_KEY,
            "refuses the key in CHECK_KEY: set CHECK_KEY to a valid one (HTTP",
        ),
        (faults.WEB_PAGE, "sends a web page in place of an answer: log in at the proxy before it"),
        (faults.REDIRECTED, "the server redirects to"),
        (faults.NO_CREDIT, "answers nothing without credit or quota: pay in there"),
        (
            Fault("407", {"openai": lambda _: Response(b"<html>Log in</html>", 407)}),
            "A proxy stands before",
        ),
    ],
    ids=lambda value: getattr(value, "name", ""),
)
def test_what_stands_in_the_way_of_all_is_one_sentence_before_any_question(
    check, server, fault, words
):
    server.always(fault)
    done = check(PAID, "--budget", "1")
    assert done.exit_code == 1
    sentence, end = done.stderr.splitlines()
    assert words in sentence
    assert end == "No question was sent."
    assert "sk-check" not in done.output
    assert asked(server) == []


def test_a_server_that_is_not_up_or_speaks_no_tls_and_a_key_that_is_not_set(check, monkeypatch):
    with closed_port() as port:
        done = check(SERVED, url=f"http://127.0.0.1:{port}/v1")
    assert done.exit_code == 1
    assert "cannot be reached: start the server, or correct base_url" in done.stderr
    with socket.create_server(("127.0.0.1", 0)) as plain:
        Thread(target=refuse_in_plain, args=[plain]).start()
        done = check(SERVED, url=f"https://127.0.0.1:{plain.getsockname()[1]}/v1")
    assert "speaks no TLS: write http:// in base_url" in done.stderr
    monkeypatch.delenv("CHECK_KEY")
    done = check(PAID)
    assert done.stderr.startswith("CHECK_KEY is not set: put the API key into it, or add a line")
    assert done.exit_code == 1


def test_a_proxy_that_wants_a_login_is_named(check, monkeypatch):
    for name in ("HTTP_PROXY", "http_proxy", "NO_PROXY", "no_proxy", "https_proxy"):
        monkeypatch.delenv(name, raising=False)
    with socket.create_server(("127.0.0.1", 0)) as proxy:
        Thread(target=refuse_in_plain, args=[proxy, b"407 Proxy Authentication Required"]).start()
        monkeypatch.setenv("HTTPS_PROXY", f"http://127.0.0.1:{proxy.getsockname()[1]}")
        done = check(SERVED, url="https://models.example.org/v1")
    assert done.exit_code == 1
    assert "A proxy stands before https://models.example.org/v1 and wants a login" in done.stderr
    assert "407 Proxy Authentication Required" in done.stderr


def test_a_certificate_that_nobody_vouches_for_is_named(check, tmp_path):
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "127.0.0.1")])
    now = datetime.now(UTC)
    certificate = (
        x509.CertificateBuilder(name, name, key.public_key(), 1, now, now + timedelta(days=1))
        .add_extension(
            x509.SubjectAlternativeName([x509.IPAddress(ip_address("127.0.0.1"))]), critical=False
        )
        .sign(key, hashes.SHA256())
    )
    file = tmp_path / "server.pem"
    unlocked = serialization.NoEncryption(), serialization.PrivateFormat.PKCS8
    file.write_bytes(
        key.private_bytes(serialization.Encoding.PEM, unlocked[1], unlocked[0])
        + certificate.public_bytes(serialization.Encoding.PEM)
    )
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(file)
    with socket.create_server(("127.0.0.1", 0)) as listening:
        Thread(target=shake_hands, args=[listening, context]).start()
        done = check(SERVED, url=f"https://127.0.0.1:{listening.getsockname()[1]}/v1")
    assert done.exit_code == 1
    assert "is not trusted: set SSL_CERT_FILE to a file that has its authority" in done.stderr


def shake_hands(listening, context):
    """Offers a certificate to one who hangs up then."""
    connection, _ = listening.accept()
    with connection, suppress(ssl.SSLError, OSError):
        context.wrap_socket(connection, server_side=True).close()


def refuse_in_plain(listening, status=b"400 Bad Request"):
    """Answers a hello of TLS, or a request for a tunnel, by a status."""
    connection, _ = listening.accept()
    with connection:
        connection.recv(10_000)
        connection.sendall(b"HTTP/1.1 %s\r\nContent-Length: 0\r\n\r\n" % status)


@pytest.mark.parametrize(
    ("reply", "line", "words", "change"),
    [
        (
            openai_wire.error(400, VISION, param="messages.[0].content.[0].type"),
            SERVED,
            "gpt-5-mini takes no pictures there",
            {"roles": ("writer",)},
        ),
        (
            openai_wire.error(400, WINDOW, "BadRequestError"),
            JUDGE,
            "gpt-5-mini has too small a window there for a picture and an answer",
            {"parameters": {"max_tokens": 1024}},
        ),
        (
            openai_wire.error(
                400,
                "Unsupported parameter: 'max_tokens' is not supported with this model. Use "
                "'max_completion_tokens' instead.",
                code="unsupported_parameter",
                param="max_tokens",
            ),
            JUDGE,
            "does not take a parameter of m: correct it",
            {"parameters": {"max_completion_tokens": 16000}},
        ),
        (
            faults.UNKNOWN_MODEL,
            JUDGE.replace("gpt-5-mini", "gpt-5-mimi"),
            "has no model gpt-5-mimi: did you mean gpt-5-mini? Correct `model`",
            {"model": "gpt-5-mini"},
        ),
        (
            openai_wire.error(401, "Unauthorized"),
            JUDGE,
            "wants an API key: write `key: MY_SERVER_KEY` in the entry",
            {"key": "MY_SERVER_KEY"},
        ),
    ],
    ids=["vision", "window", "parameter", "id", "key"],
)
def test_what_is_wrong_with_questions_is_one_sentence_with_the_lines_to_change(
    check, server, tmp_path, reply, line, words, change
):
    fault = reply if isinstance(reply, Fault) else Fault("reply", {"openai": lambda _: reply})
    server.when(lambda received: received.task == "text" and bool(received.images), fault)
    done = check(line)
    assert done.exit_code == 1
    assert words in done.stdout
    assert done.stdout.count(words) == 1
    model = changed(done, line, tmp_path, server.openai_url)
    for name, value in change.items():
        assert getattr(model, name) == value


def test_thoughts_that_ate_the_limit_ask_for_more(check, server, tmp_path):
    cut = Fault(
        "cut",
        {"openai": lambda x: openai_wire.completion(x.received, x.served, None, finish="length")},
    )
    server.when(lambda received: received.task == "text", cut)
    done = check(PAID, "--budget", "1")
    assert done.exit_code == 1
    assert "m spent its limit of tokens on thinking: raise the limit" in done.stdout
    model = changed(done, PAID, tmp_path, server.openai_url)
    assert model.parameters == {"max_completion_tokens": 400}


def test_a_rate_limit_is_named_and_not_tried_again(check, server):
    server.when(lambda received: received.task == "text", faults.RATE_LIMITED)
    done = check(JUDGE)
    assert done.exit_code == 1
    assert "takes fewer requests for now: wait a minute, or set requests_per_minute" in done.stdout
    assert len(asked(server)) == 2


def test_pictures_are_decoded_and_measured(check, server):
    server.answer = paint
    done = check(PAINTER, "--budget", "1")
    assert results(done) == {"paints": True, "edits": False}, done.output
    assert "64 × 64 px" in done.stdout
    assert "It is 32 × 32 px, but a width of 64 px was requested." in done.stdout
    assert done.exit_code == 1


def paint(received):
    """A picture of the size that is asked for, and an edited one of half of it."""
    side = 32 if received.images else 64
    return pictures.png(received.digest, side, side)


def test_a_metric_of_ones_own_is_asked_for_the_right_and_a_wrong_text(check, tmp_path, monkeypatch):
    (tmp_path / "check_metrics.py").write_text(
        "def likes_numbers(picture, text):\n    return float('number' in text)\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    done = check(
        "- {{name: m, backend: python, model: 'check_metrics:likes_numbers', family: f, "
        'roles: [metric], parameters: {{version: "1"}}, price: {{per_gpu_hour: 0}}}}'
    )
    assert done.exit_code == 0, done.output
    assert re.search(r"scores the right text +works +1 ", done.stdout)
    assert re.search(r"scores a wrong text +works: lower, as it should be +0 ", done.stdout)


@pytest.mark.parametrize(
    ("line", "words"),
    [
        (PAID.replace("name: m", "name: other"), "'m' is not in"),
        (
            "- {{name: m, backend: stand_in, model: prior, family: f, roles: [judge]}}",
            "m is asked nothing: a stand-in, or files. Check another entry.",
        ),
    ],
)
def test_an_entry_that_cannot_be_checked_is_named(check, line, words):
    done = check(line)
    assert done.exit_code == 2
    assert words in done.stderr
