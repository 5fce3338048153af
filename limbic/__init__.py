"""limbic: the memory engine that Python agents use on their own machine."""

__version__ = "0.1.0"
