"""Build-time code, run by `scripts/generate`: `spec/` in, `generated/` out. Not distributed."""
