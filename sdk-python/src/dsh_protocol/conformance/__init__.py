"""The conformance corpus and its harness: ask any implementation, in any language, the same questions.

`conformance/README.md` describes cases, ops and the protocol between harness and adapter. The modules: `cases`
(what is asked), `judge` (whether an answer is right), `process` (an adapter as a process), `run` (all questions, one
after the other), `known` (failures that an implementer has explained), `report` (what came out), `trace` (which rule
is shown by which case), `lint` (the corpus itself), `smoke` (an adapter itself), `adapter` (the one for this package).
"""
