from __future__ import annotations

import subprocess
import sys


def test_a_process_without_an_identity_provider_loads_neither_cryptography_nor_http() -> None:
    program = (
        "import sys, lakeward_authz.bootstrap\n"
        "print(sorted({'jwt', 'httpx', 'cryptography', 'sqlalchemy', 'alembic'} & set(sys.modules)))"
    )
    ran = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True)
    assert ran.stdout.strip() == "[]"
