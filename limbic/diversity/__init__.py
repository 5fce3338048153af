"""Exact diversity selection (GIST)."""
