"""Crashes, outages and races."""
