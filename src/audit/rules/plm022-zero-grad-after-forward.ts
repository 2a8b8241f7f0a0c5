import type { PythonFile } from "../../python/file.ts";
import { blockOf, contains, functionOf, lastWord, namesIn, statementOf, walk } from "../../python/nodes.ts";
import type { Definition } from "../../python/scopes.ts";
import type { Attribute, Call, Expr, Name, Node, Stmt, Subscript } from "../../python/tree.ts";
import { selfAttribute } from "../facts/classes.ts";
import type { Facts } from "../facts/facts.ts";
import { isOtherBranch } from "../facts/guards.ts";
import { isNetwork } from "../facts/networks.ts";
import { callTarget } from "../facts/summary.ts";
import { METHODS } from "../facts/torch-names.ts";
import { loopsAround, optimizerSteps } from "../facts/training.ts";
import type { Edit, Finding, Rule } from "../rule.ts";

export const rule: Rule = {
  meta: {
    code: "PLM022",
    name: "zero-grad-after-forward",
    summary:
      "`zero_grad()` stands between forward and backward: the last step's gradients are resident during the forward",
    severity: "note",
    fix: "unsafe",
    patterns: [22],
  },
  *check(facts) {
    if (facts.backwards.length === 0) return;
    const { file } = facts;
    yield* helpers(facts);
    const seen = new Set<Stmt>();
    for (const { call: backward, loss: differentiated } of facts.backwards) {
      const loss = differentiated && unscaled(differentiated, file);
      const statement = either(statementOf(backward), facts);
      const within = loopsAround(backward)[0] ?? functionOf(backward);
      if (!within || !statement?.parent || !(facts.stepLoop(backward) ?? facts.hot(backward)) || !loss)
        continue;
      // `accelerator.backward(outputs.loss)`
      // `batch["loss"]` is found by its text, as `self.loss` is.
      const entry = loss.kind === "Subscript" && loss.index.kind === "Str" ? loss : null;
      const own = selfAttribute(loss) !== null || (entry !== null && !isOfWhole(entry, facts));
      const inline = loss.kind === "Call" || loss.kind === "Binary";
      const names = inline
        ? namesIn(loss).filter((name) => loss.kind === "Call" || isMadeWithin(name, within, file))
        : [loss.kind === "Attribute" || (entry && !own) ? (loss as Attribute | Subscript).value : loss];
      // `if amp: … scaler.step(optimizer)`, `else: … optimizer.step()`: one of the two is all that runs.
      const isInTurn = (call: Call): boolean =>
        isBeside(call, within, statement) && !isOtherBranch(call, backward);
      // With two backwards in a turn, clearing between them is what keeps their gradients apart: it cannot be moved.
      const single =
        facts.backwards.filter(({ call }) => call === backward || isInTurn(call)).length === 1 &&
        optimizerSteps(file).filter(isInTurn).length === (statement.kind === "If" ? 0 : 1);
      const block = blockOf(statement) ?? [];
      const at = block.indexOf(statement);
      const clearings = block.filter(
        (one, index) => clears(one, facts) || (index < at && clearsInFirst(one, facts)),
      );
      const clear = single
        ? clearings[0]
        : clearings.findLast((one) => [1, 2].includes(at - block.indexOf(one)));
      if (at < 0 || (single && clearings.length !== 1) || !clear) continue;
      const where = block.indexOf(clear);
      // `if train: optimizer.zero_grad(); loss.backward()`: the loss was there before the test.
      if (
        names.length > 0 &&
        isMadeBefore(statement, own ? loss : names, facts) &&
        where < at &&
        !seen.has(clear)
      ) {
        seen.add(clear);
        yield { at: clear, message: told(clear, facts) };
        continue;
      }
      const made = own
        ? [block.findLastIndex((one) => one.end <= clear.start && writes(one, file.textOf(loss), file))]
        : names
            .flatMap((name) => (name.kind === "Name" ? file.scopes.reaching(name) : []))
            .map((definition) => block.findIndex((one) => contains(one, definition.node)))
            .filter((index) => !inline || index >= 0);
      // The loss must be there before the clearing, or what it is computed of, and nothing may differentiate in between.
      if (where > at || made.length === 0) continue;
      if (
        made.some((index) => index < 0 || index >= where) &&
        !(single && isComputedAfter(block, where, at, made, facts))
      )
        continue;
      if ((!single || inline) && !runsBetween(block.slice(0, where), made, facts)) continue;
      if (seen.has(clear)) continue;
      seen.add(clear);
      const edits =
        single && clear.kind !== "If" && !block.slice(0, where).some((one) => stops(one))
          ? moved(clear, block, where, facts)
          : null;
      yield {
        at: clear,
        message: told(clear, facts),
        ...(edits && { fix: { grade: "unsafe" as const, title: "Clear before the forward", edits } }),
      };
    }
  },
};

/** The clearing in a line of its own, with the comment that is about nothing else, straight before the statement that runs the forward. */
function moved(clear: Stmt, block: readonly Stmt[], where: number, facts: Facts): Edit[] | null {
  const { file } = facts;
  const { lines, text } = file;
  const steps = optimizerSteps(file);
  const from = block.slice(0, where).findLastIndex((one) => steps.some((step) => contains(one, step))) + 1;
  const forward = block
    .slice(from, where)
    .find((one) => (runs(one, facts) || asksNetwork(one, facts)) && facts.gradMode(one) !== "off");
  // A criterion is a module as well: what it judges is there by then.
  if (forward && onlyJudges(forward, facts)) return null;
  if (!forward || file.textOf(clear).includes("\n")) return null;
  // Made in the same turn, it is not there yet.
  const between = { start: forward.start, end: clear.start };
  const isMadeBetween = ({ node }: Definition): boolean =>
    node.start >= between.start && node.end <= between.end;
  if (
    clear.kind === "ExprStmt" &&
    namesIn(clear.value).some((name) => file.scopes.reaching(name).some(isMadeBetween))
  )
    return null;
  // Whoever looks at the gradients in between looks at those of the step before.
  if (/\.grad\b|grad_?norm|gradient/i.test(file.codeOf({ start: forward.start, end: clear.start })))
    return null;
  const [to, first] = [lines.line(forward.start), lines.line(clear.start)];
  const [start, end] = [lines.start(first), lines.start(first + 1)];
  const isAlone =
    text.slice(start, clear.start).trim() === "" &&
    /^\s*(?:#.*)?$/.test(text.slice(clear.end, end).trimEnd());
  if (!isAlone || text.slice(lines.start(to), forward.start).trim() !== "") return null;
  const above = lines.start(commentAbove(first, file));
  const comment = text.slice(above, start);
  // `# backward` above the clearing and the backward below it stays where it is.
  const isItsOwn =
    /\b(?:zero|clear|reset)/i.test(comment) ||
    /^\s*(?:#|$)/.test(text.slice(end, lines.start(lines.line(end) + 1)));
  const at = lines.start(commentAbove(to, file));
  const begin = isItsOwn ? above : start;
  return [
    { start: at, end: at, text: text.slice(begin, end) },
    { start: begin, end, text: "" },
  ];
}

/** The first of the lines straight above this one that are nothing but comments; the line itself where there is none. */
function commentAbove(line: number, { lines, text, tree }: PythonFile): number {
  let at = line;
  const isComment = (one: number): boolean => {
    const start = lines.start(one) + /^[ \t\f]*/.exec(text.slice(lines.start(one)))![0].length;
    return tree.comments.some((comment) => comment.start === start);
  };
  while (at > 1 && isComment(at - 1)) at--;
  return at;
}

/** `def update(loss, optimizer): optimizer.zero_grad(); loss.backward(); optimizer.step()`: the forward was its caller's. */
function* helpers(facts: Facts): Generator<Finding> {
  const { file } = facts;
  for (const { call: backward, loss } of facts.backwards) {
    const fn = functionOf(backward);
    const statement = statementOf(backward);
    if (loss?.kind !== "Name" || fn?.kind !== "FunctionDef" || !statement || !fn.body.includes(statement))
      continue;
    const made = file.scopes.reaching(loss);
    if (made.length === 0 || !made.every(({ how }) => how === "param")) continue;
    const before = fn.body.slice(0, fn.body.indexOf(statement));
    const clear = before.find((one) => clears(one, facts));
    if (!clear || facts.functionFacts(backward).hot === null) continue;
    if (runsBetween(before, [before.length - 1], facts)) continue;
    // Handed a second loss of the same forward, it must clear what the first one left.
    const calls = file.callsNamed(fn.name).filter((call) => facts.hot(call));
    if (calls.length > 1) continue;
    yield {
      at: clear,
      message: `The gradients of the step before stay allocated through the forward that made \`${loss.id}\`; call \`${short(file.textOf(clear))}\` before it, or right after the optimizer's step`,
    };
  }
}

/** `if amp: scaler.scale(loss).backward()`, `else: loss.backward()`: the whole of it. */
function either(inner: Stmt | null, facts: Facts): Stmt | null {
  // `with amp.scale_loss(loss, optimizer) as scaled_loss: scaled_loss.backward()`
  const around = inner?.parent;
  const statement =
    around?.kind === "With" && /scale_loss\(/.test(facts.file.textOf(around.items[0]!)) ? around : inner;
  const test = statement?.parent;
  if (test?.kind !== "If" || test.orelse.length === 0) return statement;
  // Each with a forward and a clearing of its own.
  if ((blockOf(statement!) ?? []).some((one) => clears(one, facts) || clearsInFirst(one, facts)))
    return statement;
  const both = [test.body, test.orelse].every((branch) =>
    facts.backwards.some(({ call }) => branch.some((one) => contains(one, call))),
  );
  return both ? test : statement;
}

/** The loss of `(loss * scale).backward()`, `(self.loss / steps).backward()` and `(-bound).backward()`. */
function unscaled(expr: Expr, file: PythonFile): Expr {
  if (expr.kind === "Unary" && expr.op === "-") return unscaled(expr.operand, file);
  if (expr.kind !== "Binary" || (expr.op !== "*" && expr.op !== "/")) return expr;
  const isFactor =
    expr.op === "*" &&
    (expr.left.kind === "Num" || (!LOSS.test(file.textOf(expr.left)) && LOSS.test(file.textOf(expr.right))));
  return unscaled(isFactor ? expr.right : expr.left, file);
}

/** By its last word, as `config.loss.scale` is none. */
const LOSS = /(?:loss(?:es)?|objective)(?:\w*[)\]])*$/i;

/** Of `(loss_a + weight * loss_b).backward()`, what the turn computes itself. */
function isMadeWithin(name: Name, within: Node, file: PythonFile): boolean {
  const made = file.scopes.reaching(name);
  return made.length > 0 && made.every(({ how, node }) => how !== "param" && contains(within, node));
}

/** The "total" of `losses = criterion(…)`, which came with all of its entries; not of a batch that got a loss later. */
function isOfWhole(entry: Subscript, { file }: Facts): boolean {
  const [one, ...more] = entry.value.kind === "Name" ? file.scopes.reaching(entry.value) : [];
  if (one?.how !== "assign" || one.value?.kind !== "Call" || more.length > 0) return false;
  const [fn, text] = [functionOf(entry), file.textOf(entry)];
  return !file.all("Assign").some((other) => functionOf(other) === fn && writes(other, text, file));
}

/** In the same turn, and not in another branch of the same statement. */
function isBeside(call: Call, within: Node, statement: Stmt): boolean {
  return contains(within, call) && !contains(statement, call);
}

/** `self.loss = …` */
function writes(statement: Stmt, text: string, file: PythonFile): boolean {
  return (
    statement.kind === "Assign" &&
    statement.targets.some((target) =>
      (target.kind === "Tuple" ? target.items : [target]).some((one) => file.textOf(one) === text),
    )
  );
}

/** `optimizer.zero_grad()`, also of each of several, and by either branch of a switch. */
function clearsItself(one: Stmt): boolean {
  if (one.kind === "For") return one.body.length === 1 && clearsItself(one.body[0]!);
  if (one.kind === "If" && one.orelse.length > 0)
    return [one.body, one.orelse].every((branch) => branch.every(clearsItself));
  return (
    one.kind === "ExprStmt" &&
    one.value.kind === "Call" &&
    one.value.func.kind === "Attribute" &&
    one.value.func.attr === "zero_grad"
  );
}

/** The same, also by `self.reset_grad()` of this file, which does nothing else. */
function clears(one: Stmt, { file }: Facts): boolean {
  if (clearsItself(one)) return true;
  const call = one.kind === "ExprStmt" && one.value.kind === "Call" ? one.value : null;
  if (!call || call.args.length > 0 || !/grad/i.test(lastWord(call.func))) return false;
  const target = callTarget(call, file);
  const fn = file.functionNamed(target);
  const body = fn?.body.filter((part) => part.kind !== "ExprStmt" || part.value.kind !== "Str") ?? [];
  return body.length > 0 && body.every(clearsItself);
}

/**
 * `if micro_step == 0: optimizer.zero_grad()`: in the first of the turns whose gradients are summed. Of several turns the
 * others have gradients beside their forward in any case; how many there are is a setting, and may be one.
 */
function clearsInFirst(one: Stmt, facts: Facts): boolean {
  return (
    one.kind === "If" &&
    one.orelse.length === 0 &&
    one.body.every((inner) => clears(inner, facts)) &&
    !isOfFixedCount(one.test, facts)
  );
}

/** `step % 4 == 0`, or `part == 0` in `for part in range(4):` */
function isOfFixedCount(test: Expr, { file }: Facts): boolean {
  if (/%\s*\d/.test(file.textOf(test))) return true;
  return namesIn(test).some((name) =>
    file.scopes
      .reaching(name)
      .some(
        ({ how, value }) => how === "iterate" && value !== null && /^range\(\d+\)/.test(file.textOf(value)),
      ),
  );
}

function told(clear: Stmt, { file }: Facts): string {
  if (clear.kind === "If" && clear.orelse.length === 0)
    return `Where one turn is all that is summed, the gradients of the step before stay allocated through its forward; call \`${short(file.textOf(clear))}\` before it, or right after the optimizer's step`;
  return `The gradients of the step before stay allocated through this step's forward; call \`${short(file.textOf(clear))}\` before it, or right after the optimizer's step`;
}

/** The loss is made above the `if` or `with` that this statement stands in, by a forward that runs in the same turn. */
function isMadeBefore(statement: Stmt, of: Expr | readonly Expr[], facts: Facts): boolean {
  const test = statement.parent;
  const isBlock =
    (test?.kind === "If" && [test.body, test.orelse].some((branch) => branch.includes(statement))) ||
    (test?.kind === "With" && test.body.includes(statement));
  const block = isBlock ? (blockOf(test) ?? []) : [];
  const at = test ? block.indexOf(test as Stmt) : -1;
  // A function that is a step by itself, `if is_train:` in one that evaluates too, is as good as a turn.
  if (at < 0 || (facts.stepLoop(statement) ?? functionOf(statement)) !== test!.parent) return false;
  const { file } = facts;
  const made =
    "kind" in of
      ? [block.slice(0, at).findLastIndex((one) => writes(one, file.textOf(of), file))]
      : of
          .flatMap((name) => (name.kind === "Name" ? file.scopes.reaching(name) : []))
          .map((definition) => block.findIndex((one) => contains(one, definition.node)));
  return (
    made.length > 0 &&
    made.every((index) => index >= 0 && index < at) &&
    runsBetween(block.slice(0, at), made, facts)
  );
}

const short = (text: string): string => text.slice(text.lastIndexOf("\n") + 1).trim();

/** One of the statements up to the loss runs a network, after the last step: gradients were there to be cleared before it. */
function runsBetween(before: readonly Stmt[], made: readonly number[], facts: Facts): boolean {
  const steps = optimizerSteps(facts.file);
  const from = before.findLastIndex((one) => steps.some((step) => contains(one, step)));
  return before.slice(from + 1, Math.max(...made) + 1).some((one) => runs(one, facts));
}

function runs(statement: Stmt, facts: Facts): boolean {
  let found = false;
  walk(statement, (node) => {
    // `loss = objective(model, batch)`
    if (
      node.kind === "Call" &&
      (isNetwork(node.func, facts) || node.args.some(({ value }) => facts.networks.is(value)))
    )
      found = true;
    return !found;
  });
  return found;
}

/** `values = self.policy.evaluate(states)`: a method of a network, as likely as not with a forward in it. */
function asksNetwork(statement: Stmt, facts: Facts): boolean {
  let found = false;
  walk(statement, (node) => {
    if (node.kind === "Call" && node.func.kind === "Attribute" && !IDLE.test(node.func.attr))
      found ||= facts.networks.is(node.func.value) || facts.value(node.func.value).what === "module";
    return !found;
  });
  return found;
}

const IDLE =
  /^(?:train|eval|to|cuda|cpu|half|float|zero_grad|parameters|named_parameters|(?:load_)?state_dict|modules|requires_grad_|init_\w+|reset\w*|set_\w+|update\w*)$/;

/** It runs losses alone. */
function onlyJudges(statement: Stmt, facts: Facts): boolean {
  let [judges, computes] = [false, asksNetwork(statement, facts)];
  walk(statement, (node) => {
    if (node.kind !== "Call") return;
    if (node.args.some(({ value }) => facts.networks.is(value))) computes = true;
    if (!isNetwork(node.func, facts)) return;
    if (facts.networks.isLoss(node.func) || /loss|criterion/i.test(lastWord(node.func))) judges = true;
    else computes = true;
  });
  return judges && !computes;
}

/** `out = net(x)`, the clearing, `loss = criterion(out, y)`: nothing but losses and torch's own functions stands after it. */
function isComputedAfter(
  block: readonly Stmt[],
  where: number,
  at: number,
  made: readonly number[],
  facts: Facts,
): boolean {
  const { file } = facts;
  if (!made.every((index) => index > where && index < at)) return false;
  let [plain, fed] = [true, false];
  for (const one of block.slice(where + 1, at))
    walk(one, (node) => {
      if (node.kind === "Call") plain &&= isOfLoss(node, facts);
      else if (node.kind === "Name" && !fed && !node.binds)
        fed =
          facts.value(node).graph !== "no" &&
          file.scopes.reaching(node).some(({ node: source }) => {
            const from = block.findIndex((other) => contains(other, source));
            return from >= 0 && from < where && runsLearning(block[from]!, facts);
          });
      return plain;
    });
  return plain && fed;
}

function isOfLoss(call: Call, facts: Facts): boolean {
  const name = facts.file.dotted(call.func);
  return (
    (name?.startsWith("torch.") === true ||
      // `mask.to(device)`, `out.squeeze(1)`
      (name === null &&
        call.func.kind === "Attribute" &&
        (call.func.attr === "to" || METHODS.has(call.func.attr))) ||
      facts.networks.isLoss(call.func) ||
      /loss|criterion/i.test(lastWord(call.func))) &&
    !call.args.some(({ value }) => facts.networks.is(value))
  );
}

/** It runs a network whose graph is kept. */
function runsLearning(statement: Stmt, facts: Facts): boolean {
  let found = false;
  walk(statement, (node) => {
    if (node.kind === "Call")
      found ||=
        facts.gradMode(node) !== "off" && isNetwork(node.func, facts) && !facts.networks.isFrozen(node.func);
    return !found;
  });
  return found;
}

/** Something may leave the turn early, with gradients that then count for the next one. */
function stops(statement: Stmt): boolean {
  let found = false;
  walk(statement, (node) => {
    if (node.kind === "Continue" || node.kind === "Break") found = true;
    return !found;
  });
  return found;
}
