import type { PythonFile } from "../../python/file.ts";
import { functionOf } from "../../python/nodes.ts";
import type { Expr, Name, Node } from "../../python/tree.ts";
import type { Facts } from "./facts.ts";
import { paramGiven } from "./returns.ts";
import { usesOf } from "./tensor-use.ts";
import { sendsBatch } from "./transfers.ts";

/** `views = [torch.cat(large), torch.cat(small)]`, and then `[view.to(device) for view in views]` or `views[0].to(device)`; or of a dict, by its items. */
export function isSentOneByOne(joined: Expr, moves: (expr: Expr) => boolean, { file }: Facts): boolean {
  const { scopes } = file;
  // `torch.cat([v, v]) if torch.is_tensor(v) else v`
  const { parent } = joined.parent?.kind === "IfExp" ? joined.parent : joined;
  const all = parent && /^(?:List|Tuple|Dict|Comp)$/.test(parent.kind) ? parent : null;
  const [name] = all?.parent?.kind === "Assign" && all.parent.value === all ? all.parent.targets : [];
  const made = name?.kind === "Name" ? scopes.definitionAt(name) : null;
  return (
    made !== null &&
    scopes.uses(made).some((use) => {
      // A comprehension above sees this definition too.
      if (use.start < joined.end) return false;
      if (use.parent?.kind === "Subscript")
        return use.parent.value === use && (moves(use.parent) || isMovedByName(use.parent, moves, file));
      // `batch.items()`
      const asked = use.parent?.kind === "Attribute" ? use.parent : null;
      const over =
        asked && /^(?:items|values)$/.test(asked.attr) && asked.parent?.kind === "Call" ? asked.parent : use;
      const loop = over.parent;
      if ((loop?.kind !== "For" && loop?.kind !== "Clause") || loop.iter !== over) return false;
      const { target } = loop;
      const one = target.kind === "Tuple" ? target.items[target.items.length - 1] : target;
      const each = one?.kind === "Name" ? scopes.definitionAt(one) : null;
      return each !== null && scopes.uses(each).some(moves);
    })
  );
}

/** `images, masks = batch["image"], batch["mask"]`, and `images.to(device)` below. */
function isMovedByName(part: Expr, moves: (expr: Expr) => boolean, { scopes }: PythonFile): boolean {
  const several = part.parent?.kind === "Tuple" ? part.parent : null;
  const statement = several ? several.parent : part.parent;
  const [left] =
    statement?.kind === "Assign" && statement.value === (several ?? part) ? statement.targets : [];
  const target = several ? (left?.kind === "Tuple" ? left.items[several.items.indexOf(part)] : null) : left;
  const made = target?.kind === "Name" ? scopes.definitionAt(target) : null;
  return made !== null && scopes.uses(made).some(moves);
}

/** `to_torch((frames, actions), device)`, `to_gpu(joined)` */
export function isSentAmong({ parent }: Expr, { file }: Facts): boolean {
  const given = parent?.kind === "Tuple" || parent?.kind === "List" ? parent.parent : parent;
  return given?.kind === "Arg" && given.parent?.kind === "Call" && sendsBatch(given.parent, file);
}

/** `batch["x"] = torch.cat(…)`, and the whole batch is sent below: `send(batch, lambda t: t.to(device))`. */
export function isSentWhole(batch: Name, above: Node, { file }: Facts): boolean {
  return file
    .all("Call")
    .some(
      (call) =>
        call.start > above.end &&
        functionOf(call) === functionOf(batch) &&
        call.args.some(({ value }) => value.kind === "Name" && value.id === batch.id) &&
        (sendsBatch(call, file) ||
          call.args.some(
            ({ value }) => value.kind === "Lambda" && /\.(?:to|cuda)\(/.test(file.textOf(value.body)),
          )),
    );
}

/** `batch[key] = torch.cat(…)`, and below it `batch["x"].to(device)`. */
export function isSentByKey(
  { id }: Name,
  above: Node,
  moves: (expr: Expr) => boolean,
  { file }: Facts,
): boolean {
  const fn = functionOf(above);
  return file
    .all("Subscript")
    .some(
      (one) =>
        one.start > above.end &&
        one.value.kind === "Name" &&
        one.value.id === id &&
        moves(one) &&
        functionOf(one) === fn,
    );
}

/** `cc(joined)`, and `self.learn(joined)` whose `joined.to(device)` or `cc(joined)` it is: functions of the tree send what they are given. */
export function isSentByCallee(use: Expr, moves: (expr: Expr) => boolean, facts: Facts, depth = 0): boolean {
  const arg = use.parent?.kind === "Arg" && use.parent.star === 0 ? use.parent : null;
  const call = arg?.parent;
  if (!arg || call?.kind !== "Call" || depth > 2) return false;
  const callee = facts.callee(call);
  if (callee?.copies) {
    const shift = callee.params[0] === "self" ? 1 : 0;
    const param = arg.name ?? callee.params[call.args.indexOf(arg) + shift];
    if (param !== undefined && callee.copies.includes(param)) return true;
  }
  const param = paramGiven(call, arg, facts.file);
  const given = param && facts.file.scopes.definitionAt(param);
  return (
    given !== null &&
    usesOf(given, facts.file).some(
      (one) => moves(one) || isSentAmong(one, facts) || isSentByCallee(one, moves, facts, depth + 1),
    )
  );
}
