import { keyword, positional } from "../../python/file.ts";
import type { PythonFile } from "../../python/file.ts";
import type { Call, Expr } from "../../python/tree.ts";

/**
 * What a file imports by names that it puts together: of `import_module("losses." + kind)` it is known that it is a module of
 * that package, whichever. That is written `losses.`, with nothing behind the dot.
 */
export function importedByName(file: PythonFile): readonly string[] {
  return file.callsNamed("import_module", "__import__").flatMap((call) => {
    const name = isImport(call, file) ? positional(call, 0) : null;
    const text = name && begins(name, file, 0);
    if (!text) return [];
    if (text.all && !text.start.startsWith(".")) return [file.importedModule(text.start)];
    const start = text.start.slice(0, text.start.lastIndexOf(".") + 1);
    // `import_module("." + kind, package="losses")`
    if (start.startsWith(".")) {
      const from = keyword(call, "package")?.value ?? positional(call, 1);
      return start === "." && from?.kind === "Str" && from.value
        ? [`${file.importedModule(from.value)}.`]
        : [];
    }
    return start === "" ? [] : [`${file.importedModule(start.slice(0, -1))}.`];
  });
}

function isImport({ func }: Call, file: PythonFile): boolean {
  return /^(?:importlib\.import_module|builtins\.__import__)$/.test(file.dotted(func) ?? "");
}

/** How the text that comes of an expression begins, and whether that is all of it. */
function begins(
  expr: Expr,
  file: PythonFile,
  depth: number,
): { readonly start: string; readonly all: boolean } | null {
  if (depth > 8) return null;
  if (expr.kind === "Str") {
    if (expr.bytes) return null;
    if (expr.value !== null) return { start: expr.value, all: true };
    // `f"losses.{kind}"`
    const start = /^[fF]["']+([\w.]*)\{/.exec(file.textOf(expr))?.[1];
    return start === undefined ? null : { start, all: false };
  }
  if (expr.kind === "Name") {
    const made = file.scopes.onlyValue(expr);
    return made && begins(made, file, depth + 1);
  }
  if (expr.kind === "Binary" && (expr.op === "+" || expr.op === "%")) {
    const left = begins(expr.left, file, depth + 1);
    return left && { start: left.start.replace(/%.*/s, ""), all: false };
  }
  if (expr.kind !== "Call" || expr.func.kind !== "Attribute" || expr.func.value.kind !== "Str") return null;
  const { value } = expr.func.value;
  // `"losses.{}".format(kind)`
  if (expr.func.attr === "format" && value !== null) return { start: value.replace(/\{.*/s, ""), all: false };
  // `".".join(["losses", kind])`
  const parts = expr.func.attr === "join" && value === "." ? positional(expr, 0) : null;
  const first = parts?.kind === "List" || parts?.kind === "Tuple" ? parts.items[0] : undefined;
  const folder = first && begins(first, file, depth + 1);
  return folder?.all ? { start: `${folder.start}.`, all: false } : null;
}
