"""The console script `counterfactory`: one file per subcommand."""
