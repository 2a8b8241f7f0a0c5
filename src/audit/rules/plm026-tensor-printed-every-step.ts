import { ancestors, contains, lastWord, statementOf } from "../../python/nodes.ts";
import type { PythonFile } from "../../python/file.ts";
import type { Call, Expr, Node } from "../../python/tree.ts";
import { isShownAfterRead } from "../facts/echoes.ts";
import type { Facts } from "../facts/facts.ts";
import { mayBeNumber } from "../facts/tensor-use.ts";
import type { Finding, Rule } from "../rule.ts";
import { throttle } from "../throttle.ts";

const SHOWS =
  /^(?:set_postfix|set_postfix_str|set_description|set_description_str|info|debug|warning|error|log|write)$/;

/** Words of what shows its arguments, those above among them. */
const SHOWN =
  /^(?:print|str|format|set_postfix|set_postfix_str|set_description|set_description_str|info|debug|warning|error|log|write)$/;

export const rule: Rule = {
  meta: {
    code: "PLM026",
    name: "tensor-printed-every-step",
    summary: "A device tensor is printed, formatted or shown on a progress bar on every step",
    severity: "warning",
    fix: "unsafe",
    patterns: [26],
    onDevice: "file",
    hotOnly: true,
  },
  *check(facts) {
    for (const found of shows(facts)) if (!facts.guesses || !isNow(found.at as Expr, facts)) yield found;
  },
};

/** Not on every step, as it seems, or not what a step computes. */
function isNow(shown: Expr, { file }: Facts): boolean {
  // `f"train_{feature}"` names something.
  if (/^[\w/]\{$/.test(file.text.slice(shown.start - 2, shown.start)) && shown.parent?.kind === "Str")
    return true;
  const text = file.textOf(shown);
  let asked = false;
  for (const at of ancestors(shown)) {
    if (at.kind === "FunctionDef" || at.kind === "For" || at.kind === "While")
      // `print(f"Epoch {epoch}: {loss}")` after all loops.
      return asked || (at.kind === "FunctionDef" && /\bepoch\b/i.test(file.textOf(statementOf(shown)!)));
    // `if y.max() > 1: print(y.max())`: shown where it is out of range.
    if (
      at.kind === "If" &&
      !contains(at.test, shown) &&
      text.includes("(") &&
      file.textOf(at.test).includes(text)
    )
      asked = true;
  }
  return asked;
}

function* shows(facts: Facts): Generator<Finding> {
  const told = new Set<Node>();
  for (const call of facts.file.calls.matching(SHOWN)) {
    if (!isShown(call, facts)) continue;
    for (const value of call.args.flatMap(({ value: one }) => shownBy(one, facts)))
      // Of `"%.3f" % loss` the loss is told below.
      if (!isFormat(value) && !isWord(value) && facts.onAccelerator(value) && facts.everyStep(call))
        yield report(value, call, facts, told);
  }
  for (const text of facts.file.all("Str"))
    for (const part of text.parts)
      if (
        facts.hot(text) &&
        !isWord(part) &&
        facts.onAccelerator(part) &&
        facts.everyStep(text) &&
        !isRaised(text)
      )
        yield report(part, showing(text), facts, told);
  for (const format of facts.file.all("Binary"))
    if (isFormat(format))
      for (const value of format.right.kind === "Tuple" ? format.right.items : [format.right])
        if (facts.onAccelerator(value) && facts.everyStep(format) && !isRaised(format))
          yield report(value, showing(format), facts, told);
}

/** What an argument shows: itself, or each of a dict, also of `logs` in `bar.set_postfix(**logs)` with what is put in later. */
function shownBy(expr: Expr, facts: Facts): readonly Expr[] {
  const { file } = facts;
  const dict = dictOf(expr.kind === "Name" ? file.scopes.onlyValue(expr) : expr, file);
  if (!dict) return [expr];
  const [named] = expr.kind === "Name" ? file.scopes.reaching(expr) : [];
  const put = (named ? file.scopes.uses(named) : []).flatMap(({ parent: at }) =>
    at?.kind === "Subscript" && at.parent?.kind === "Assign" && at.parent.targets.includes(at)
      ? [at.parent.value]
      : [],
  );
  // `logs["norm"] = norm` in a branch that is taken now and then is shown as often.
  return [...dict, ...put.filter((value) => facts.everyStep(value) !== null)];
}

/** The values of `{"loss": loss}`, of `dict(loss=loss)`. */
function dictOf(made: Expr | null, file: PythonFile): readonly Expr[] | null {
  if (made?.kind === "Dict") return made.values;
  return made?.kind === "Call" && file.dotted(made.func) === "builtins.dict"
    ? made.args.flatMap(({ name, value }) => (name === null ? [] : [value]))
    : null;
}

/** `batch.key`, `name`: what tells things apart is no tensor. */
function isWord(expr: Expr): boolean {
  const name = lastWord(expr);
  return /(?:^|_)(?:key|name|path|type|mode|phase|split|str|text|caption|prompt)s?$/.test(name);
}

function isFormat(expr: Expr): boolean {
  return expr.kind === "Binary" && expr.op === "%" && expr.left.kind === "Str";
}

function isShown(call: Call, facts: Facts): boolean {
  const name = facts.file.dotted(call.func) ?? "";
  if (name === "builtins.print" || name === "builtins.str" || name === "builtins.format") return true;
  if (/^logging\.(?:info|debug|warning|error|log)$/.test(name)) return true;
  if (call.func.kind !== "Attribute") return false;
  if (call.func.attr === "format" && call.func.value.kind === "Str") return !isRaised(call);
  if (!SHOWS.test(call.func.attr)) return false;
  // Arguments of a debug message are formatted only where somebody wants it.
  if (call.func.attr === "debug") return false;
  return call.func.attr.startsWith("set_") || /logg|tqdm|bar/i.test(facts.file.textOf(call.func.value));
}

/** The call whose argument the text is, when that is a statement of its own. */
function showing(text: Node): Call | null {
  for (const at of ancestors(text)) {
    if (at.kind === "Call") return at;
    if (at.kind !== "Arg") return null;
  }
  return null;
}

/** Text made only when something fails. */
function isRaised(node: Node): boolean {
  for (const at of ancestors(node))
    if (at.kind === "Raise" || at.kind === "Assert" || at.kind === "Handler") return true;
  return false;
}

function report(expr: Expr, call: Call | null, facts: Facts, told: Set<Node>): Finding {
  // The second value of one line finds the queue empty.
  const statement = statementOf(expr);
  const echo = (statement !== null && told.has(statement)) || isShownAfterRead(expr, facts);
  if (statement) told.add(statement);
  const text = facts.file.textOf(expr).replace(/\s+/g, " ");
  const loop = call && facts.stepLoop(call);
  const edits = call && loop ? throttle(call, loop, facts.file) : null;
  return {
    at: expr,
    ...(echo || mayBeNumber(expr, facts) ? { severity: "note" as const } : {}),
    message: `To show \`${text.length > 40 ? `${text.slice(0, 37)}…` : text}\` ${
      echo
        ? "is one more round trip to the device on every step"
        : "the host waits on every step until the device has finished all queued work"
    }`,
    ...(edits ? { fix: { grade: "unsafe" as const, title: "Show it every 50 steps", edits } } : {}),
  };
}
