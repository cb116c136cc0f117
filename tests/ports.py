"""Ports for servers that tests start, among those that nobody is given by chance."""

import os
import socket
from itertools import count

_EACH = 32
"""So many are looked at by this process before those of the next one."""
_looked_at = count(10_000 + os.getpid() * _EACH % 20_000)


def free_port() -> int:
    """The next port on loopback at which nobody listens; never the same one twice."""
    return next(filter(_is_free, _looked_at))


def _is_free(port: int) -> bool:
    try:
        socket.create_server(("127.0.0.1", port)).close()
    except OSError:
        return False
    return True
