"""Build-time code, run by `scripts/docs`; not distributed."""
