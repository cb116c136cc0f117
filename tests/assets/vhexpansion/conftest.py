"""Fixtures of other folders that attacks on several devices use."""

from tests.forked_devices import device_server, forked_devices

__all__ = ["device_server", "forked_devices"]
