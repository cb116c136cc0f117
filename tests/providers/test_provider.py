"""The server itself: plans, counts, misuse, a process of its own."""

import asyncio
import json
import os
import socket
import time
from contextlib import suppress
from dataclasses import replace

import httpx2
import psutil
import pytest

from generators.prompts.rating_prompts import write_filter_prompt, write_rating_prompt
from metrics.reply_parsing.ratings import read_rating
from tests.providers import Provider, Received, Response, faults, provider_process
from tests.providers.process import ProviderProcess
from tests.waiting import wait_for

BODY = {"model": "m", "messages": [{"role": "user", "content": "a"}]}


@pytest.fixture
def server():
    with Provider() as server:
        yield server


def send(server, prompt="a", path="/v1/chat/completions"):
    body = {"model": "m", "messages": [{"role": "user", "content": prompt}]}
    return httpx2.post(f"{server.url}{path}", json=body, timeout=300).status_code


def send_all(server, prompts):
    async def run():
        async with httpx2.AsyncClient(limits=httpx2.Limits(max_connections=64)) as client:
            bodies = [{"model": "m", "messages": [{"role": "user", "content": p}]} for p in prompts]
            url = f"{server.url}/v1/chat/completions"
            return [
                reply.status_code
                for reply in await asyncio.gather(
                    *(client.post(url, json=body, timeout=300) for body in bodies)
                )
            ]

    return asyncio.run(run())


def test_a_script_is_for_the_next_requests(server):
    server.script([faults.OVERLOADED, faults.NORMAL])
    server.script([faults.RATE_LIMITED])
    assert [send(server) for _ in range(4)] == [503, 200, 429, 200]


def test_always_is_until_it_is_cleared(server):
    server.always(faults.OVERLOADED)
    assert [send(server), send(server)] == [503, 503]
    server.clear()
    assert send(server) == 200


def test_a_rule_is_for_requests_that_match_and_comes_first(server):
    server.script([faults.OVERLOADED])
    server.when(lambda received: "zebra" in received.texts, faults.INVALID_REQUEST, times=2)
    sent = [send(server, prompt) for prompt in ("zebra", "horse", "zebra", "zebra")]
    assert sent == [400, 503, 400, 200]


def test_shares_do_not_depend_on_the_order_in_which_requests_arrive(server):
    prompts = [str(number) for number in range(300)]
    shares = {faults.OVERLOADED: 0.2, faults.RATE_LIMITED: 0.1}
    server.shares(shares, seed=1)
    first = send_all(server, prompts)
    again = send_all(server, prompts)
    server.clear()
    server.shares(shares, seed=1)
    assert send_all(server, prompts[::-1])[::-1] == first
    assert again != first, "a request that is sent again has a new fate"
    assert 40 < first.count(503) < 80
    assert 15 < first.count(429) < 45
    server.clear()
    server.shares(shares, seed=2)
    assert send_all(server, prompts) not in (first, again)


def test_shares_spare_requests_that_they_do_not_suit(server):
    server.shares({faults.NOT_A_PICTURE: 1.0})
    assert send(server) == 200
    with pytest.raises(ValueError, match="more than all"):
        server.shares({faults.OVERLOADED: 0.6, faults.RATE_LIMITED: 0.6})


def test_an_answer_may_be_a_fault_or_a_reply_as_it_is_sent(server):
    server.answer = lambda received: faults.OVERLOADED
    assert send(server) == 503
    server.answer = lambda received: Response(b"", 418)
    assert send(server) == 418


def test_requests_are_counted_timed_and_seen_together():
    with Provider() as server:
        server.held = lambda _: server.most_in_flight < 8
        before = time.monotonic()
        send_all(server, [str(number) for number in range(8)])
        assert server.count == 8
        assert server.most_in_flight == 8
        assert server.in_flight == 0
        starts = [received.at for received in server.received]
        assert before < min(starts)
        assert max(starts) < time.monotonic()
        assert starts == sorted(starts)


def test_a_client_that_leaves_is_in_flight_no_more(server):
    server.always(faults.SLOW.for_seconds(600))
    with asking(server):
        wait_for(lambda: server.in_flight == 1)
    wait_for(lambda: server.in_flight == 0)


def test_the_end_does_not_wait_for_replies_under_way():
    with Provider() as server:
        server.script([faults.SLOW.for_seconds(600), faults.DRIPPING])
        waiting = [asking(server) for _ in range(2)]
        wait_for(lambda: server.count == 2)
    for connection in waiting:
        with connection, suppress(ConnectionResetError):
            while connection.recv(1000):
                pass


def asking(server):
    body = json.dumps(BODY).encode()
    head = f"POST /v1/chat/completions HTTP/1.1\r\nContent-Length: {len(body)}\r\n\r\n"
    connection = socket.create_connection(("127.0.0.1", httpx2.URL(server.url).port), timeout=300)
    connection.sendall(head.encode() + body)
    return connection


@pytest.mark.parametrize(
    ("provoke", "complaint"),
    [
        (lambda server: send(server, path="/v1/responses"), "No provider has POST /v1/responses"),
        (lambda server: server.always(faults.NOT_A_PICTURE) or send(server), "no such text reply"),
        (lambda server: setattr(server, "answer", lambda _: 1 / 0) or send(server), "division"),
        (lambda server: setattr(server, "answer", lambda _: b"") or send(server), "give a str"),
    ],
    ids=["path", "fault", "error", "bytes"],
)
def test_a_mistake_of_a_test_is_raised_at_its_end(provoke, complaint):
    with pytest.raises(Exception, match=complaint), Provider() as server:
        assert provoke(server) == 500


def test_a_port_that_is_taken_is_an_error_at_once(server):
    port = httpx2.URL(server.url).port
    with pytest.raises(OSError, match="in use"), Provider(port=port):
        pass


def test_what_is_asked_has_one_digest_whatever_its_form():
    def received(**changes):
        same = Received("openai", "/v1", "text", {"a": "b"}, b"form", 1.0, "m", ("t",), (b"i",))
        return replace(same, **changes)

    assert received().digest == received(headers={}, body=b"", at=2.0, path="/").digest
    asked = [{"model": "n"}, {"texts": ("u",)}, {"images": (b"j",)}, {"parameters": {"n": 1}}]
    assert len({received(**change).digest for change in [{}, *asked]}) == 5
    slim = received().without_bodies()
    assert (slim.images, slim.digest) == ((), received().digest)


@pytest.fixture(scope="module")
def process():
    with provider_process(latency_s=0.01) as process:
        yield process


def test_a_process_of_its_own_says_what_it_received(process: ProviderProcess):
    assert process.pid != os.getpid()
    before = process.count
    assert send_all(process, ["a", "b", "a"]) == [200] * 3
    summary = process.received()
    assert summary["count"] == process.count == before + 3
    assert summary["most_in_flight"] >= 1
    assert summary["paths"] == {"/v1/chat/completions": before + 3}
    assert len(summary["at"]) == before + 3
    assert len(set(summary["digests"][before:])) == 2


def test_a_process_of_its_own_follows_a_plan(process: ProviderProcess):
    process.plan(script=["503", ["429 retry-after", 2.5]], always="500")
    assert [send(process) for _ in range(3)] == [503, 429, 500]
    process.plan(clear=True, shares=[["503", 1.0]], seed=3, latency_s=0.0)
    assert send(process) == 503
    process.plan(clear=True)
    assert send(process) == 200


def test_a_process_of_its_own_ends_with_its_block():
    with provider_process(key="k") as process:
        assert send(process) == 401
    assert not psutil.pid_exists(process.pid)


def test_what_benchmarks_ask_is_answered_in_kind(server):
    def said(prompt):
        body = {"model": "m", "messages": [{"role": "user", "content": prompt}]}
        reply = client.post(f"{server.url}/v1/chat/completions", json=body, timeout=300).json()
        return reply["choices"][0]["message"]["content"]

    texts = [f"A dog beside {number} rocks." for number in range(40)]
    asked = [f"{text} Answer in curly brackets, e.g., {{Yes}} or {{No}}." for text in texts]
    with httpx2.Client() as client:
        filtered = [read_rating(said(write_filter_prompt(text)), 1, 10).score for text in texts]
        assert None not in filtered
        assert 0.3 < sum(score >= 8 for score in filtered) / len(texts) < 0.95
        assert {read_rating(said(write_rating_prompt(text)), 1, 4).score for text in texts} == {
            1,
            2,
            3,
            4,
        }
        assert {said(question) for question in asked} == {"{Yes}", "{No}"}
        assert said("How many rocks are there?")[1:-1].isdigit()
