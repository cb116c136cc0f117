"""Connections that are slow, break, or lead elsewhere."""

from dataclasses import replace

from tests.providers.faults.base import Make, fault_called
from tests.providers.http import Delivery, Response

NORMAL = fault_called("normal", lambda x: x.normal())


def _delivered(delivery: Delivery) -> Make:
    return lambda x: replace(x.normal(), delivery=delivery)


SLOW = fault_called("slow", lambda x: replace(x.normal(), delay=x.seconds))
DROPPED = fault_called("dropped before the reply", _delivered("nothing"))
RESET = fault_called("reset before the reply", _delivered("reset"))
HALF_HEADERS = fault_called("dropped in the headers", _delivered("half the headers"))
HALF_BODY = fault_called("dropped in the body", _delivered("half the body"))
DRIPPING = fault_called("dripping", _delivered("dripping"))
REDIRECTED = fault_called(
    "redirected",
    lambda x: Response(b"", 307, {"Location": f"/elsewhere{x.received.path}"}),
)
