"""`python -m lakeward_cli`, and the `lakeward` script."""

from __future__ import annotations

from lakeward_cli.main import main

if __name__ == "__main__":
    main()
