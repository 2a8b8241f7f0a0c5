import { positional } from "../../python/file.ts";
import type { PythonFile } from "../../python/file.ts";
import { classOf, functionOf, lastWord } from "../../python/nodes.ts";
import type { Attribute, Call, ClassDef, Expr } from "../../python/tree.ts";
import { attributesOf, isSelf, selfAttribute } from "./classes.ts";
import type { Facts } from "./facts.ts";
import { isOptimised } from "./invariants.ts";
import { holdsOptions } from "./options.ts";
import { bare } from "./untrained.ts";
import { assignsOfKind } from "./assigns.ts";

/** What a method hands a network that is the same in every step: what the constructor put on self, an option, words that are written down. */

/** Literals and options of the class, tokens of these, and what it put on self in the constructor and leaves as it was. */
export function isKeptInput(given: Expr, facts: Facts): boolean {
  const { file } = facts;
  // `self.prompt["input_ids"].to(x.device)`
  const expr = partOf(bare(given));
  if (isTokenized(expr)) return expr.args.every(({ value }) => isWords(value) || isKeptInput(value, facts));
  // `[self.opt.prompt]`
  if (expr.kind === "List")
    return expr.items.length > 0 && expr.items.every((item) => isWords(item) || isKeptInput(item, facts));
  if (isOwnOption(expr)) return isKeptInput(expr.value, facts);
  const own = selfAttribute(expr);
  const cls = own === null ? null : classOf(expr);
  const writes = cls ? (attributesOf(cls, file).get(own!)?.writes ?? []) : [];
  return (
    (writes.length > 0 || (cls !== null && isBuffer(own!, cls, file))) &&
    writes.every(({ in: method, how }) => method.name === "__init__" && how !== "augment") &&
    !isFilledLater(own!, file) &&
    !isOptimised(expr, facts)
  );
}

/** `self.register_buffer("blank", torch.zeros(1, 3, 64, 64))` in the constructor. */
function isBuffer(own: string, cls: ClassDef, file: PythonFile): boolean {
  return file.callsNamed("register_buffer").some((call) => {
    const [name, fn] = [positional(call, 0), functionOf(call)];
    return (
      name?.kind === "Str" &&
      name.value === own &&
      classOf(call) === cls &&
      fn?.kind === "FunctionDef" &&
      fn.name === "__init__"
    );
  });
}

/** `self.opt.prompt` */
function isOwnOption(expr: Expr): expr is Attribute {
  return expr.kind === "Attribute" && selfAttribute(expr.value) !== null && holdsOptions(expr.value);
}

export function isLiteral({ kind }: Expr): boolean {
  return kind === "Str" || kind === "Num" || kind === "Const";
}

/** `self.prompt` of `self.prompt["input_ids"]` and of `self.prompt.input_ids`; also `tokenize(words)` of what that gives. */
function partOf(expr: Expr): Expr {
  let at = expr;
  while (
    (at.kind === "Subscript" && isLiteral(at.index)) ||
    (at.kind === "Attribute" && /^(?:input_ids|attention_mask|data)$/.test(at.attr) && !isSelf(at.value))
  )
    at = bare(at.value);
  return at;
}

/** `self.tokenizer([""], return_tensors="pt")`: the same words are the same numbers. */
function isTokenized(expr: Expr): expr is Call {
  return expr.kind === "Call" && /tokenize/i.test(lastWord(expr.func));
}

function isWords(expr: Expr): boolean {
  return isLiteral(expr) || (expr.kind === "List" && expr.items.length > 0 && expr.items.every(isWords));
}

/** `self.bank[i] = x`, `self.bank.copy_(x)` */
function isFilledLater(own: string, file: PythonFile): boolean {
  const isIt = (expr: Expr): boolean =>
    selfAttribute(expr) === own || (expr.kind === "Subscript" && isIt(expr.value));
  return (
    assignsOfKind("Subscript", file).some(({ targets }) =>
      targets.some((target) => target.kind === "Subscript" && isIt(target)),
    ) ||
    file.all("AugAssign").some(({ target }) => isIt(target)) ||
    file
      .once(callsInPlace)
      .some(({ func }) => func.kind === "Attribute" && func.attr !== "requires_grad_" && isIt(func.value))
  );
}

function callsInPlace(file: PythonFile): readonly Call[] {
  return file.all("Call").filter(({ func }) => func.kind === "Attribute" && /[^_]_$/.test(func.attr));
}
