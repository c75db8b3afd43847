"""The `lakeward` command."""
