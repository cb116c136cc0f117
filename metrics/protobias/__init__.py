"""ProtoBias's numbers: failures, mean scores and margins of metrics on pairs of pictures."""
