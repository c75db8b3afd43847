"""Real engines against a running Lakeward."""
