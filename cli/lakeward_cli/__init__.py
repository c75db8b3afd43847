"""The `lakeward` command: what is started, in which composition, and how it ends."""
