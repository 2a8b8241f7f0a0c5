import type { PythonFile } from "../python/file.ts";
import { last } from "./facts/torch-names.ts";

const PLACES = /(?:^|\/)(?:(?:tests?|testing)\/(?:.*\/)?[^/]+|test_[^/]*|[^/]*_test|conftest)\.py$/;

/** Inside what is audited, not around it. */
const FOLDER = /^(?!\.\.\/)(?:[^/:]+\/)*tests\//;

/** A file of unit tests: it trains toys to look at them, so what it costs matters to nobody, and what it calls is not hot for it. */
export function isUnitTest(file: PythonFile): boolean {
  return (
    PLACES.test(file.path) &&
    (FOLDER.test(file.path) ||
      file.all("FunctionDef").some((fn) => fn.name.startsWith("test_")) ||
      file
        .all("ClassDef")
        .some((cls) => cls.args.some((arg) => last(file.dotted(arg.value) ?? "").endsWith("TestCase"))) ||
      file.all("Alias").some((alias) => /^(?:pytest|unittest)(?:\.|$)/.test(file.importedName(alias))))
  );
}
