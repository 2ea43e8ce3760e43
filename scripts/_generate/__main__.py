"""`scripts/generate [--check]`: write `generated/`, or say where it is not what `spec/` gives."""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

from . import typescript
from .bundle import bundle, homes
from .data import PACKAGE as DATA_PACKAGE
from .data import compile_rules, load_yaml, write_data, write_json
from .errors import GenerateError
from .examples import load_cases, loop_examples, rule_examples, write_lines
from .layout import BUNDLES, HERE, Layout
from .lint import lint
from .models import PACKAGE as MODELS_PACKAGE
from .models import modules, write_models
from .schemas import load_schemas
from .tree import differences, files_below, synchronize


def main() -> int:
    """Run the command line; 0 is fine, 1 is drift or sources that cannot be used."""
    parser = argparse.ArgumentParser(prog="scripts/generate", description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 on drift")
    arguments = parser.parse_args()
    try:
        with tempfile.TemporaryDirectory(prefix="dsh-protocol-") as work:
            return _generate(HERE, Path(work), check=arguments.check)
    except GenerateError as error:
        for problem in error.problems:
            print(problem, file=sys.stderr)
        print("generate: stopped, nothing was written", file=sys.stderr)
        return 1


def _generate(layout: Layout, work: Path, *, check: bool) -> int:
    skipped = typescript.why_not()
    if skipped:
        print(f"generate: TypeScript skipped: {skipped}")
    output = work / "generated"
    build(layout, output, work, with_typescript=skipped is None)
    ignored = ("typescript/",) if skipped else ()
    count = len(files_below(output))
    if not check:
        changes = synchronize(output, layout.generated, ignored)
        for line in changes:
            print(f"generated/{line}")
        print(f"generate: {count} files, {len(changes)} changed")
        return 0
    drift = list(differences(output, layout.generated, ignored))
    for line in drift:
        print(f"generated/{line}", file=sys.stderr)
    if drift:
        print(
            f"generate: {len(drift)} of {count} files differ; run scripts/generate", file=sys.stderr
        )
        return 1
    print(f"generate: {count} files are what spec/ gives")
    return 0


def build(layout: Layout, output: Path, work: Path, *, with_typescript: bool) -> None:
    """Build everything below `output`; `work` is an empty folder for intermediate files.

    Raises:
        GenerateError: with every reason that could be found.
    """
    files = load_schemas(layout.spec)
    problems = lint(files)
    if problems:
        raise GenerateError(*problems)
    bundles = {kind.name: bundle(kind, files) for kind in BUNDLES}
    for name, schema in bundles.items():
        write_json(output / "bundled" / f"{name}.schema.json", schema)
    data = output / "python" / DATA_PACKAGE
    write_data(layout.spec, bundles, data)
    cases = load_cases(layout.suites)
    write_lines(data / "rule_examples.json", rule_examples(compile_rules(layout.spec), cases))
    written = load_yaml(layout.spec, "loop/rules")["rules"]
    write_lines(data / "loop_examples.json", loop_examples(written, cases))
    write_json(data / "models.json", {kind.name: modules(homes(kind, files)) for kind in BUNDLES})
    write_models(files, output / "python" / MODELS_PACKAGE, work)
    if with_typescript:
        tools = layout.typescript_tools
        typescript.write_types(bundles, tools, output / "typescript", work)


if __name__ == "__main__":
    sys.exit(main())
