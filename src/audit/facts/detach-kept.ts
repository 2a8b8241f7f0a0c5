import type { PythonFile } from "../../python/file.ts";
import { blockOf, classOf, contains, functionOf, walk } from "../../python/nodes.ts";
import type { Assign, Attribute, Expr, FunctionDef, Name, Node } from "../../python/tree.ts";
import { indentAt } from "../edits.ts";
import type { Edit, Fix } from "../rule.ts";
import { selfAttribute } from "./classes.ts";
import { isCut } from "./cuts.ts";
import type { Facts } from "./facts.ts";
import { detach } from "./on-tensor.ts";

/** How what is kept in `self.x` loses its graph, while the function that keeps it goes on computing with what it has. */

/** The reads of an attribute in the very function that writes it that want more than its numbers. */
export function computedWith(
  reads: readonly Attribute[],
  fn: FunctionDef,
  facts: Facts,
): readonly Attribute[] {
  return reads.filter((read) => contains(fn, read) && !isCut(read, facts));
}

/** None where it is not seen that every read that needs the graph would still have it. */
export function detachKept(
  statement: Assign,
  value: Expr,
  computed: readonly Attribute[],
  facts: Facts,
): Fix | null {
  const [target] = statement.targets;
  // Of `out, self.state = cell(x)` the call gives both.
  if (target?.kind === "Tuple" && statement.value === value) return null;
  // `getattr(self, name)` may be a read of it as well.
  const fn = functionOf(statement);
  // `def record(self, inputs, output): self.out = output` for a hook: it is read off any module.
  if (fn && !classOf(fn)) return null;
  if (fn && /\b(?:getattr|vars|__dict__)\b/.test(facts.file.codeOf(fn))) return null;
  // What is changed in place would be changed behind the graph's back.
  if (target?.kind === "Attribute" && isChanged(target, facts.file)) return null;
  const edits = computed.length === 0 ? detach(value, facts) : detachApart(statement, computed, facts);
  return edits && { grade: "unsafe", title: "Detach what is kept", edits };
}

/** `self.feat[:, 0] = 0` or `self.feat += bias` in the function that has stored it. */
function isChanged(target: Attribute, file: PythonFile): boolean {
  const fn = functionOf(target);
  return (
    fn !== null &&
    file
      .all("Attribute")
      .some(
        (one) =>
          one.attr === target.attr &&
          contains(fn, one) &&
          isStoredTo(one) &&
          (one.parent?.kind !== "Assign" || !one.parent.targets.includes(one)),
      )
  );
}

/** `feat = self.body(x)`, `self.feat = feat.detach()`, and `feat` wherever this function reads `self.feat`. */
function detachApart(statement: Assign, computed: readonly Attribute[], facts: Facts): Edit[] | null {
  const { file } = facts;
  const { targets, value } = statement;
  const [target] = targets;
  const block = blockOf(statement);
  const fn = functionOf(statement);
  if (target?.kind !== "Attribute" || targets.length !== 1 || fn?.kind !== "FunctionDef" || !block)
    return null;
  const own = selfAttribute(target);
  if (own === null || statement.annotation || value.kind === "IfExp" || value.kind === "Bool") return null;
  if (detach(value, facts).length === 0) return null;
  // What runs after the statement runs after it for certain only in its own block.
  const after = block.slice(block.indexOf(statement) + 1);
  if (
    !computed.every(
      (read) =>
        selfAttribute(read) === own &&
        functionOf(read) === fn &&
        after.some((one) => contains(one, read)) &&
        !isStoredTo(read) &&
        !isInString(read),
    )
  )
    return null;
  // Written elsewhere, it may be another tensor by the time it is read.
  const isWrittenAgain = file.all("Attribute").some((one) => {
    if (one.attr !== own || one === target || !isStoredTo(one)) return false;
    const by = functionOf(one);
    return !(by?.kind === "FunctionDef" && by.name === "__init__");
  });
  if (isWrittenAgain) return null;
  // `self.feat = x`: the tensor has a name, which is still its own at every read.
  if (value.kind === "Name" && isStill(value, fn, file))
    return [...detach(value, facts), ...renamed(computed, value.id)];
  if (isNamed(own, fn)) return null;
  const { text, lines } = file;
  const line = lines.line(statement.start);
  const before = text.slice(lines.start(line), statement.start);
  const rest = text.slice(statement.end, lines.start(lines.line(statement.end) + 1));
  const isAlone = before.trim() === "" && /^\s*(?:#|$)/.test(rest);
  const ending = text.includes("\r\n") ? "\r\n" : "\n";
  const between = isAlone ? `${ending}${indentAt(file, statement.start)}` : "; ";
  return [
    { start: target.start, end: target.end, text: own },
    {
      start: statement.end,
      end: statement.end,
      text: `${between}${file.textOf(target)} = ${own}.detach()`,
    },
    ...renamed(computed, own),
  ];
}

function renamed(reads: readonly Attribute[], name: string): Edit[] {
  return reads.map(({ start, end }) => ({ start, end, text: name }));
}

/** Written, deleted, or changed in a part of it. */
function isStoredTo(node: Node): boolean {
  for (let at = node, { parent } = node; parent; at = parent, { parent } = parent)
    switch (parent.kind) {
      case "Assign":
        return parent.targets.includes(at as Expr);
      case "AugAssign":
      case "AnnAssign":
      case "For":
      case "WithItem":
      case "Clause":
        return parent.target === at;
      case "Delete":
        return true;
      case "Attribute":
      case "Tuple":
      case "List":
      case "Starred":
        break;
      case "Subscript":
        if (parent.value !== at) return false;
        break;
      default:
        return false;
    }
  return false;
}

/** In an f-string, which may say the name itself. */
function isInString(node: Node): boolean {
  for (let at = node.parent; at && at.kind !== "FunctionDef"; at = at.parent)
    if (at.kind === "Str") return true;
  return false;
}

/** Whether a name is the function's own, and given no other value from here on. */
function isStill(name: Name, fn: FunctionDef, { scopes }: PythonFile): boolean {
  const scope = scopes.lookup(name)?.scope;
  return (
    scope?.node === fn &&
    !scope.outer.has(name.id) &&
    (scope.bindings.get(name.id) ?? []).every(({ node }) => node.start < name.start)
  );
}

/** Whether a function says a name at all, as its own or as another's. */
function isNamed(name: string, fn: FunctionDef): boolean {
  let found = false;
  walk(fn, (node) => {
    if ((node.kind === "Name" && node.id === name) || (node.kind === "Param" && node.name === name))
      found = true;
    if ((node.kind === "Global" || node.kind === "Nonlocal") && node.names.includes(name)) found = true;
    if ((node.kind === "Alias" || node.kind === "FunctionDef") && node.name === name) found = true;
  });
  return found;
}
