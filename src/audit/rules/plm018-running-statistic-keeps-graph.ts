import type { PythonFile } from "../../python/file.ts";
import { classOf, contains, functionOf, namesIn, walk } from "../../python/nodes.ts";
import type { Definition } from "../../python/scopes.ts";
import type { Assign, Attribute, ClassDef, Expr, FunctionDef, Subscript } from "../../python/tree.ts";
import { attributesOf, isModuleRole, selfAttribute } from "../facts/classes.ts";
import type { Facts } from "../facts/facts.ts";
import { detach } from "../facts/on-tensor.ts";
import { derivesFromInput } from "../facts/flow.ts";
import { derivesFrom } from "../facts/backwarded.ts";
import { likelyAverages } from "../facts/likely-averages.ts";
import { isTensorOf } from "../facts/keepers.ts";
import type { Finding, Rule } from "../rule.ts";
import { assignsOfKind } from "../facts/assigns.ts";

export const rule: Rule = {
  meta: {
    code: "PLM018",
    name: "running-statistic-keeps-graph",
    summary:
      "A module's running statistic is rebuilt from its old value and this forward's input, with gradients recorded",
    severity: "error",
    fix: "safe",
    patterns: [18, 17],
  },
  *check(facts) {
    for (const statement of facts.file.all("AugAssign")) {
      const attribute = selfAttribute(statement.target);
      const cls = attribute === null ? null : classOf(statement);
      const fn = functionOf(statement);
      if (!cls || fn?.kind !== "FunctionDef" || fn.name === "__init__") continue;
      if (!/^(?:module|lightning)$/.test(facts.role(cls)) || facts.gradMode(statement) === "off") continue;
      if (isBegunAnew(attribute!, cls, fn, facts)) continue;
      if (facts.value(statement.value).what === "number") continue;
      if (facts.guesses && isComparedWithNumber(attribute!, cls, facts)) continue;
      if (facts.hot(statement) && derivesFromInput(statement.value, facts))
        yield {
          at: statement,
          ...(shapesResult(attribute!, cls, fn, facts) ? { severity: "note" as const } : {}),
          message: `\`self.${attribute}\` is computed from its own last value with gradients recorded: it chains the graphs of all forwards so far`,
          fix: {
            grade: "unsafe",
            title: "Detach what is added",
            edits: detach(statement.value, facts),
          },
        };
    }
    yield* ofAgents(facts);
    yield* inPlace(facts);
    yield* entries(facts);
    yield* rows(facts);
    if (facts.guesses)
      for (const { at, root } of likelyAverages(facts))
        yield {
          at,
          message: `\`${facts.file.textOf(root)}\` is averaged with what this step computed with gradients recorded: it chains the graphs of all steps so far`,
        };
    for (const statement of assignsOfKind("Attribute", facts.file)) {
      const [target] = statement.targets;
      if (target?.kind !== "Attribute" || statement.targets.length !== 1) continue;
      const fn = functionOf(statement);
      if (fn?.kind !== "FunctionDef" || fn.name === "__init__") continue;
      const attribute = selfAttribute(target);
      const cls = attribute === null ? null : classOf(statement);
      if (
        !cls ||
        // The last few: `self.seen = (self.seen + [x])[-n:]`.
        (isSlice(statement.value) && !isJoined(statement.value.value, facts)) ||
        /cache|past|(?:^|_)kv/i.test(attribute!) ||
        !isStatistic(attribute!, cls, facts) ||
        isBegunAnew(attribute!, cls, fn, facts)
      )
        continue;
      const role = facts.role(cls);
      if (role !== "module" && role !== "lightning") continue;
      if (facts.gradMode(statement) === "off" || !isOfStep(statement.value, facts)) continue;
      // Outside of what runs with the forwards it is set up, not updated.
      if (fn.name !== "forward" && !facts.hot(statement)) continue;
      // `given if given is not None else self.table` keeps the old one, or takes another.
      if (
        statement.value.kind === "IfExp" &&
        [statement.value.body, statement.value.orelse].some((one) => selfAttribute(one) === attribute)
      )
        continue;
      // `self.model = DDP(self.model, …)` wraps a module; it computes nothing.
      if (facts.value(statement.value).what === "module") continue;
      yield {
        at: statement,
        message: reads(statement.value, attribute!)
          ? `\`self.${attribute}\` is computed from its own last value with gradients recorded: it chains the graphs of all forwards so far`
          : `\`self.${attribute}\` starts a chain of graphs: the running update below it is computed with gradients recorded`,
        fix: {
          grade: feedsResult(statement, attribute!, facts) ? "unsafe" : "safe",
          title: "Detach the statistic",
          edits: detach(statement.value, facts),
        },
      };
    }
  },
};

/** `if self.threshold > 0.0: self.threshold -= delta`: a setting that a schedule moves. */
function isComparedWithNumber(attribute: string, cls: ClassDef, { file }: Facts): boolean {
  return file
    .all("Compare")
    .some(
      (test) =>
        contains(cls, test) &&
        test.parent?.kind === "If" &&
        selfAttribute(test.left) === attribute &&
        test.rights[0]?.kind === "Num",
    );
}

/** Computed from what the forward was given, or from the loss that it returns. */
function isOfStep(value: Expr, facts: Facts): boolean {
  return derivesFromInput(value, facts) || hasReturnedLoss(value, facts.file);
}

/** `0.98 * self.average + 0.02 * loss` in a `training_step` that returns `loss`, for Lightning to differentiate. */
function hasReturnedLoss(value: Expr, file: PythonFile): boolean {
  const fn = functionOf(value);
  const last = fn?.kind === "FunctionDef" && fn.name === "training_step" ? fn.body.at(-1) : null;
  const returned = last?.kind === "Return" ? last.value : null;
  if (returned?.kind !== "Name" || /detach|\.item\(|\.data\b/.test(file.textOf(value))) return false;
  const loss = file.scopes.reaching(returned);
  return namesIn(value).some(
    (one) => one.id === returned.id && file.scopes.reaching(one).some((same) => loss.includes(same)),
  );
}

function isSlice(expr: Expr): expr is Subscript {
  return expr.kind === "Subscript" && expr.index.kind === "Slice";
}

/** `torch.cat([self.queue, z])[-n:]`: a part of a tensor has the graph of the whole. */
function isJoined(expr: Expr, { file }: Facts): boolean {
  return (
    expr.kind === "Call" && /^torch\.(?:cat|concat|concatenate|[hv]stack)$/.test(file.dotted(expr.func) ?? "")
  );
}

/**
 * `self.scale = 0.99 * self.scale + 0.01 * returns.std()` of an agent, no module itself, that reads it as `self.scale.detach()`
 * alone: who cuts it off there knows that it has a graph. Or of what the loss is computed from, in the method that hands it out.
 */
function* ofAgents(facts: Facts): Generator<Finding> {
  const { file } = facts;
  for (const statement of assignsOfKind("Attribute", file)) {
    const [target] = statement.targets;
    const attribute = target && statement.targets.length === 1 ? selfAttribute(target) : null;
    const cls = attribute === null ? null : classOf(statement);
    const { value } = statement;
    if (!cls || facts.role(cls) !== "other" || value.kind !== "Binary" || value.op !== "+") continue;
    if (!reads(value, attribute!) || facts.gradMode(statement) === "off") continue;
    if (/detach|no_grad|\.item\(|\.data\b|\.cpu\(/.test(file.textOf(value))) continue;
    const others = file
      .all("Attribute")
      .filter((one) => one.attr === attribute && selfAttribute(one) !== null && classOf(one) === cls)
      .filter((one) => !contains(statement, one) && !isStored(one));
    const isCut = (one: Attribute): boolean =>
      one.parent?.kind === "Attribute" && /^(?:detach|item|data)$/.test(one.parent.attr);
    if (
      (facts.backwards.length > 0 && others.length > 0 && others.every(isCut)) ||
      isOfLoss(statement, attribute!, facts)
    )
      yield {
        at: statement,
        severity: "note",
        message: `\`self.${attribute}\` is computed from its own last value with gradients recorded: it chains the graphs of all steps so far`,
        fix: { grade: "unsafe", title: "Detach the statistic", edits: detach(value, facts) },
      };
  }
}

/**
 * `margin = chosen - rejected`, averaged on self, in `def loss(self, …)` whose result comes from it. Who computes a loss is called
 * for it, by whatever it was handed to: `self.criterion.dis_loss(real, fake)`.
 */
function isOfLoss({ value, start }: Assign, attribute: string, facts: Facts): boolean {
  const { file } = facts;
  const fn = functionOf(value);
  if (fn?.kind !== "FunctionDef" || !/(?:^|_)loss(?:es)?(?:_|$)/.test(fn.name)) return false;
  const made = new Set<Definition>();
  walk(value, (node) => {
    if (selfAttribute(node as Expr) === attribute) return false;
    if (node.kind === "Name" && node.id !== "self")
      for (const one of file.scopes.reaching(node)) if (one.how !== "param") made.add(one);
    return true;
  });
  return (
    made.size > 0 &&
    file
      .all("Return")
      .some(
        (one) =>
          functionOf(one) === fn &&
          one.start > start &&
          one.value !== null &&
          derivesFrom(one.value, made, facts),
      )
  );
}

const isStored = (one: Attribute): boolean =>
  one.parent?.kind === "Assign" && one.parent.targets.includes(one);

/** `self.mean.lerp_(x.mean(0), 0.1)`, `self.mean.mul_(0.9).add_(x.mean(0), alpha=0.1)`: the buffer takes the graph over. */
function* inPlace(facts: Facts): Generator<Finding> {
  const { file } = facts;
  for (const call of file.callsNamed("lerp_", "add_", "sub_", "addcmul_")) {
    if (call.func.kind !== "Attribute") continue;
    const attribute = changed(call.func.value);
    const cls = attribute === null ? null : classOf(call);
    const fn = functionOf(call);
    if (!cls || fn?.kind !== "FunctionDef" || fn.name === "__init__") continue;
    const writes = attributesOf(cls, file).get(attribute!)?.writes ?? [];
    if (!writes.some(({ how }) => how === "buffer") || !isModuleRole(facts.role(cls))) continue;
    if (facts.gradMode(call) === "off" || !facts.hot(call)) continue;
    const added = call.args.find(({ value }) => derivesFromInput(value, facts))?.value;
    if (!added || isBegunAnew(attribute!, cls, fn, facts) || isEmptied(attribute!, cls, facts)) continue;
    yield {
      at: call,
      message: `\`self.${attribute}\` is changed in place with gradients recorded: it chains the graphs of all forwards so far`,
      fix: { grade: "unsafe", title: "Detach what is added", edits: detach(added, facts) },
    };
  }
}

/** `self.bank[first:last] = z`: rows of a buffer that take over the graph of what this step computed. */
function* rows(facts: Facts): Generator<Finding> {
  const { file } = facts;
  for (const statement of assignsOfKind("Subscript", file)) {
    const [target] = statement.targets;
    if (target?.kind !== "Subscript" || target.index.kind === "Str") continue;
    const attribute = selfAttribute(target.value);
    const cls = attribute === null ? null : classOf(statement);
    const fn = functionOf(statement);
    if (!cls || fn?.kind !== "FunctionDef" || !/^(?:forward|training_step)$/.test(fn.name)) continue;
    const writes = attributesOf(cls, file).get(attribute!)?.writes ?? [];
    if (!isModuleRole(facts.role(cls)) || !isTable(attribute!, cls, file)) continue;
    // What it was handed may be cut off already: only what a layer made here.
    const { value } = statement;
    // `keys.T`
    const whole = value.kind === "Attribute" && /^m?T$/.test(value.attr) ? value.value : value;
    const made = whole.kind === "Name" ? file.scopes.onlyValue(whole) : whole;
    if (made?.kind !== "Call" || facts.gradMode(statement) === "off" || !derivesFromInput(value, facts))
      continue;
    if (facts.value(value).graph === "no" || isEmptied(attribute!, cls, facts)) continue;
    if (
      isBegunAnew(attribute!, cls, fn, facts) ||
      writes.some(({ in: by, how }) => by === fn && how !== "buffer")
    )
      continue;
    yield {
      at: statement,
      ...(isBuffer(attribute!, cls, file) ? {} : { severity: "note" as const }),
      message: `\`self.${attribute}\` is changed in place with gradients recorded: it chains the graphs of all forwards so far`,
      fix: { grade: "unsafe", title: "Detach what is written", edits: detach(value, facts) },
    };
  }
}

function isBuffer(attribute: string, cls: ClassDef, file: PythonFile): boolean {
  return (attributesOf(cls, file).get(attribute)?.writes ?? []).some(({ how }) => how === "buffer");
}

/** A tensor with rows: a buffer, or `self.bank = torch.zeros(size, width)`. */
const isTable = (attribute: string, cls: ClassDef, file: PythonFile): boolean =>
  isBuffer(attribute, cls, file) || isTensorOf(cls, attribute);

/** `self.mean`, and what `self.mean.mul_(0.9)` gives back. */
function changed(expr: Expr): string | null {
  return expr.kind === "Call" && expr.func.kind === "Attribute" && expr.func.attr.endsWith("_")
    ? changed(expr.func.value)
    : selfAttribute(expr);
}

/** `self.total.zero_()` in what runs with the forwards: it lasts for one of them. */
function isEmptied(attribute: string, cls: ClassDef, facts: Facts): boolean {
  return facts.file
    .callsNamed("zero_", "fill_", "copy_", "detach_")
    .some(
      (call) =>
        call.func.kind === "Attribute" &&
        selfAttribute(call.func.value) === attribute &&
        classOf(call) === cls &&
        facts.hot(call) !== null,
    );
}

/** `self.stats["mean"] = 0.9 * self.stats["mean"] + 0.1 * x.mean()`, `self.centers[c] = 0.9 * self.centers[c] + 0.1 * x.mean(0)` */
function* entries(facts: Facts): Generator<Finding> {
  const { file } = facts;
  for (const statement of assignsOfKind("Subscript", file)) {
    const [target] = statement.targets;
    if (target?.kind !== "Subscript" || statement.targets.length !== 1) continue;
    const attribute = selfAttribute(target.value);
    const cls = attribute === null ? null : classOf(statement);
    const fn = functionOf(statement);
    if (!cls || fn?.kind !== "FunctionDef" || fn.name === "__init__" || !facts.hot(statement)) continue;
    if (!isModuleRole(facts.role(cls)) || facts.gradMode(statement) === "off") continue;
    if (statement.value.kind !== "Binary" || !file.textOf(statement.value).includes(file.textOf(target)))
      continue;
    if (!reads(statement.value, attribute!) || !derivesFromInput(statement.value, facts)) continue;
    // A row, of what is begun anew or emptied by what runs with the forwards, lasts for one of them.
    const isRow = target.index.kind !== "Str";
    if (isRow && (isEmptied(attribute!, cls, facts) || isBegunAnew(attribute!, cls, fn, facts))) continue;
    if (isRow && (facts.value(statement.value).graph === "no" || !isTable(attribute!, cls, file))) continue;
    yield {
      at: statement,
      message: `\`${file.textOf(target)}\` is computed from its own last value with gradients recorded: it chains the graphs of all forwards so far`,
      fix: {
        grade: "unsafe",
        title: "Detach the statistic",
        edits: detach(statement.value, facts),
      },
    };
  }
}

function reads(value: Expr, attribute: string): boolean {
  let found = false;
  walk(value, (node) => {
    if (
      node.kind === "Call" &&
      node.func.kind === "Attribute" &&
      (node.func.attr === "detach" || node.func.attr === "item")
    )
      return false;
    if (node.kind === "Attribute" && selfAttribute(node) === attribute) found = true;
    return !found;
  });
  return found;
}

/** Begun anew by what runs with the forwards, `self.init_states(inputs)`: it lasts for one of them. */
function isBegunAnew(attribute: string, cls: ClassDef, update: FunctionDef, facts: Facts): boolean {
  return (
    attributesOf(cls, facts.file)
      .get(attribute)
      ?.writes.some(
        ({ how, in: method, value, target }) =>
          how === "assign" &&
          method.name !== "__init__" &&
          method !== update &&
          value !== null &&
          !reads(value, attribute) &&
          (facts.hot(target) !== null || !/reset|epoch/i.test(method.name)) &&
          facts.frequency(target, method) === "every",
      ) ?? false
  );
}

/**
 * A module without layers whose results are computed from the statistic, as one that normalizes observations.
 * With gradients in its input, the second backward would fail on the graph of the first.
 */
function shapesResult(attribute: string, cls: ClassDef, update: FunctionDef, facts: Facts): boolean {
  const attributes = [...attributesOf(cls, facts.file).values()];
  if (attributes.some(({ writes }) => writes.some(({ value }) => value && isLayer(value, facts))))
    return false;
  return facts.file.all("Attribute").some((node) => {
    if (selfAttribute(node) !== attribute || classOf(node) !== cls) return false;
    const fn = functionOf(node);
    return node.parent?.kind === "Binary" && (fn !== update || update.name === "forward");
  });
}

function isLayer(value: Expr, facts: Facts): boolean {
  return facts.value(value).what === "module" || /\bParameter\b/.test(facts.file.textOf(value));
}

/** One of the attribute's writes reads it: an average, a minimum, a sum over forwards. */
function isStatistic(attribute: string, cls: ClassDef, facts: Facts): boolean {
  return (
    attributesOf(cls, facts.file)
      .get(attribute)
      ?.writes.some(
        (write) =>
          write.how === "assign" &&
          write.in.name !== "__init__" &&
          write.value !== null &&
          reads(write.value, attribute) &&
          isOfStep(write.value, facts),
      ) ?? false
  );
}

/** Read again after the update, other than by the next update: detaching may then change gradients. */
function feedsResult(statement: Assign, attribute: string, facts: Facts): boolean {
  const fn = functionOf(statement)!;
  return facts.file.all("Attribute").some((node) => {
    if (selfAttribute(node) !== attribute || node.start < statement.end || functionOf(node) !== fn)
      return false;
    for (let at = node.parent; at && at !== fn; at = at.parent)
      if (at.kind === "Assign")
        return !at.targets.some((target) => target.kind === "Attribute" && target.attr === attribute);
    return true;
  });
}
