"""A provider of models on this machine: real HTTP, and every fault that a real one has.

from tests.providers import Provider, faults

with Provider(answer=lambda received: "{5}") as server:
    client = AsyncOpenAI(base_url=server.openai_url, api_key="k", max_retries=0)
    server.script([faults.RETRY_AFTER.for_seconds(0.2), faults.HALF_BODY])
    ...
    assert server.received[0].texts == ("How many legs?",)
"""

from tests.providers import faults
from tests.providers.batches import Batch, Course
from tests.providers.faults import Fault
from tests.providers.http import Response, closed_port
from tests.providers.process import ProviderProcess, provider_process
from tests.providers.received import Received
from tests.providers.server import Answer, Provider, default_answer

__all__ = [
    "Answer",
    "Batch",
    "Course",
    "Fault",
    "Provider",
    "ProviderProcess",
    "Received",
    "Response",
    "closed_port",
    "default_answer",
    "faults",
    "provider_process",
]
