import { blockOf, lastWord, walk } from "../../python/nodes.ts";
import type { Expr, If, Node } from "../../python/tree.ts";

/** `if a and b: continue` skips only where both hold. */
export function skips(test: Expr): boolean {
  if (test.kind === "Bool")
    return test.op === "and" ? test.values.every(isThrottle) : test.values.some(skips);
  return isThrottle(test) || isAllButFirst(test) || isNotYet(test);
}

/** `if …: continue` above a statement in its block, the nearest last: what is below runs in the turns that go on. */
export function skipsAbove(statement: Node): readonly If[] {
  return (blockOf(statement) ?? []).filter(
    (one): one is If =>
      one.kind === "If" && one.end <= statement.start && one.body[one.body.length - 1]!.kind === "Continue",
  );
}

/** `if epoch > 0:`: in every turn but the first. */
export function isAllButFirst(test: Expr): boolean {
  if (test.kind !== "Compare" || test.rights.length !== 1 || test.left.kind !== "Name") return false;
  const [op, right] = [test.ops[0]!, test.rights[0]!];
  return (
    right.kind === "Num" &&
    ((/^(?:>|!=)$/.test(op) && right.text === "0") || (op === ">=" && right.text === "1")) &&
    TURN.test(test.left.id)
  );
}

/** What counts the turns of a training, and does not count down. */
const TURN =
  /^(?:cur(?:rent)?_|global_|train_)?(?:epoch|step|iter|iteration|it|i|batch_idx|batch_id)(?:_(?:num|idx|id))?$/;

/** `if step != due: return`, `if step - last < interval: return`. */
function isNotYet(test: Expr): boolean {
  if (test.kind !== "Compare" || test.ops.length !== 1) return false;
  const [op, right] = [test.ops[0]!, test.rights[0]!];
  if (!COUNTER.test(lastName(test.left))) return false;
  return op === "!=" || (/^<=?$/.test(op) && /interval|every|freq|period/i.test(lastName(right)));
}

/** `if cached is not None: return cached`: what follows runs once for each key, or for the first time. */
export function isHit(statement: If): boolean {
  const { test, body } = statement;
  const final = body[body.length - 1];
  if (final?.kind === "Return" && isKeptBelow(statement)) return true;
  const given = final?.kind === "Return" ? final.value : null;
  if (test.kind !== "Compare" || !given) return false;
  if (test.ops[0] === "in") return given.kind === "Subscript";
  return (
    test.ops[0] === "is not" &&
    test.left.kind === "Name" &&
    given.kind === "Name" &&
    given.id === test.left.id
  );
}

/** `if self.table is not None and n <= len(self.table): return`, and below it `self.table = …`. */
function isKeptBelow(statement: If): boolean {
  const test = statement.test.kind === "Bool" ? statement.test.values[0]! : statement.test;
  if (statement.test.kind === "Bool" && statement.test.op !== "and") return false;
  if (test.kind !== "Compare" || test.ops[0] !== "is not" || test.left.kind !== "Attribute") return false;
  const { left } = test;
  return (blockOf(statement) ?? []).some(
    (below) =>
      below.kind === "Assign" &&
      below.start > statement.end &&
      below.targets.some((target) => isSamePlace(left, target)),
  );
}

/** `if best is None: best = …` runs once; of what a function is handed, `if mask is None: mask = …` asks again with every call. */
export function fillsOnce(statement: If): boolean {
  return asks(statement.test).some((one) => isFilled(one, statement.body) && !isOfParameter(one, statement));
}

/** `mask is None`, of a parameter of the function around, in none of its loops. */
function isOfParameter(test: Expr, statement: If): boolean {
  const asked = test.kind === "Compare" ? test.left : null;
  let at: Node | null = statement.parent;
  while (at && !/^(?:For|While|FunctionDef)$/.test(at.kind)) at = at.parent;
  return (
    asked?.kind === "Name" && at?.kind === "FunctionDef" && at.params.some(({ name }) => name === asked.id)
  );
}

/** `avg = 0.9 * avg + new if avg != 0 else new`, `new if avg is None else …`: one of the two runs once. */
export function isFirst(one: Expr & { kind: "IfExp" }, child: Node): boolean {
  const { test, parent } = one;
  if (test.kind !== "Compare" || parent?.kind !== "Assign") return false;
  if (!parent.targets.some((target) => isSamePlace(test.left, target))) return false;
  const [op, right] = [test.ops[0]!, test.rights[0]];
  const empty = (right?.kind === "Num" && Number(right.text) === 0) || right?.kind === "Const";
  return (
    empty && child === (/^(?:!=|is not|>)$/.test(op) ? one.orelse : /^(?:==|is)$/.test(op) ? one.body : null)
  );
}

/** The questions of `a or (b and not c)`. */
function asks(test: Expr): Expr[] {
  return test.kind === "Bool" ? test.values.flatMap(asks) : [test];
}

function isFilled(test: Expr, body: If["body"]): boolean {
  // `if not shown: shown = True`
  const left =
    test.kind === "Unary" && test.op === "not"
      ? test.operand
      : test.kind === "Compare" && test.ops[0] === "is"
        ? test.left
        : null;
  if (!left) return false;
  return body.some((one) => one.kind === "Assign" && one.targets.some((target) => isSamePlace(left, target)));
}

/** The same name, or the same attribute of one. */
function isSamePlace(a: Expr, b: Expr): boolean {
  if (a.kind === "Name") return b.kind === "Name" && a.id === b.id;
  return (
    a.kind === "Attribute" && b.kind === "Attribute" && a.attr === b.attr && isSamePlace(a.value, b.value)
  );
}

/** `due = step % n == 0` above, in the same block or under a test of its own, or before the loops around. */
export function isNamedThrottle(name: string, statement: If, says = isThrottle): boolean {
  const sets = (one: Node): boolean =>
    one.kind === "Assign"
      ? one.targets.some((target) => target.kind === "Name" && target.id === name) && says(one.value)
      : one.kind === "If" && [...one.body, ...one.orelse].some(sets);
  for (let at: Node = statement; at.parent && at.kind !== "FunctionDef"; at = at.parent) {
    const block: readonly Node[] = blockOf(at) ?? [];
    if (block.slice(0, Math.max(0, block.indexOf(at))).some(sets)) return true;
  }
  return false;
}

/** `(i + 1) % n != 0`: in all turns but one. */
export function isMostly(test: Expr): boolean {
  return test.kind === "Compare" && test.ops[0] === "!=" && isThrottle(test);
}

/** `self.graph is None` */
export function isUnmade(test: Expr): boolean {
  return (
    test.kind === "Compare" &&
    test.ops[0] === "is" &&
    test.rights[0]?.kind === "Const" &&
    test.rights[0].value === null &&
    test.left.kind === "Attribute" &&
    test.left.value.kind === "Name" &&
    test.left.value.id === "self"
  );
}

/** `if not self.hook_registered: self.register()` does it once, and the method says so. */
export function isBegun({ test, body }: If, child: Node): boolean {
  return (
    test.kind === "Unary" &&
    test.op === "not" &&
    test.operand.kind === "Attribute" &&
    /(?:^|_)(?:registered|initiali[sz]ed|inited|built|installed|attached|hooked|patched|warmed_up|set_up)$/.test(
      test.operand.attr,
    ) &&
    body.includes(child as never)
  );
}

export const COUNTER = /step|iter|epoch|count|^i$|idx(?<!^opt(?:im|imizer)?_idx)|time/i;

/** A remainder or a counter compared: what people write to do something once in a while. */
export function isThrottle(test: Expr): boolean {
  let found = false;
  walk(test, (node) => {
    if (node.kind === "Binary" && node.op === "%" && node.left.kind !== "Str") found = true;
    else if (
      node.kind === "Compare" &&
      !isAllButFirst(node) &&
      // `i == len(loader) - 1` is the last turn only, whatever it is compared with.
      (node.rights.some((right) => right.kind === "Num") || node.ops.includes("==")) &&
      COUNTER.test(lastName(node.left))
    )
      found = true;
    // `if len(micro) == 8:` collects that many first.
    else if (node.kind === "Compare" && /^(?:==|>=)$/.test(node.ops[0]!) && isLength(node.left)) found = true;
    else if (node.kind === "Attribute" || node.kind === "Name") {
      if (
        /^(?:sync_gradients|should_\w+|do_log|log_now|is_log\w*|time_to_\w+|is_last\w*|last|last_\w+|do_step|step_now|is_accumulat\w+|is_update\w*|profile\w*|debug\w*|verbose\w*|print_\w+|first_\w+|is_first\w*|(?:\w+_)?oom(?:_\w+)?|(?:run|will|need)_\w*(?:val|eval|sav|test)\w*|save_(?:model|now|checkpoint|ckpt)|(?:is|do|to)_\w*(?:eval|valid|sav|checkpoint|logging|test)\w*|is_\w*step)$/i.test(
          lastName(node),
        )
      )
        found = true;
    }
    return !found;
  });
  return found;
}

export function isLength(expr: Expr): boolean {
  return expr.kind === "Call" && expr.func.kind === "Name" && expr.func.id === "len";
}

/** `step > args.learning_starts`, `len(memory) > batch_size`: from then on it holds. */
export function isPastStart({ left, ops, rights }: Expr & { kind: "Compare" }): boolean {
  const [right] = rights;
  if (rights.length !== 1 || !right || !/^>=?$/.test(ops[0]!)) return false;
  if (isLength(left))
    return (
      /memory|buffer|replay|pool|\brb\b/i.test(
        lastName((left as Expr & { kind: "Call" }).args[0]?.value ?? left),
      ) && /size|batch|start|warm|min/i.test(lastName(right))
    );
  return /start|warm_?up|burn_?in|begin|prefill|initial_/i.test(lastName(right));
}

/** `step + 1` is named after the step. */
export function lastName(expr: Expr): string {
  return expr.kind === "Binary" ? lastName(expr.left) : lastWord(expr);
}
