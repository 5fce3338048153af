"""What holds for the package as a whole."""

from importlib.metadata import version

import limbic


def test_version_is_the_one_of_the_installed_distribution():
    assert limbic.__version__ == version("limbic-memory")
