import type { PythonFile } from "../python/file.ts";
import { last } from "./facts/torch-names.ts";

const PLACES = /(?:^|\/)(?:(?:tests?|testing)\/(?:.*\/)?[^/]+|test_[^/]*|[^/]*_test|tests?|conftest)\.py$/;

/** Inside what is audited, not around it. */
const FOLDER = /^(?!\.\.\/)(?:[^/:]+\/)*tests\//;

/** A program that some keep there beside their other scripts. */
const PROGRAM = /\/(?:pre)?train(?!\w*_tests?\.py$)(?:_\w+)?\.py$/;

/** The same of a text that nobody parses, as it has nothing for any rule. */
export function isTestText(path: string, text: string): boolean {
  return PLACES.test(path) && /^(?:def test_|(?:import|from) (?:pytest|unittest)\b)/m.test(text);
}

/** A file of unit tests: it trains toys to look at them, so what it costs matters to nobody, and what it calls is not hot for it. */
export function isUnitTest(file: PythonFile, inside: string): boolean {
  return (
    PLACES.test(file.path) &&
    // A program that asserts something looks at toys, too, unless it takes options.
    ((FOLDER.test(inside) &&
      !(
        PROGRAM.test(inside) &&
        (file.all("Assert").length === 0 || file.callsNamed("add_argument").length > 0)
      )) ||
      // `def test_model(model, loader)` evaluates, and asserts nothing.
      file
        .all("FunctionDef")
        .some(
          ({ name, params }) =>
            /^test(?:_|[A-Z])/.test(name) && (params.length === 0 || file.all("Assert").length > 0),
        ) ||
      // `test.py` beside an operator of one's own, which it compares with PyTorch's.
      (file.callsNamed("gradcheck", "allclose", "assert_close").length > 0 &&
        file.callsNamed("step").length === 0) ||
      file
        .all("ClassDef")
        .some((cls) => cls.args.some((arg) => last(file.dotted(arg.value) ?? "").endsWith("TestCase"))) ||
      file.all("Alias").some((alias) => /^(?:pytest|unittest)(?:\.|$)/.test(file.importedName(alias))))
  );
}
