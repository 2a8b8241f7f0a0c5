import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { PythonFile } from "../../src/python/file.ts";
import type { Node } from "../../src/python/tree.ts";
import { python } from "../support/python.ts";

/**
 * Where each node begins and ends, by CPython's own parser: what a message quotes and a fix replaces. Three differ by design: a
 * generator that is a call's only argument is without the call's parentheses here, `*x` of a call is an argument, and
 * `del (a, b)` drops two names, as `del a, b` does.
 */
const RANGES = `
import ast, json, sys
KINDS = {
    "BinOp": "Binary", "BoolOp": "Bool", "Compare": "Compare", "IfExp": "IfExp", "UnaryOp": "Unary", "Lambda": "Lambda",
    "Await": "Await", "Yield": "Yield", "YieldFrom": "Yield", "NamedExpr": "Walrus", "Call": "Call", "Name": "Name",
    "Attribute": "Attribute", "Subscript": "Subscript", "Tuple": "Tuple", "List": "List", "Dict": "Dict", "Set": "Set",
    "ListComp": "Comp", "SetComp": "Comp", "DictComp": "Comp", "keyword": "Arg", "Assign": "Assign", "AugAssign": "AugAssign",
    "Return": "Return", "Expr": "ExprStmt", "Raise": "Raise", "Assert": "Assert", "Delete": "Delete", "For": "For",
    "While": "While", "If": "If", "With": "With", "Try": "Try", "Import": "Import", "ImportFrom": "ImportFrom",
}
found = []
for path in sys.argv[1:]:
    text = open(path, encoding="utf-8", newline="").read()
    starts = [0]
    for line in text.split("\\n"):
        starts.append(starts[-1] + len(line) + 1)
    lines = text.split("\\n")
    at = lambda line, column: starts[line - 1] + len(lines[line - 1].encode()[:column].decode())
    tree = ast.parse(text)
    # Before 3.12 what stands in an f-string has no place of its own.
    dropped = {n for s in ast.walk(tree) if isinstance(s, ast.Delete) for n in s.targets if isinstance(n, ast.Tuple)}
    inside = dropped | {n for s in ast.walk(tree) if isinstance(s, ast.JoinedStr) for n in ast.walk(s)}
    found.append([
        [KINDS[type(n).__name__], at(n.lineno, n.col_offset), at(n.end_lineno, n.end_col_offset)]
        for n in ast.walk(tree) if type(n).__name__ in KINDS and n not in inside
    ])
json.dump(found, sys.stdout)
`;

const SAMPLES = new URL("../audit/samples/", import.meta.url).pathname;

async function expectSameRanges(paths: readonly string[]): Promise<number> {
  const theirs = JSON.parse(await python(RANGES, paths)) as [Node["kind"], number, number][][];
  let count = 0;
  for (const [at, path] of paths.entries()) {
    const text = readFileSync(path, "utf8");
    const file = new PythonFile(path, text);
    const ours = new Map<string, Set<string>>();
    for (const [kind, start, end] of theirs[at]!) {
      let places = ours.get(kind);
      if (!places) ours.set(kind, (places = new Set(file.all(kind).map((n) => `${n.start}-${n.end}`))));
      if (!places.has(`${start}-${end}`)) expect.fail(`${path}: no ${kind} at \`${text.slice(start, end)}\``);
      count++;
    }
  }
  return count;
}

describe("nodes begin and end where CPython says", () => {
  it("in every sample", async () => {
    const paths = readdirSync(SAMPLES)
      .filter((name) => name.endsWith(".py"))
      .map((name) => join(SAMPLES, name));
    expect(await expectSameRanges(paths)).toBeGreaterThan(100_000);
  });

  it("with operands in parentheses of their own", async () => {
    expect(await expectSameRanges([join(SAMPLES, "../../fixtures/python/parentheses.py")])).toBeGreaterThan(
      100,
    );
  });
});
