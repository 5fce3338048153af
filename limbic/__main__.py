"""``python -m limbic``: the same as the command ``limbic``."""

from limbic.cli import main

main()
