import type { PythonFile } from "../../python/file.ts";
import { classOf, functionOf } from "../../python/nodes.ts";
import type { Expr, Node } from "../../python/tree.ts";
import { appendCall } from "../edits.ts";
import { attributesOf, isOnlyMadeBy, selfAttribute } from "../facts/classes.ts";
import type { Facts } from "../facts/facts.ts";
import { derivesFromInput } from "../facts/flow.ts";
import { networkCall } from "../facts/networks.ts";
import {
  isBackwarded,
  isBounded,
  isEmptied,
  isOfFixedLength,
  isQueue,
  keeps,
  keptForBackward,
} from "../facts/kept.ts";
import type { Keep } from "../facts/kept.ts";
import type { Rule } from "../rule.ts";

export const rule: Rule = {
  meta: {
    code: "PLM017",
    name: "attached-tensors-pile-up",
    summary: "Tensors with their graphs are kept in a list on self that is never emptied",
    severity: "error",
    fix: "unsafe",
    patterns: [17, 2, 4],
  },
  *check(facts) {
    for (const keep of keeps(facts)) {
      const { added, at, root } = keep;
      if (keep.how !== "list" || facts.gradMode(at) === "off") continue;
      // Another rule tells of lists that a function fills; a bounded queue of its own outlives the step as one on self does.
      if (root.kind === "Name" && !(isQueue(root, facts) && facts.stepLoop(at))) continue;
      if (replaces(at, facts)) continue;
      const known =
        facts.value(added).graph === "yes" ||
        (isModule(at, facts) && facts.hot(at) && computesFromInput(added, facts));
      // What a network gave in a step that records; it may be one that does not learn.
      const maybe =
        !known &&
        networkCall(added, facts) !== null &&
        facts.backwards.some(({ call }) => functionOf(call) === functionOf(at));
      if (!known && !maybe) continue;
      // A bounded deque, or one renewed elsewhere, is no pile; what is read for a loss needs its graph.
      const queue =
        root.kind === "Name" ||
        isBounded(keep, facts) ||
        isOnlyMadeBy(root, facts.file, (made) => isOfFixedLength(made, facts.file));
      const epoch = !queue && isEmptied(keep, facts);
      if (epoch && !isEmptiedByEpoch(keep, facts)) continue;
      if (!queue && !isBackwarded(added, keep.loop, facts) && keptForBackward(keep, facts)) continue;
      yield {
        at,
        ...(queue || epoch || maybe ? { severity: "note" as const } : {}),
        message: epoch
          ? `\`${facts.file.textOf(root)}\` keeps what every step of the epoch put into it, with the graph nodes behind it`
          : queue
            ? `\`${facts.file.textOf(root)}\` holds the graphs of as many steps as fit into it, and those of the steps before cannot be differentiated again`
            : `\`${facts.file.textOf(root)}\` gets one more tensor with its graph each time and is never emptied: memory grows until it runs out`,
        fix: { grade: "unsafe", title: "Detach what is appended", edits: appendCall(added, ".detach()") },
      };
    }
  },
};

/** Filled by a Lightning module's `training_step`, and emptied by nothing but the hooks of its epochs. */
function isEmptiedByEpoch({ at, root }: Keep, facts: Facts): boolean {
  const { file } = facts;
  const cls = classOf(root);
  const fn = functionOf(at);
  if (!cls || facts.role(cls) !== "lightning" || fn?.kind !== "FunctionDef" || fn.name !== "training_step")
    return false;
  const name = file.textOf(root);
  const places: Node[] = file
    .callsNamed("clear", "pop", "popleft")
    .filter(({ func }) => func.kind === "Attribute" && file.textOf(func.value) === name);
  for (const write of attributesOf(cls, file).get(selfAttribute(root)!)?.writes ?? [])
    if (write.how === "assign" && write.in.name !== "__init__") places.push(write.target);
  return places.every((place) => {
    const around = functionOf(place);
    return around?.kind === "FunctionDef" && /_epoch_(?:end|start)$/.test(around.name);
  });
}

/** `self.losses[type(layer).__name__] = loss`: an entry under a name that comes again, unlike a step's number. */
function replaces(at: Node, { file }: Facts): boolean {
  const target = at.kind === "Assign" ? at.targets[0] : null;
  const key = target?.kind === "Subscript" ? target.index : null;
  // What it is handed may be another one each time; a name comes again.
  if (key?.kind === "Name" && file.scopes.reaching(key).some(({ how }) => how === "param"))
    return /^(?:name|key|tag|label|metric)$|_(?:name|key|tag)$/.test(key.id) && isReset(target!, file);
  return (
    target?.kind === "Subscript" &&
    !/step|iter|epoch|batch|idx|index|count|time|turn|round|len\(|\b(?:i|n|t|k)\b/i.test(
      file.textOf(target.index),
    )
  );
}

/** `def reset_infos(self): self.infos = {}`, for whoever has the object. */
function isReset(target: Expr, file: PythonFile): boolean {
  const kept = target.kind === "Subscript" ? target.value : target;
  const own = selfAttribute(kept);
  const cls = own === null ? null : classOf(kept);
  const writes = cls ? (attributesOf(cls, file).get(own!)?.writes ?? []) : [];
  return writes.some(({ in: method }) => /^_*(?:reset|clear|flush)/.test(method.name));
}

function isModule(call: Node, facts: Facts): boolean {
  const cls = classOf(call);
  return cls !== null && /^(?:module|lightning)$/.test(facts.role(cls));
}

function computesFromInput(added: Expr, facts: Facts): boolean {
  return (
    added.kind !== "Tuple" &&
    added.kind !== "Dict" &&
    !isTold(added, facts) &&
    (derivesFromInput(added, facts) || (added.kind === "Name" && isOfRows(added, facts)))
  );
}

/** `if t != self.task`: who compares it as a whole was given a number. */
function isTold(expr: Expr, { file }: Facts): boolean {
  return (
    expr.kind === "Name" &&
    file.scopes
      .reaching(expr)
      .some((one) =>
        file.scopes
          .uses(one)
          .some(({ parent }) => parent?.kind === "Compare" && /^(?:==|!=)$/.test(parent.ops[0]!)),
      )
  );
}

/** `torch.index_select(self.codebook.weight, 0, codes)`, `self.codebook.weight[codes]`: rows of what learns. */
function isOfRows(expr: Expr, facts: Facts): boolean {
  const [one, ...more] = expr.kind === "Name" ? facts.file.scopes.reaching(expr) : [];
  let from = expr.kind === "Name" ? (more.length === 0 && one?.how === "assign" ? one.value : null) : expr;
  // `….view(shape)`
  while (
    from?.kind === "Call" &&
    from.func.kind === "Attribute" &&
    facts.file.dotted(from.func) === null &&
    /^(?:view|reshape|permute|contiguous|transpose)$/.test(from.func.attr)
  )
    from = from.func.value;
  const table =
    from?.kind === "Subscript"
      ? from.value
      : from?.kind === "Call" &&
          /^torch\.(?:index_select|matmul|nn\.functional\.embedding)$/.test(
            facts.file.dotted(from.func) ?? "",
          )
        ? (from.args.find(({ value }) => value.kind === "Attribute")?.value ?? null)
        : null;
  return (
    table?.kind === "Attribute" &&
    table.attr === "weight" &&
    selfAttribute(table.value) !== null &&
    facts.value(table.value).what === "module"
  );
}
