import { handedIn } from "./handed-in.ts";
import { lastWord } from "../../python/nodes.ts";
import type { PythonFile } from "../../python/file.ts";
import type { Definition } from "../../python/scopes.ts";
import type { Call, Expr } from "../../python/tree.ts";
import type { Networks } from "./naming.ts";
import { SENDS, sendsBatch } from "./transfers.ts";

/** Keyword arguments of networks that are tensors; others may be flags. */
const DATA =
  /^(?:x|y|inputs?|input_ids|labels?|targets?|pixel_values|attention_mask|tokens|images?|src|tgt|idx|hidden_states|features)$/;

/** What people pass along beside the data: settings, counters, places. */
const PLAIN =
  /^(?:args?|cfg|conf|config|opts?|options?|h?params|kwargs|epochs?|it|i|j|n|k|rank|device|dtype|mode|name|path|(?:\w*_)?(?:steps?|iter\w*|epoch|sizes?|lens?|lengths?|dim|scale|weight|factor|coeff?|alpha|beta|lr|strategy|type|name|mode|config|args|flag|seed|prompts?|texts?))$/i;

/** What holds the tensors of a batch as its attributes. */
const HOLDER =
  /^(?:\w*_)?(?:data|batch|minibatch|mb|samples?|graphs?|inputs|transitions?|experiences?|rollouts?|features)$/i;

/** Definitions behind an argument that are looked at before it is left alone. */
const MAX_HISTORY = 60;

/** Definitions whose value a network, or a loss beside a network's output, is called with: they are on its device. */
export function fedToNetworks(
  file: PythonFile,
  networks: Networks,
  differentiated: ReadonlySet<Definition>,
): ReadonlySet<Definition> {
  const found = new Set<Definition>();
  const feedOne = (expr: Expr): void => {
    const root = rootOf(expr);
    if (root && !PLAIN.test(root.id) && !isCounter(root, file))
      for (const definition of file.scopes.reaching(root))
        if (definition.how !== "function" && definition.how !== "class" && definition.how !== "import") {
          found.add(definition);
          for (const beside of broughtWith(definition, file)) found.add(beside);
        }
  };
  const feed = (call: Call, tensors: number): void => {
    for (const [at, arg] of call.args.entries()) {
      const told = arg.name ?? (at < tensors ? null : (rootOf(arg.value)?.id ?? ""));
      if (arg.star === 2 || (arg.star === 0 && (told === null || DATA.test(told)))) feedOne(arg.value);
    }
  };
  for (const call of networks.calls) {
    // What a library or this file is known to define under its name is no network.
    const name = file.dotted(call.func);
    if (name === null && (networks.is(call.func) || isForward(call, networks))) feed(call, 3);
    else if (
      (name === null ? networks.isLoss(call.func) : isNamedLoss(name)) &&
      call.args.some((arg) => isOutput(arg.value, file, networks, new Set()))
    )
      feed(call, 2);
  }
  // `loss = img2mse(rgb, target)`, whatever computed them.
  for (const { value } of differentiated)
    if (value?.kind === "Call" && LOSSES.test(lastWord(value.func)))
      for (const one of computed(value, file, networks)) found.add(one);
  // `batch_to_device(batch, device)`, in place.
  for (const call of file.calls.matching(SENDS))
    if (call.parent?.kind === "ExprStmt" && sendsBatch(call, file)) feed(call, 1);
  // `d_loss(nets, x_real)`: what a function of this file gives a network as it got it.
  for (const definition of found) {
    for (const given of handedIn(definition, file, true)) feedOne(given);
    // `x = 0.8 * x + 0.2 * x[order]`: what it was before was there already.
    if (definition.how === "assign" && definition.value?.kind === "Binary")
      for (const part of terms(definition.value)) if (rootOf(part)?.id === definition.name) feedOne(part);
  }
  return found;
}

/** `torch.nn.functional.binary_cross_entropy_with_logits`, `losses.dice_loss` */
function isNamedLoss(name: string): boolean {
  return (name.endsWith("loss") || name.includes("entropy")) && /(?:^|\.)\w*(?:loss|entropy\w*)$/.test(name);
}

/** What arithmetic is done with. */
function terms(expr: Expr): readonly Expr[] {
  return expr.kind === "Binary" ? [...terms(expr.left), ...terms(expr.right)] : [expr];
}

/** `seen += 1`; `time = 0.0`, and `time = time + step` */
function isCounter(name: Expr & { kind: "Name" }, { scopes }: PythonFile): boolean {
  const all = scopes.lookup(name)?.definitions ?? [];
  return (
    all.some(({ how, value }) => how === "augment" && value?.kind === "Num") ||
    (all.length > 1 && all.some(({ how, value }) => how === "assign" && value?.kind === "Num"))
  );
}

/** What a loss is computed from, where no network is handed in beside it, which would run on what is sent there first. */
function computed(call: Call, file: PythonFile, networks: Networks): readonly Definition[] {
  const roots = call.args.map(({ value }) => rootOf(value));
  if (roots.some((root) => root === null || networks.is(root))) return [];
  return roots
    .slice(0, 2)
    .flatMap((root) => (PLAIN.test(root!.id) ? [] : file.scopes.reaching(root!)))
    .filter(({ how, value }) => (how === "assign" || how === "unpack") && value?.kind === "Call");
}

const LOSSES = /loss|mse|crit|entropy|nll|objective/i;

/** Calls that bring a whole batch: what comes with a network's input is where that is. */
const BRINGS =
  /^(?:sample\w*|get_\w*batch|next_batch|fetch\w*|to_torch|to_device|to_cuda|move_to_\w+|prepare_batch|make_batch)$/;

/** `state, action, reward = buffer.sample(256)`, also of `batch = buffer.sample(256)` above. */
function broughtWith({ how, value, node }: Definition, file: PythonFile): readonly Definition[] {
  const tuple = node.parent;
  const by = value?.kind === "Name" ? file.scopes.onlyValue(value) : value;
  if (how !== "unpack" || by?.kind !== "Call" || tuple?.kind !== "Tuple") return [];
  if (!BRINGS.test(lastWord(by.func))) return [];
  return tuple.items.flatMap((item) =>
    item.kind === "Name" && item.id !== "_" && !PLAIN.test(item.id)
      ? (file.scopes.definitionAt(item) ?? [])
      : [],
  );
}

/** Parts of an actor and its critic, which compute with what they are given as it is; `act` may be given an array. */
const JUDGES = /^(?:pi|v|q\d?|get_values?|evaluate_actions)$/;

/** `model.forward(x)`; `self.model.bpr_loss(users, items)`, which is handed tensors and no batch to take apart and send. */
function isForward({ func, args }: Call, networks: Networks): boolean {
  return (
    func.kind === "Attribute" &&
    (func.attr === "forward" || (func.attr.endsWith("_loss") && args.length > 1) || JUDGES.test(func.attr)) &&
    networks.is(func.value)
  );
}

/** What batches that are objects call their tensors. */
const MEMBERS =
  /^(?:x|y|pos|edge_index|edge_attr|obs|observations?|actions?|states?|src|trg|tgt|text|input_ids|images?|inputs?|labels?|features?|tokens|mels?|audio|wav)$/;

/** `batch["x"].view(-1)`, `batch.x` → `batch`. */
function rootOf(expr: Expr): (Expr & { kind: "Name" }) | null {
  let at = expr;
  for (;;) {
    if (at.kind === "Name") return at;
    if (at.kind === "Subscript") at = at.value;
    // `data.x` of a graph, `data.observations` of a replay buffer.
    else if (
      at.kind === "Attribute" &&
      at.value.kind === "Name" &&
      at.value.id !== "self" &&
      (HOLDER.test(at.value.id) || MEMBERS.test(at.attr))
    )
      at = at.value;
    else if (
      at.kind === "Call" &&
      at.func.kind === "Attribute" &&
      /^(?:view|reshape|flatten|float|long|transpose|permute|contiguous|squeeze|unsqueeze)$/.test(
        at.func.attr,
      )
    )
      at = at.func.value;
    else return null;
  }
}

/** Each definition is followed once: a module's forward rebinds the same name dozens of times. */
function isOutput(expr: Expr, file: PythonFile, networks: Networks, seen: Set<Definition>): boolean {
  const again = (inner: Expr): boolean => isOutput(inner, file, networks, seen);
  switch (expr.kind) {
    case "Name":
      return file.scopes.reaching(expr).some((one) => {
        if (seen.has(one) || seen.size > MAX_HISTORY) return false;
        seen.add(one);
        return one.value !== null && (one.how === "assign" || one.how === "unpack") && again(one.value);
      });
    case "Attribute":
    case "Subscript":
      return again(expr.value);
    case "Call":
      return networks.is(expr.func) || (expr.func.kind === "Attribute" && again(expr.func.value));
    default:
      return false;
  }
}
