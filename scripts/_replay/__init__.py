"""Recorded scenarios, driven through the agent loop."""
