"""ProtoScore: a vision-language model that is trained to rank pairs (ProtoBias, §3.3)."""
