"""``python -m limbic``: the same as the command ``limbic``."""

from limbic.cli import main

if __name__ == "__main__":  # whoever walks the package imports this too
    main()
