"""Differential fuzzing: random and mutated logs, asked of this package and of the official runtime."""
