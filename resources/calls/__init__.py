"""The call store: every answer that was ever paid for, and who is asking for one now."""

from resources.calls.call import Answer, Call
from resources.calls.damage import DamagedAnswers
from resources.calls.store import CallStore

__all__ = ["Answer", "Call", "CallStore", "DamagedAnswers"]
