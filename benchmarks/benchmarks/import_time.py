"""How long a fresh interpreter takes to import limbic."""

import subprocess
import sys


class ImportTime:
    """Each import in a process of its own; what an empty interpreter needs is beside it."""

    params = ["pass", "import numpy", "import limbic", "import limbic.diversity"]  # noqa: RUF012
    param_names = ["statement"]  # noqa: RUF012
    number = 1

    def time_import(self, statement):
        subprocess.run([sys.executable, "-c", statement], check=True)
