"""Benchmarks of limbic; each file measures one part."""
