"""Tools that a model may call."""
