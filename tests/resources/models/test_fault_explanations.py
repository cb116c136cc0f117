"""What providers' and servers' own words for an error are explained as, in one sentence."""

import pytest

from resources.models.catalog import Model
from resources.models.fault_explanations import HOPELESS, explain_fault, explain_missing_key

FIELDS = {"name": "m", "model": "m-1", "family": "f", "roles": ("judge",)}
SERVED = Model(backend="openai_compatible", base_url="http://localhost:8000/v1", **FIELDS)
HOSTED = Model(backend="openai", **FIELDS)
TOO_LARGE = (
    "HTTP 400: 'max_tokens' or 'max_completion_tokens' is too large: 16000. This model's maximum "
    "context length is 4096 tokens and your request has 512 input tokens (16000 > 4096 - 512)."
)
PROMPT = (
    "HTTP 400: The prompt (total length 25938) is too long to fit into the model (context length "
    "4096). Make sure that `max_model_len` is no smaller than the number of text tokens plus "
    "multimodal tokens."
)


@pytest.mark.parametrize(
    ("words", "cause"),
    [
        (
            "HTTP 400: Invalid type. image_url is only supported by certain models.",
            "vision",
        ),
        ("HTTP 400: This model does not support image inputs", "vision"),
        ("HTTP 400: Image input modality is not enabled for models/gemma-3-1b-it", "vision"),
        ("HTTP 404: No endpoints found that support image input", "vision"),
        ("HTTP 400: Qwen2.5-7B-Instruct is not a multimodal model", "vision"),
        ("HTTP 400: At most 0 image(s) may be provided in one prompt.", "vision"),
        ("HTTP 500: this model is missing data required for image input", "vision"),
        ("HTTP 500: image input is not supported - hint: provide the mmproj", "vision"),
        ("HTTP 400: unknown variant `image_url`, expected `text`", "vision"),
        (TOO_LARGE, "context"),
        (PROMPT, "context"),
        ("HTTP 400: the request exceeds the available context size", "context"),
        ("HTTP 401: Incorrect API key provided: [key].", "key"),
        ("HTTP 400: API key not valid. Please pass a valid API key.", "key"),
        ("HTTP 403: Your API key does not have permission to use it.", "permission"),
        ("HTTP 402: Insufficient credits. Add more.", "credit"),
        ("HTTP 429: You exceeded your current quota, please check your plan.", "credit"),
        ("HTTP 400: Your credit balance is too low to access the Anthropic API.", "credit"),
        ("HTTP 429: You exceeded your current quota. Please retry in 7s.", "rate"),
        ("HTTP 429: Rate limit reached for m-1 on requests per min (RPM): Limit 3", "rate"),
        ("HTTP 529: Overloaded", "rate"),
        ("ProxyError: 407 Proxy Authentication Required", "proxy"),
        ("HTTP 407: <html>Log in</html>", "proxy"),
        ("ConnectError: [SSL: CERTIFICATE_VERIFY_FAILED] self-signed certificate", "certificate"),
        ("ConnectError: [SSL: WRONG_VERSION_NUMBER] wrong version number", "certificate"),
        ("HTTP 403: <html>Blocked by your organization</html>", "web page"),
        ("The reply is not what this API sends: the body: no JSON (Expecting value)", "web page"),
        ("HTTP 302: the server redirects to https://login.example.org, and", "redirect"),
        ("ConnectError: All connection attempts failed", "connection"),
        ("HTTP 404: The model `m-1` does not exist", "model"),
        ("HTTP 502: <html><h1>502 Bad Gateway</h1></html>", "server"),
        ("HTTP 400: guided decoding: the schema is not supported", "schema"),
        ("No whole reply within 300 s.", "deadline"),
        ("m used up its limit of tokens before it answered: raise max_tokens", "limit"),
        ("Unknown (top_k is set in models.yaml, for every request)", "parameter"),
        ("HTTP 418: I am a teapot", "other"),
    ],
)
def test_a_providers_words_have_a_cause_and_one_sentence(words, cause):
    explanation = explain_fault(SERVED, words, has_picture=True)
    assert explanation.cause == cause
    assert words.rstrip(".")[:60] in explanation.sentence
    assert "\n" not in explanation.sentence
    assert explanation.sentence.endswith(".")


@pytest.mark.parametrize(
    ("model", "words", "remedy"),
    [
        (SERVED, "HTTP 401: Unauthorized", "write `key: MY_SERVER_KEY` in the entry"),
        (HOSTED, "HTTP 401: Wrong", "OpenAI refuses the key in OPENAI_API_KEY: set OPENAI_API_KEY"),
        (HOSTED, "HTTP 403: No", "OpenAI does not let this key use m-1: allow it there"),
        (SERVED, "HTTP 404: Not Found", "correct `model`, or `base_url`, which mostly ends in /v1"),
        (HOSTED, "HTTP 404: None", "OpenAI has no model m-1: correct `model`"),
        (SERVED, "ConnectError: refused", "start the server, or correct base_url"),
        (HOSTED, "ConnectError: refused", "OpenAI cannot be reached: check the network"),
        (SERVED, "ConnectError: [SSL: CERTIFICATE_VERIFY_FAILED]", "set SSL_CERT_FILE to a file"),
        (SERVED, "ConnectError: [SSL: WRONG_VERSION_NUMBER]", "write http:// in base_url"),
        (SERVED, TOO_LARGE, "start the server with a larger one (vLLM: --max-model-len)"),
    ],
)
def test_the_remedy_names_what_the_entry_has(model, words, remedy):
    assert remedy in explain_fault(model, words).sentence


def test_a_wrong_id_has_the_nearest_one_that_is_listed():
    def explain(*listed):
        return explain_fault(SERVED, "HTTP 404: no such model", listed_ids=listed).sentence

    assert "has no model m-1: did you mean m-2? Correct `model`" in explain("m-2", "other")
    assert "has no model m-1: correct `model`" in explain("another")
    assert "which mostly ends in /v1" in explain("m-1")


def test_words_about_pictures_are_another_matter_where_none_was_sent():
    assert explain_fault(HOSTED, "HTTP 400: image_url: bad", has_picture=False).cause == "other"


def test_long_words_are_cut():
    sentence = explain_fault(HOSTED, "HTTP 418: " + "tea " * 200).sentence
    assert len(sentence) < 300
    assert sentence.endswith("…).")


def test_a_key_that_is_not_set_is_named_with_its_variable():
    explanation = explain_missing_key(HOSTED)
    assert explanation.cause in HOPELESS
    assert explanation.sentence.startswith("OPENAI_API_KEY is not set: put the API key into it")
