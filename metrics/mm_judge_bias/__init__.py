"""MM-JudgeBias: how far a score moves with an instruction or picture, where it should or not."""
