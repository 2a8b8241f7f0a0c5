import type { PythonFile } from "../../python/file.ts";
import { ancestors, lastWord, namesIn, walk } from "../../python/nodes.ts";
import type { Call, Expr, Node } from "../../python/tree.ts";

export const ATTENTION = /^torch\.nn\.(?:modules\.activation\.)?MultiheadAttention$/;

/**
 * What torch's attention goes by in a file, however it comes to be called that: an attribute, an entry of a list or dict of
 * layers, what a loop takes out of one, what a function or class of the file makes of it.
 */
export function attentionNames(file: PythonFile): ReadonlySet<string> {
  const makers = [
    "MultiheadAttention",
    ...file
      .all("ClassDef")
      .filter(
        ({ args, body }) =>
          args.some(({ value }) => ATTENTION.test(file.dotted(value) ?? "")) &&
          !body.some((one) => one.kind === "FunctionDef" && one.name === "forward"),
      )
      .map(({ name }) => name),
  ];
  const isMade = (call: Call): boolean =>
    lastWord(call.func) !== "MultiheadAttention" || ATTENTION.test(file.dotted(call.func) ?? "");
  const names = new Set(file.callsNamed(...makers).flatMap((call) => (isMade(call) ? boundTo(call) : [])));
  if (names.size === 0) return names;
  for (const maker of makers.slice(1)) names.add(maker);
  for (const call of file.callsNamed(...names)) for (const name of boundTo(call)) names.add(name);
  const isOne = (expr: Expr): boolean => names.has(wordOf(expr));
  const takes = [...file.all("For"), ...file.all("Comp").flatMap(({ clauses }) => clauses)];
  // From a list of blocks to a block, and from that to its layer.
  for (let turn = 0; turn < 2; turn++) {
    for (const { iter, target } of takes)
      if (mentions(iter, names)) for (const { id } of namesIn(target)) names.add(id);
    for (const { targets, value } of file.all("Assign"))
      if (isOne(value)) for (const target of targets) names.add(wordOf(target));
  }
  names.delete("");
  return names;
}

/** `attn` of `self.attn`, `self.attn[0]`, and of `self.attn["self"]`. */
export function wordOf(expr: Expr): string {
  return expr.kind === "Subscript" ? wordOf(expr.value) : lastWord(expr);
}

/** `nn.MultiheadAttention(…)`, or something made of what goes by its names. */
export function mentionsAttention(expr: Expr, file: PythonFile): boolean {
  const names = file.once(attentionNames);
  let found = false;
  walk(expr, (node) => {
    if (node.kind === "Name" || node.kind === "Attribute")
      found ||=
        ATTENTION.test(file.dotted(node) ?? "") ||
        (node.parent?.kind === "Call" && names.has(lastWord(node)));
    return !found;
  });
  return found;
}

function mentions(expr: Expr, names: ReadonlySet<string>): boolean {
  if (names.has(wordOf(expr))) return true;
  return expr.kind === "Call"
    ? mentions(expr.func, names) || expr.args.some(({ value }) => mentions(value, names))
    : expr.kind === "Attribute" && mentions(expr.value, names);
}

/** Where what is made here ends up: a target, a list that it is appended to, the function that returns it. */
function boundTo(made: Call): string[] {
  let child: Node = made;
  for (const at of ancestors(made)) {
    if (at.kind === "Assign") return at.targets.flatMap((one) => (one === child ? [] : [wordOf(one)]));
    if (at.kind === "Call" && at.func.kind === "Attribute" && at.func !== child) {
      const { attr, value } = at.func;
      const [key] = at.args;
      if (attr === "append" || attr === "insert" || attr === "extend") return [wordOf(value)];
      if (attr === "add_module" || attr === "register_module")
        return key?.value.kind === "Str" && key.value.value ? [key.value.value] : [];
    }
    if (at.kind === "FunctionDef") return child.kind === "Return" ? [at.name] : [];
    if (at.kind === "Lambda" || at.kind === "ClassDef") return [];
    child = at;
  }
  return [];
}
