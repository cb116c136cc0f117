"""The console script `counterfactory`: one file a subcommand."""
