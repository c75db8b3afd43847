"""`python -m lakeward_cli`, which is the `lakeward` command, whose script comes with the client."""

from __future__ import annotations

from lakeward.cli.main import main

if __name__ == "__main__":
    main()
