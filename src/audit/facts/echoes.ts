import { positional } from "../../python/file.ts";
import { blockOf, contains, lastWord, statementOf, walk } from "../../python/nodes.ts";
import type { Call, Expr, For, If, Node, Stmt } from "../../python/tree.ts";
import type { Facts } from "./facts.ts";

/** Calls that give the device nothing to do, a copy that waits for itself, or a number to share. */
const QUIET =
  /^(?:item|tolist|cpu|cuda|to|all_reduce|barrier|record|elapsed_time|numpy|detach|float|int|round|str|len|format|print|append|extend|update|size|numel|nelement|dim|(?:\w+_)?time|log|info|add_scalar|write|set_postfix|set_description|set_postfix_str|get_\w*lr|get|items|join|perf_counter|update_priorit\w+|store|push|put)$/;

/** What is done in a moment, of what is there: `mask.float().mean()`, `torch.max(scores, 1)`. */
const SHORT =
  /^(?:detach|clone|float|double|long|int|half|bool|type|type_as|mean|sum|std|var|abs|max|min|amax|amin|argmax|argmin|norm|sqrt|exp|log|pow|sigmoid|softmax|any|all|eq|ne|gt|lt|ge|le|equal|squeeze|unsqueeze|view|view_as|reshape|expand_as|flatten|t|permute|transpose|swapaxes|movedim|contiguous|clamp|stack|topk)$/;

/**
 * Whether another tensor was read just before, so that nothing is queued any more: not a wait for the device, but one
 * more round trip to it.
 */
export function isEcho(call: Call, facts: Facts): boolean {
  return isPlain(readIn(call)) && followsRead(call, facts);
}

/** The same of a tensor that is formatted: `f"{loss.item()} {accuracy}"`. */
export function isShownAfterRead(shown: Expr, facts: Facts): boolean {
  return isPlain(shown) && followsRead(shown, facts);
}

/** The same of what is asked for its truth: `if not torch.isfinite(loss):` after `total += loss.item()`. */
export function isAskedAfterRead(asked: Expr, facts: Facts): boolean {
  let of: Expr | null = asked;
  while (of?.kind === "Unary") of = of.operand;
  if (of?.kind === "Call" && /^torch\.is(?:finite|nan|inf)$/.test(facts.file.dotted(of.func) ?? ""))
    of = positional(of, 0);
  return isPlain(of) && followsRead(asked, facts);
}

function followsRead(at: Expr, facts: Facts): boolean {
  const statement = statementOf(at);
  // `if loss.item() < best:`
  const isTest = statement?.kind === "If" && contains(statement.test, at);
  if (!statement?.parent || !(isTest || isSimple(statement))) return false;
  const own = lastRead(isTest ? statement.test : statement, at, facts);
  // What the expression is handed to comes after it.
  if (own) return isQuiet(statement, facts, (call) => call.start >= own.end && call.end <= at.start);
  return endsInRead(backwardsFrom(statement), at, facts);
}

/** Of statements that come before the expression, the last one first: whether the device has nothing to do after them. */
function endsInRead(statements: Iterable<Stmt>, at: Expr, facts: Facts): boolean {
  for (const before of statements) {
    if (before.kind === "If") {
      const ends = [before.body, before.orelse].map((branch) => endsInRead([...branch].reverse(), at, facts));
      // `elif device == "cuda": torch.cuda.synchronize()`: on another device there is nothing to wait for.
      if (ends.every(Boolean) || (ends.some(Boolean) && waits(before))) return true;
      // `if step % 50 == 0: writer.add_image("out", decode(latents))` leaves the other turns as they were.
      if (isNowAndThen(before)) continue;
      if (!isIdle(before, facts)) return false;
      // `if bad.item(): continue`
      if (lastRead(before.test, at, facts)) return true;
      // `if step % 10 == 0: print(loss.item())`
      continue;
    }
    // Beside a pass over all data one wait is nothing.
    if (before.kind === "For" && (isOverLoader(before) || endsInRead([...before.body].reverse(), at, facts)))
      return true;
    if (!isSimple(before)) return false;
    const read = lastRead(before, at, facts);
    if (!isQuiet(before, facts, (call) => read === null || call.end > read.end)) return false;
    if (read) return true;
  }
  return false;
}

/** `if step % 50 == 0:`, and nothing otherwise. */
function isNowAndThen({ test, orelse }: If): boolean {
  let counts = false;
  walk(test, (node) => {
    if (node.kind === "Binary" && node.op === "%") counts = true;
    return !counts;
  });
  return counts && orelse.length === 0;
}

/** Whether nothing in it gives the device anything to do, whichever branch is taken. */
function isIdle({ test, body, orelse }: If, facts: Facts): boolean {
  const all = (): boolean => true;
  return (
    isQuiet(test, facts, all) &&
    [...body, ...orelse].every((one) =>
      one.kind === "If"
        ? isIdle(one, facts)
        : /^(?:Continue|Break|Pass)$/.test(one.kind) || (isSimple(one) && isQuiet(one, facts, all)),
    )
  );
}

/** The statements before this one, the last one first, as if there were no `with` blocks. */
function* backwardsFrom(statement: Stmt): Generator<Stmt> {
  const block = blockOf(statement) ?? [];
  for (const before of block.slice(0, block.indexOf(statement)).reverse())
    if (before.kind === "With") yield* [...before.body].reverse();
    else yield before;
  if (statement.parent?.kind === "With") yield* backwardsFrom(statement.parent);
}

/** What `x.item()`, `float(x)` or `writer.add_scalar(name, x)` reads. */
function readIn({ func, args }: Call): Expr | null {
  if (lastWord(func) === "add_scalar") return args[1]?.value ?? null;
  if (func.kind === "Attribute" && args.length === 0 && /^(?:item|tolist|cpu)$/.test(func.attr))
    return func.value;
  // `x.to("cpu")`
  const [first] = args;
  if (
    func.kind === "Attribute" &&
    func.attr === "to" &&
    first?.value.kind === "Str" &&
    first.value.value === "cpu"
  )
    return func.value;
  return func.kind === "Name" && /^(?:float|int)$/.test(func.id) && args.length === 1 ? args[0]!.value : null;
}

/** `for batch in self.test_loader:`, `for batch in tqdm(loader):` */
function isOverLoader({ iter }: For): boolean {
  const over = iter.kind === "Call" ? (positional(iter, 0) ?? iter) : iter;
  return /loader$/i.test(lastWord(over));
}

/** A name, a part of one, or what is made of them in a moment. */
function isPlain(expr: Expr | null): boolean {
  switch (expr?.kind) {
    case "Call":
      return (
        expr.func.kind === "Attribute" &&
        SHORT.test(expr.func.attr) &&
        isPlain(expr.func.value) &&
        expr.args.every(({ value }) => isPlain(value))
      );
    case "Attribute":
      return isPlain(expr.value);
    case "Subscript":
      return isPlain(expr.value) && /^(?:Str|Num|Name|Slice|Tuple)$/.test(expr.index.kind);
    case "Unary":
      return isPlain(expr.operand);
    case "Binary":
      return expr.op !== "@" && isPlain(expr.left) && isPlain(expr.right);
    case "Compare":
      return isPlain(expr.left) && expr.rights.every(isPlain);
    case "List":
    case "Tuple":
      return expr.items.every(isPlain);
    default:
      return /^(?:Name|Num|Str|Const)$/.test(expr?.kind ?? "");
  }
}

function isSimple({ kind }: Node): boolean {
  return /^(?:Assign|AugAssign|ExprStmt|Return|Assert)$/.test(kind);
}

/** The last call of the statement, before the expression where that is in it too, that reads a tensor of the device. */
function lastRead(statement: Node, at: Expr, facts: Facts): Call | null {
  let found: Call | null = null;
  walk(statement, (node) => {
    if (node.kind === "Lambda" || node.kind === "Comp" || node.kind === "IfExp" || node.kind === "Bool")
      return false;
    if (node.kind === "Call" && node.end <= at.start && (!found || node.end > found.end)) {
      const source = readIn(node);
      if (isWait(node) || isSave(node, facts)) found = node;
      else if (source && (facts.onAccelerator(source) || isAskedBack(node, source, facts))) found = node;
      // `tracker.update(loss)`, which has its value.
      else if (facts.callee(node)?.reads === true) found = node;
    }
    return true;
  });
  return found;
}

/** Also `rows = torch.nonzero(done)`: how many there are must be known before it can go on. */
function isWait({ func }: Call): boolean {
  return /^(?:synchronize|nonzero|argwhere|masked_select)$/.test(lastWord(func));
}

/** `torch.save(net.state_dict(), path)` reads every parameter. */
function isSave({ func }: Call, { file }: Facts): boolean {
  return file.dotted(func) === "torch.save";
}

function waits(branches: Node): boolean {
  let found = false;
  walk(branches, (node) => {
    if (node.kind === "Call" && isWait(node)) found = true;
    return !found;
  });
  return found;
}

/** `x.cpu()`, `loss.item()` of who knows where: nobody asks the host for what is there. */
function isAskedBack({ func }: Call, source: Expr, facts: Facts): boolean {
  return (
    facts.accelerator &&
    func.kind === "Attribute" &&
    /^(?:cpu|item)$/.test(func.attr) &&
    facts.value(source).device === "unknown"
  );
}

/** Whether none of these calls of a statement gives the device anything to do. */
function isQuiet(statement: Node, facts: Facts, among: (call: Call) => boolean): boolean {
  let quiet = true;
  walk(statement, (node) => {
    if (node.kind === "Call" && among(node) && mayQueue(node, facts)) quiet = false;
    return quiet;
  });
  return quiet;
}

/** Whether a call may give the device something to do: not by its name, nor by having numbers and host arrays alone. */
function mayQueue(call: Call, facts: Facts): boolean {
  const name = lastWord(call.func);
  if (QUIET.test(name) && !(name === "log" && positional(call, 0)?.kind === "Name")) return false;
  if (isPlain(call)) return false;
  const dotted = facts.file.dotted(call.func);
  const of = call.func.kind === "Attribute" ? facts.value(call.func.value) : null;
  if (of?.device !== "cpu") {
    if (call.args.length === 0 || dotted?.startsWith("torch.")) return true;
    // `metrics.record("loss", 0.5)` of who knows what: a network or a tensor would be given more.
    if (dotted === null && of?.what !== "unknown") return true;
  }
  return !call.args.every(({ value }) => isOnHost(value, facts));
}

function isOnHost(expr: Expr, facts: Facts): boolean {
  // `loss_meter.val`
  if (expr.kind === "Attribute" && /meter/i.test(lastWord(expr.value))) return true;
  const isRead = expr.kind === "Call" && /^(?:item|tolist|numpy)$/.test(lastWord(expr.func));
  return isRead || facts.value(expr).device === "cpu";
}
