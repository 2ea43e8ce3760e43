"""The adapter as a process."""

from __future__ import annotations

import sys

from ._serve import serve

answers = sys.stdout.buffer
# Whatever prints must not get between the answers.
sys.stdout = sys.stderr
serve(sys.stdin.buffer, answers)
