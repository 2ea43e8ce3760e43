"""Build-time code, run by `scripts/check_schemas`; not distributed."""
