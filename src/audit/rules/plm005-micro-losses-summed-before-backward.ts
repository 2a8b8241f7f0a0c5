import type { PythonFile } from "../../python/file.ts";
import { classOf, contains, functionOf, namesIn, statementOf, walk } from "../../python/nodes.ts";
import type { Definition } from "../../python/scopes.ts";
import type { Call, Expr, FunctionDef, Name, Node } from "../../python/tree.ts";
import { deleteStatement, indentAt } from "../edits.ts";
import { selfAttribute } from "../facts/classes.ts";
import type { CalledKeep } from "../facts/called-keeps.ts";
import { isReadCut, readsOfList } from "../facts/cuts.ts";
import type { Facts } from "../facts/facts.ts";
import { detach } from "../facts/on-tensor.ts";
import { derivesFrom } from "../facts/backwarded.ts";
import { candidates, keeps, keepsOfCalls } from "../facts/kept.ts";
import type { Keep } from "../facts/kept.ts";
import { bringsGraph } from "../facts/likely-graphs.ts";
import { isNetwork, runInParts } from "../facts/networks.ts";
import { isOfOtherRuns } from "../facts/other-runs.ts";
import { callTarget } from "../facts/summary.ts";
import { paramGiven } from "../facts/returns.ts";
import { isStepMethod, loopsAround } from "../facts/training.ts";
import type { Backward, Loop } from "../facts/training.ts";
import { isMostly, skipsAbove } from "../facts/turns.ts";
import { LOSSES, forwardIn, isIndependent, runsGiven } from "../facts/micro-forwards.ts";
import type { Finding, Fix, Rule } from "../rule.ts";

export const rule: Rule = {
  meta: {
    code: "PLM005",
    name: "micro-losses-summed-before-backward",
    summary: "Several forwards are summed and differentiated at once: all their graphs are alive together",
    severity: "warning",
    fix: "unsafe",
    patterns: [5],
    inTraining: true,
  },
  *check(facts) {
    yield* returned(facts);
    const helpers = facts.once(handedOver);
    if (facts.backwards.length === 0 && helpers.length === 0) return;
    const { file } = facts;
    for (const keep of facts.guesses ? grown(facts) : keeps(facts)) {
      const { loop, root, added, at } = keep;
      if (!loop || (root.kind !== "Name" && !facts.guesses) || facts.gradMode(at) === "off") continue;
      const sums = new Set(root.kind === "Name" ? (file.scopes.lookup(root)?.definitions ?? []) : []);
      const handed = keep.how === "sum" ? helpers : helpers.filter((one) => sumsWhatItGets(one, facts));
      const later = [...facts.backwards, ...handed].filter((one) =>
        root.kind === "Name"
          ? differentiates(one, sums, at, facts)
          : functionOf(one.call) === functionOf(at) &&
            one.call.start > at.start &&
            one.loss !== null &&
            file.textOf(one.loss).includes(file.textOf(root)),
      );
      // `rewards = torch.stack(rewards).detach()`: the name goes on to mean what has no graph.
      if (keep.how === "list" && root.kind === "Name" && isReadWithoutGraph(root, facts)) continue;
      // After the loop, or in it now and then: several turns' graphs are alive by then.
      if (later.length === 0 || later.some(({ call }) => !waits(call, loop, facts))) continue;
      // Differentiated in every turn already; another loss of the turn has graphs of its own.
      const terms = termsOf(added, file);
      if (
        facts.backwards.some(
          ({ call, loss }) =>
            contains(loop, call) &&
            isEveryTurn(call, loop, facts) &&
            // `if accumulate: total += loss`, `else: loss.backward()`: no run does both.
            !isOfOtherRuns(call, at, loop, file) &&
            (loss === null || terms.size === 0 || derivesFrom(loss, terms, facts)),
        ) ||
        helpers.some(
          ({ call }) =>
            contains(loop, call) && isEveryTurn(call, loop, facts) && !isOfOtherRuns(call, at, loop, file),
        )
      )
        continue;
      const inParts = runInParts(loop, facts);
      if (inParts && keep.how === "sum" && isGivenOut(added, loop, file)) {
        yield report(at, file.textOf(root), "note");
        continue;
      }
      const forward = forwardIn(loop, added, facts);
      if (!forward || !isIndependent(forward, loop, facts)) continue;
      if (facts.guesses && isOverOutputs(loop, facts)) continue;
      // What a function makes of the network may be outputs: those that are listed are pooled for one loss.
      if (
        keep.how === "list" &&
        !isNetwork(forward.func, facts) &&
        !LOSSES.test(file.textOf(added)) &&
        !later.some((one) => handed.includes(one))
      )
        continue;
      if (isKeptToo(keep, forward, facts)) continue;
      const fix = keep.how === "sum" && later.length === 1 ? backwardEach(keep, later[0]!, facts) : null;
      yield {
        ...report(at, file.textOf(root), keep.how === "sum" && isOverParts(loop, facts) ? "warning" : "note"),
        ...(fix ? { fix } : {}),
      };
    }
    yield* called(facts, helpers);
    yield* comprehensions(facts);
    yield* onSelf(facts);
  },
};

/** `for made, wanted in zip(outputs, targets):` goes through what one forward gave: each backward would want its graph again. */
const isOverOutputs = (loop: Loop, facts: Facts): boolean =>
  loop.kind === "For" &&
  namesIn(loop.iter).some((name) => facts.value(name).what !== "number" && bringsGraph(name, facts));

/** Whatever grows in a loop, also on self or under a key: `self.loss = self.loss + part`, `losses[task] = part`. */
function grown(facts: Facts): readonly Keep[] {
  const found = [...keeps(facts)];
  const known = new Set<Node>(found.map(({ at }) => at));
  for (const one of candidates(facts)) {
    const [loop] = loopsAround(one.at);
    const { root } = one;
    const begun =
      root.kind === "Name"
        ? (facts.file.scopes.lookup(root)?.definitions ?? []).filter(({ how }) => how !== "augment")
        : [];
    if (
      loop &&
      !known.has(one.at) &&
      (root.kind !== "Name" || begun.some(({ node }) => !contains(loop, node)))
    )
      found.push({ ...one, loop });
  }
  return found;
}

/**
 * `total = part(net, x, y, total)`, of a function that adds the part's loss to what it was handed: differentiated after the
 * loop, or by the function now and then.
 */
function* called(facts: Facts, helpers: readonly Backward[]): Generator<Finding> {
  const { file, backwards } = facts;
  for (const keep of keepsOfCalls(facts)) {
    const { added, at, by, inner, loop, root } = keep;
    const fn = functionOf(at);
    if (keep.how !== "sum" || !fn || facts.gradMode(at) === "off") continue;
    const isIn = ({ call }: Backward): boolean => contains(fn, call);
    const sums = new Set(file.scopes.lookup(root)?.definitions ?? []);
    const inside = new Set(file.scopes.lookup(inner)?.definitions ?? []);
    const later = [
      ...[...backwards, ...helpers].filter((one) => one.call !== by && differentiates(one, sums, by, facts)),
      ...backwards.filter((one) => differentiates(one, inside, at, facts)),
    ];
    if (later.length === 0 || later.some((one) => !waits(one.call, isIn(one) ? fn : loop, facts))) continue;
    const terms = termsOf(added, file);
    const everyTurn = ({ call }: Backward): boolean =>
      call !== by &&
      [fn, loop].some(
        (turn) =>
          contains(turn, call) &&
          isEveryTurn(call, turn, facts) &&
          !(turn === fn && isOfOtherRuns(call, at, fn, file)),
      );
    if (
      helpers.some(everyTurn) ||
      backwards.some(
        (one) =>
          everyTurn(one) &&
          (one.loss === null || !isIn(one) || terms.size === 0 || derivesFrom(one.loss, terms, facts)),
      )
    )
      continue;
    const forward = forwardIn(fn, added, facts);
    if (!forward || !isIndependent(forward, loop, facts, keep)) continue;
    const isBeside = (other: CalledKeep): boolean =>
      other.by === by &&
      other.how === "list" &&
      facts.value(other.added).what !== "number" &&
      forwardIn(fn, other.added, facts) === forward;
    if (!keepsOfCalls(facts).some(isBeside))
      yield report(at, root.id, isOverParts(loop, facts) ? "warning" : "note");
  }
}

/** The losses that `for loss, last in model(batch)` gives out, one for each part of the batch, or what is computed of them. */
function isGivenOut(added: Expr, loop: Loop, { scopes }: PythonFile): boolean {
  const isOfTarget = (name: Name): boolean =>
    LOSSES.test(name.id) &&
    scopes
      .reaching(name)
      .some(({ how, node }) => how === "iterate" && loop.kind === "For" && contains(loop.target, node));
  return namesIn(added).some(
    (name) =>
      isOfTarget(name) ||
      scopes
        .reaching(name)
        .some(
          ({ how, value, node }) =>
            how === "assign" && value !== null && contains(loop, node) && namesIn(value).some(isOfTarget),
        ),
  );
}

/** `def update(self, losses): loss = sum(losses) / len(losses); loss.backward()` */
function sumsWhatItGets({ call, loss }: Backward, facts: Facts): boolean {
  const { file } = facts;
  const given = call.args.find(({ value }) => value === loss);
  const param = facts.guesses && given ? paramGiven(call, given, file) : null;
  const made = param && file.scopes.definitionAt(param);
  return (
    made !== null &&
    file.scopes.uses(made).some(({ parent }) => {
      const by = parent?.kind === "Arg" && parent.parent?.kind === "Call" ? parent.parent : null;
      return by !== null && /^(?:builtins\.sum|torch\.stack)$/.test(file.dotted(by.func) ?? "");
    })
  );
}

/** `loss_backwards(fp16, loss, optimizer)`: what is handed to functions of the tree that differentiate outside of any loop. */
function handedOver(facts: Facts): readonly Backward[] {
  return facts
    .callsTo("loose")
    .filter((call) => facts.callee(call)?.reachesBackward === true)
    .flatMap((call) =>
      call.args.flatMap(({ star, value }) =>
        star === 0 && (value.kind === "Name" || value.kind === "Binary") ? [{ call, loss: value }] : [],
      ),
    );
}

function termsOf(expr: Expr, { scopes }: PythonFile): ReadonlySet<Definition> {
  return new Set(namesIn(expr).flatMap((name) => scopes.reaching(name)));
}

/** `self.pending = self.pending + loss` in every step, and `self.pending.backward()` in one of many. */
function* onSelf(facts: Facts): Generator<Finding> {
  const { file } = facts;
  for (const { call, loss } of facts.backwards) {
    const own = loss ? selfAttribute(loss) : null;
    const fn = functionOf(call);
    if (own === null || !fn || facts.frequency(call, fn) !== "throttled") continue;
    const sum = [...file.all("AugAssign"), ...file.all("Assign")].find((one) => {
      const target = one.kind === "AugAssign" ? one.target : one.targets[0]!;
      return (
        functionOf(one) === fn &&
        one.start < call.start &&
        selfAttribute(target) === own &&
        (one.kind === "AugAssign" ? one.op === "+" : mixes(one.value, own))
      );
    });
    if (sum && facts.gradMode(sum) !== "off" && facts.frequency(sum, fn) === "every")
      yield report(sum, `self.${own}`, "note");
  }
}

/** `self.x + loss`, also under `if self.x is None else`. */
function mixes(expr: Expr, own: string): boolean {
  if (expr.kind === "IfExp") return mixes(expr.body, own) || mixes(expr.orelse, own);
  return (
    expr.kind === "Binary" &&
    expr.op === "+" &&
    (selfAttribute(expr.left) === own || selfAttribute(expr.right) === own)
  );
}

/** A Trainer's `compute_loss` that runs the model several times and returns the sum: it is differentiated outside. */
function* returned(facts: Facts): Generator<Finding> {
  const { file } = facts;
  if (!file.all("FunctionDef").some(({ name }) => /^(?:compute_loss|training_step)$/.test(name))) return;
  for (const { loop, root, added, at } of keeps(facts)) {
    const fn = functionOf(at);
    const cls = fn && classOf(fn);
    if (loop?.kind !== "For" || root.kind !== "Name" || fn?.kind !== "FunctionDef" || !cls) continue;
    if (!isStepMethod(fn, facts.role(cls)) || facts.gradMode(at) === "off") continue;
    const sums = new Set(file.scopes.lookup(root)?.definitions ?? []);
    const given = file
      .all("Return")
      .some((one) => functionOf(one) === fn && one.value !== null && derivesFrom(one.value, sums, facts));
    const forward = given ? forwardIn(loop, added, facts) : null;
    if (forward && isIndependent(forward, loop, facts))
      yield {
        at,
        severity: "note",
        message: `Every turn's graph stays alive until \`${root.id}\` is differentiated by the trainer; smaller batches with gradient accumulation have one graph at a time`,
      };
  }
}

/** A loop over micro-batches: each of them can be differentiated by itself. */
function isOverParts(loop: Loop, { file }: Facts): boolean {
  return loop.kind === "For" && /micro|accum|chunk|split|load|batch|shard|part/i.test(file.textOf(loop.iter));
}

/** `values.append(value)` beside `entropy += …` of the same forward: its graph waits for what is known after the loop. */
function isKeptToo(keep: Keep, forward: Call, facts: Facts): boolean {
  const root = facts.file.textOf(keep.root);
  if (keep.how === "list" && LOSSES.test(facts.file.textOf(keep.added))) return false;
  return keeps(facts).some(
    (other) =>
      (other.how === "list" || keep.how === "list") &&
      other.loop === keep.loop &&
      facts.file.textOf(other.root) !== root &&
      // What is noted now and then is for people.
      facts.frequency(other.at, keep.loop!) !== "throttled" &&
      facts.value(other.added).what !== "number" &&
      forwardIn(keep.loop!, other.added, facts) === forward,
  );
}

function isReadWithoutGraph(list: Name, facts: Facts): boolean {
  const reads = readsOfList(list, facts);
  return reads.length > 0 && reads.every((read) => isReadCut(read, facts));
}

function report(at: Node, name: string, severity: "note" | "warning"): Finding {
  return {
    at,
    severity,
    message: `Every turn's graph stays alive until \`${name}\` is differentiated after the loop; backward in the loop gives the same gradients with one graph at a time`,
  };
}

/** `loss.backward()` in the loop, the sum kept for whoever reads it, and nothing to differentiate after. */
function backwardEach(keep: Keep, { call, loss }: Backward, facts: Facts): Fix | null {
  const { file } = facts;
  const { at, added, root, loop } = keep;
  const statement = statementOf(call);
  const plain =
    loss?.kind === "Name" &&
    call.func.kind === "Attribute" &&
    call.func.value === loss &&
    call.args.length === 0;
  if (!plain || added.kind !== "Name" || root.kind !== "Name" || loss.id !== root.id) return null;
  if (statement?.kind !== "ExprStmt" || !loop || contains(loop, call)) return null;
  const start = file.lines.start(file.lines.line(at.start));
  const indent = indentAt(file, at.start);
  if (file.text.slice(start, at.start) !== indent) return null;
  const ending = file.text.includes("\r\n") ? "\r\n" : "\n";
  const cut = detach(added, facts);
  if (cut.length === 0) return null;
  return {
    grade: "unsafe",
    title: "Differentiate each turn's loss",
    edits: [
      { start: at.start, end: at.start, text: `${added.id}.backward()${ending}${indent}` },
      ...cut,
      ...deleteStatement(statement, file),
    ],
  };
}

function waits(call: Call, loop: Node, facts: Facts): boolean {
  return !contains(loop, call) || facts.frequency(call, loop) === "throttled" || isSkipped(call, loop);
}

function isEveryTurn(call: Call, turn: Node, facts: Facts): boolean {
  return facts.frequency(call, turn) === "every" && !isSkipped(call, turn);
}

/** Below `if (step + 1) % n != 0: continue`: as often as the optimizer steps, but not in every turn. */
function isSkipped(call: Call, turn: Node): boolean {
  for (let at: Node | null = call; at && at !== turn; at = at.parent)
    if (skipsAbove(at).some(({ test }) => isMostly(test))) return true;
  return false;
}

function differentiates(one: Backward, sums: ReadonlySet<Definition>, at: Node, facts: Facts): boolean {
  return (
    one.loss !== null &&
    functionOf(one.call) === functionOf(at) &&
    one.call.start > at.start &&
    derivesFrom(one.loss, sums, facts)
  );
}

/** `loss = sum(criterion(model(x), y) for x, y in parts)`, differentiated in the same function. */
function* comprehensions(facts: Facts): Generator<Finding> {
  if (facts.guesses) yield* mapped(facts);
  for (const comp of facts.file.all("Comp")) {
    const [clause, ...inner] = comp.clauses;
    let call: Call | null = null;
    const look = (expr: Expr): void =>
      walk(expr, (node) => {
        if (
          node.kind === "Call" &&
          ((isNetwork(node.func, facts) && !/loss|crit(?!ic)/i.test(facts.file.textOf(node.func))) ||
            runsGiven(node, facts))
        )
          call ??= node;
      });
    look(comp.element);
    // `for part in parts for out in model(part)`
    for (const { iter } of inner) look(iter);
    const forward = call as Call | null;
    if (!clause || !forward || facts.gradMode(comp) === "off") continue;
    const names = new Set<string>();
    walk(clause.target, (node) => {
      if (node.kind === "Name") names.add(node.id);
    });
    if (!forward.args.some((arg) => mentions(arg.value, names))) continue;
    // `sum(p.sum() for …)` of another kind of network call reads no data.
    for (let at: Node | null = comp.parent; at; at = at.parent) {
      if (at.kind === "Assign" && at.targets[0]?.kind === "Name") {
        const made = facts.file.scopes.definitionAt(at.targets[0]);
        if (made && facts.backwards.some((one) => differentiates(one, new Set([made]), at!, facts)))
          yield report(comp, at.targets[0].id, "note");
      }
      if (at.kind === "ExprStmt" && facts.backwards.some(({ call: one }) => contains(at!, one)))
        yield report(comp, "it", "note");
      // `return sum(…)` of a function whose result is differentiated where it is called.
      if (at.kind === "Return") {
        const fn = functionOf(at);
        if (fn?.kind === "FunctionDef" && differentiatesResult(fn, facts))
          yield report(comp, `${fn.name}(…)`, "note");
        break;
      }
      if (at.kind === "Assign" || at.kind === "ExprStmt" || at.kind === "FunctionDef") break;
    }
  }
}

/** `loss = sum(map(lambda part: criterion(model(part)), parts))` */
function* mapped(facts: Facts): Generator<Finding> {
  for (const call of facts.file.callsNamed("map")) {
    const each = call.args[0]?.value;
    if (each?.kind !== "Lambda" || facts.gradMode(call) === "off") continue;
    let run = false;
    walk(each.body, (node) => {
      run ||= node.kind === "Call" && isNetwork(node.func, facts);
    });
    const statement = run ? statementOf(call) : null;
    const [target] = statement?.kind === "Assign" ? statement.targets : [];
    const made = target?.kind === "Name" ? facts.file.scopes.definitionAt(target) : null;
    if (made && facts.backwards.some((one) => differentiates(one, new Set([made]), statement!, facts)))
      yield report(call, made.name, "note");
  }
}

function differentiatesResult(fn: FunctionDef, facts: Facts): boolean {
  const { file } = facts;
  const name = file.qualified(fn);
  return file.callsNamed(fn.name).some((call) => {
    const statement = statementOf(call);
    const [target] = statement?.kind === "Assign" ? statement.targets : [];
    const made = target?.kind === "Name" ? file.scopes.definitionAt(target) : null;
    return (
      made !== null &&
      callTarget(call, file) === name &&
      facts.backwards.some((one) => differentiates(one, new Set([made]), statement!, facts))
    );
  });
}

function mentions(expr: Expr, names: ReadonlySet<string>): boolean {
  let found = false;
  walk(expr, (node) => {
    if (node.kind === "Name" && names.has(node.id)) found = true;
    return !found;
  });
  return found;
}
