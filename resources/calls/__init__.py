"""The call store: every answer that was ever paid for, and who is asking for one now."""

from resources.calls.call import Call, StoredAnswer
from resources.calls.damaged_answers import DamagedAnswers
from resources.calls.store import CallStore

__all__ = ["Call", "CallStore", "DamagedAnswers", "StoredAnswer"]
