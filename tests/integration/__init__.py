"""Tests with real components."""
