"""Scenarios: frozen, validated descriptions of a run."""
