import { keyword } from "../../python/file.ts";
import { classOf, contains, functionOf, lastWord, namesIn, statementOf, walk } from "../../python/nodes.ts";
import type { PythonFile } from "../../python/file.ts";
import type { Definition } from "../../python/scopes.ts";
import type { Assign, Call, Clause, Expr, For, Node } from "../../python/tree.ts";
import { everyTurn } from "../facts/updates.ts";
import type { Facts } from "../facts/facts.ts";
import { attributesOf, selfAttribute } from "../facts/classes.ts";
import { derivesFrom } from "../facts/backwarded.ts";
import { loopsAround } from "../facts/training.ts";
import type { Finding, Rule } from "../rule.ts";

const PARTS = /modules$|parameters$|children$|^state_dict$|^(?:Module|Parameter)(?:List|Dict)$/;

export const rule: Rule = {
  meta: {
    code: "PLM034",
    name: "loop-of-small-kernels",
    summary: "Modules or parameters are computed with one by one: a few small kernels for each",
    severity: "note",
    fix: "none",
    patterns: [34],
  },
  *check(facts) {
    const { file } = facts;
    if (
      file.calls.matching(PARTS).length === 0 &&
      !file.mentions("param_groups") &&
      file.once(optimisedDicts).size === 0
    )
      return;
    for (const found of known(facts))
      if (!facts.guesses || !isOfTheHost(found.at as Node, facts)) yield found;
    if (facts.guesses)
      for (const found of computed(facts)) if (!isOfTheHost(found.at as Node, facts)) yield found;
  },
};

function* known(facts: Facts): Generator<Finding> {
  yield* sums(facts);
  yield* lists(facts);
  yield* comprehensions(facts);
  yield* updates(facts);
}

/** Several processes that share what is in the memory of the host; and `out + p.sum() * 0`, which is for what got no example. */
const isOfTheHost = (node: Node, { file }: Facts): boolean =>
  file.mentions("share_memory_") || /\* ?0(?:\.0*)?$/.test(file.textOf(statementOf(node) ?? node));

/** What computes with the parameter of the turn, or writes into it. */
const COMPUTES =
  /^(?:norm|sum|mean|abs|pow|square|std|var|max|min|dot|sqrt|exp|sign|mul|add|sub|div|lerp|clamp|clone|(?:add|mul|sub|div|lerp|addcmul|addcdiv|copy|clamp|clip|zero|sign|normal|fill)_)$/;

/** What happens once, or to no numbers. */
const SETS =
  /init|freez|count|num_param|save|load|print|summary|hook|register|broadcast|reduce|export|reset|copy_(?:model|weights|params)|hard_update|sync|inspect|size|profile|convert|clip/i;

/** Any loop over parameters or layers in a step that computes with each: a penalty, a norm, an average, an update by hand. */
function* computed(facts: Facts): Generator<Finding> {
  const { file } = facts;
  const clauses = file.all("Comp").flatMap((comp) => {
    const [clause] = comp.clauses;
    return clause && comp.clauses.length === 1
      ? [
          {
            at: comp,
            target: clause.target,
            iter: clause.iter,
            body: [comp.value ?? comp.element] as readonly Node[],
          },
        ]
      : [];
  });
  const loops = file
    .all("For")
    .map((loop) => ({ at: loop, target: loop.target, iter: loop.iter, body: loop.body as readonly Node[] }));
  for (const { at, target, iter, body } of [...loops, ...clauses]) {
    if (!isOverModules(iter, facts) && !PARTS_IN.test(file.textOf(iter))) continue;
    const fn = functionOf(at);
    if (fn?.kind === "FunctionDef" && SETS.test(fn.name)) continue;
    if (
      !everyTurn(at, facts) ||
      loopsAround(at).some((one) => one.kind === "For" && PARTS_IN.test(file.textOf(one.iter)))
    )
      continue;
    // What is computed with a layer's output is the layer's work.
    const ofParameters = /param|"params"|state_dict|weights/.test(file.textOf(iter));
    const names = new Set(namesIn(target).map(({ id }) => id));
    let found: Node | null = null;
    for (const statement of body)
      walk(statement, (node) => {
        if (
          node.kind === "Call" &&
          isComputed(node, names, file) &&
          (ofParameters || /\.(?:weight|bias)\b/.test(file.textOf(node)))
        )
          found ??= node;
        return found === null;
      });
    const update = found as Node | null;
    if (update) yield { at: update, message: EACH };
  }
}

const PARTS_IN = /\b(?:named_)?parameters\(\)|\bstate_dict\(\)\.(?:values|items)/;

const EACH =
  "Each parameter is computed with by its own small kernels, one launch after the other, on every step; a `torch._foreach_` function, or one expression over a stack of them, does all together";

/** `p.grad.norm()`, `torch.sum(p ** 2)` of the turn's `p`, and no number in the end. */
function isComputed(call: Call, names: ReadonlySet<string>, file: PythonFile): boolean {
  const { func } = call;
  if (func.kind !== "Attribute" || !COMPUTES.test(func.attr)) return false;
  const dotted = file.dotted(func) ?? "";
  const of = dotted.startsWith("torch.") ? call.args[0]?.value : dotted === "" ? func.value : undefined;
  return (
    of !== undefined &&
    namesIn(of).some(({ id }) => names.has(id)) &&
    !/\b(?:numel|shape|size|requires_grad|device|dist|reduce)\b/.test(file.textOf(of))
  );
}

function* sums(facts: Facts): Generator<Finding> {
  const { file } = facts;
  for (const statement of [...file.all("AugAssign"), ...file.all("Assign").filter(isOfSum)]) {
    const target = statement.kind === "AugAssign" ? statement.target : statement.targets[0];
    const added = statement.kind === "AugAssign" ? statement.value : addedTo(statement.value, target);
    if (target?.kind !== "Name" || !added || (statement.kind === "AugAssign" && statement.op !== "+"))
      continue;
    const loop = loopsAround(statement).findLast(
      (one) => one.kind === "For" && isOverModules(one.iter, facts),
    );
    if (!loop || facts.gradMode(statement) === "off" || !computes(added, facts)) continue;
    if (isOfLayers(added, loop as For, file)) continue;
    const made = file.scopes.definitionAt(target);
    if (!made) continue;
    const differentiated =
      facts.isDifferentiated(made) ||
      facts.backwards.some(({ loss }) => loss !== null && derivesFrom(loss, new Set([made]), facts));
    // The sum must be handed on as a loss, returned, or made on every step.
    if (
      differentiated ||
      file.scopes.uses(made).some((use) => isReturned(use)) ||
      isSummedEveryStep(statement, loop as For, facts)
    )
      yield report(statement, target.id);
  }
}

/** Beside `x = block(x)` of each block in turn: what is computed of no parameter there is the network's own work. */
function isOfLayers(added: Expr, loop: For, file: PythonFile): boolean {
  const turns = new Set(namesIn(loop.target).map((name) => name.id));
  return (
    !/\.(?:weight|bias|grad|data)\b|parameters\(/.test(file.textOf(added)) &&
    file
      .callsNamed(...turns)
      .some((call) => call.func.kind === "Name" && turns.has(call.func.id) && contains(loop, call))
  );
}

/** `terms.append((fisher[n] * (p - old[n]) ** 2).sum())`, to be summed after the loop. */
function* lists(facts: Facts): Generator<Finding> {
  for (const call of facts.file.callsNamed("append")) {
    const [loop] = loopsAround(call);
    const [item] = call.args;
    if (loop?.kind !== "For" || !item || call.func.kind !== "Attribute") continue;
    if (
      isOverModules(loop.iter, facts) &&
      computes(item.value, facts) &&
      !isOfLayers(item.value, loop, facts.file) &&
      isSummedEveryStep(call, loop, facts)
    )
      yield report(call, facts.file.textOf(call.func.value));
  }
}

/** A test in a loop over parameters picks some of them; in one over layers it may be a throttle. */
function isSummedEveryStep(node: Node, loop: For, facts: Facts): boolean {
  return (
    everyTurn(node, facts) || (/parameters\(\)/.test(facts.file.textOf(loop.iter)) && everyTurn(loop, facts))
  );
}

const isOfSum = ({ value }: Assign): boolean => value.kind === "Binary" && value.op === "+";

function addedTo(value: Expr, target: Expr | undefined): Expr | null {
  if (value.kind !== "Binary" || value.op !== "+" || target?.kind !== "Name") return null;
  const own = (expr: Expr): boolean => expr.kind === "Name" && expr.id === target.id;
  return own(value.left) ? value.right : own(value.right) ? value.left : null;
}

/** `sum(p.abs().sum() for p in model.parameters())` in a step. */
function* comprehensions(facts: Facts): Generator<Finding> {
  for (const comp of facts.file.all("Comp")) {
    const clause: Clause | undefined = comp.clauses[0];
    if (!clause || !isOverModules(clause.iter, facts) || facts.gradMode(comp) === "off") continue;
    const call = comp.parent?.kind === "Arg" ? comp.parent.parent : null;
    // A list of them, to be stacked later.
    const listed = comp.parent?.kind === "Assign" && comp.parent.value === comp;
    if (
      !listed &&
      (call?.kind !== "Call" ||
        !/^(?:builtins\.(?:sum|max|min)|torch\.stack)$/.test(facts.file.dotted(call.func) ?? ""))
    )
      continue;
    if (computes(comp.value ?? comp.element, facts) && everyTurn(comp, facts)) yield report(comp, "it");
  }
}

/** `for p in model.parameters(): p.data.add_(…)` on every step: one `torch._foreach_…` or an optimizer does them all. */
function* updates(facts: Facts): Generator<Finding> {
  const { file } = facts;
  for (const loop of file.all("For")) {
    if (!isOverModules(loop.iter, facts) || !everyTurn(loop, facts)) continue;
    let found: Node | null = null;
    walk(loop, (node) => {
      if (
        (node.kind === "Call" &&
          node.func.kind === "Attribute" &&
          /^(?:add_|mul_|sub_|div_|lerp_|addcmul_|addcdiv_|copy_|clamp_|clip_|normal_|zero_|sign_)$/.test(
            node.func.attr,
          ) &&
          !/dist|reduce/.test(file.textOf(node.func.value))) ||
        isMended(node, loop, facts) ||
        isWritten(node, loop, facts)
      )
        found ??= node;
      return found === null;
    });
    const update = found as Node | null;
    if (update && loopsAround(update).find((one) => one.kind === "For" && contains(loop, one)) === loop)
      yield {
        at: update,
        message:
          "Each parameter is updated by its own small kernels, one launch after the other, on every step; a `torch._foreach_` function or a fused optimizer does all of them together",
      };
  }
}

/** What ends like writing in place and computes nothing. */
const SETTINGS_IN_PLACE = /^(?:requires_grad_|detach_|share_memory_|resize_|set_|swap_|rename_)$/;

/** `p.grad.nan_to_num_(0.0)`, `torch.nan_to_num(p.grad, out=p.grad)`: whatever is written in place into the turn's own, or its gradient. */
function isMended(node: Node, loop: For, { file }: Facts): boolean {
  if (node.kind !== "Call" || node.func.kind !== "Attribute") return false;
  const out = keyword(node, "out")?.value;
  if (out) return (file.dotted(node.func) ?? "").startsWith("torch.") && isTurns(out, loop, file);
  return (
    node.func.attr.endsWith("_") &&
    !node.func.attr.startsWith("_") &&
    !SETTINGS_IN_PLACE.test(node.func.attr) &&
    isTurns(node.func.value, loop, file)
  );
}

/** `p`, `p.data` or `p.grad` of the turn's `p`. */
function isTurns(expr: Expr, loop: For, file: PythonFile): boolean {
  return expr.kind === "Attribute"
    ? /^(?:data|grad)$/.test(expr.attr) && isTurns(expr.value, loop, file)
    : expr.kind === "Name" &&
        file.scopes.lookup(expr)?.definitions.some((one) => contains(loop.target, one.node)) === true;
}

/** `p -= lr * p.grad`, `p.data = …`, `shadow[name] = decay * shadow[name] + (1 - decay) * p.data` */
function isWritten(node: Node, loop: For, facts: Facts): boolean {
  const target =
    node.kind === "AugAssign" ? node.target : node.kind === "Assign" ? (node.targets[0] ?? null) : null;
  if (!target || (node.kind !== "AugAssign" && node.kind !== "Assign")) return false;
  const { value } = node;
  const own = (expr: Expr): boolean => isTurns(expr, loop, facts.file);
  if (node.kind === "AugAssign" && target.kind !== "Subscript") return own(target);
  if (target.kind === "Subscript" || (target.kind === "Attribute" && own(target))) {
    let mentions = false;
    walk(value, (inner) => {
      if ((inner.kind === "Name" || inner.kind === "Attribute") && own(inner)) mentions = true;
      return !mentions;
    });
    // `p.data = average(p.data, q.data)`
    const whole = target.kind === "Attribute" && target.attr === "data" && value.kind === "Call";
    return mentions && (whole || value.kind === "Binary" || computes(value, facts));
  }
  return false;
}

function report(at: Node, name: string): Finding {
  return {
    at,
    message: `Each turn adds its own handful of tiny kernels to \`${name}\`, forward and backward; stack the parameters and compute it in one expression`,
  };
}

function isOverModules(iter: For["iter"], facts: Facts, depth = 0): boolean {
  const again = (inner: Expr): boolean => depth < 4 && isOverModules(inner, facts, depth + 1);
  // `group["params"]` of an optimizer.
  if (iter.kind === "Subscript")
    return iter.index.kind === "Str" && iter.index.value === "params" && facts.file.mentions("param_groups");
  // Handed in by that name.
  const called = lastWord(iter);
  if (/(?:^|_)param(?:s|eters|(?:eter)?s?_list)$/.test(called)) return true;
  if (iter.kind === "Name") {
    const value = facts.file.scopes.onlyValue(iter);
    if (value !== null) return again(value);
    // `weights = list(a.parameters())`, then `weights += list(b.parameters())`
    const all = facts.file.scopes.lookup(iter)?.definitions ?? [];
    return (
      all.some(({ how }) => how === "augment") &&
      all.every((one) => (one.how === "assign" || one.how === "augment") && isJoined(one.value, again)) &&
      all.some(({ value: one }) => one !== null && again(one))
    );
  }
  // `list(a.parameters()) + list(b.parameters())`, `[*a.parameters(), *b.parameters()]`
  if (iter.kind === "Binary")
    return (
      iter.op === "+" && isOverModules(iter.left, facts, depth) && isOverModules(iter.right, facts, depth)
    );
  if (iter.kind === "List" || iter.kind === "Tuple")
    return iter.items.length > 0 && iter.items.every((item) => item.kind === "Starred" && again(item.value));
  // `[p for p in model.parameters() if p.requires_grad]`
  if (iter.kind === "Comp")
    return iter.element.kind === "Name" && iter.clauses[0] !== undefined && again(iter.clauses[0].iter);
  if (iter.kind === "Attribute") {
    const cls = selfAttribute(iter) === null ? null : classOf(iter);
    const writes = cls ? (attributesOf(cls, facts.file).get(iter.attr)?.writes ?? []) : [];
    const holds = (made: Expr): boolean =>
      (made.kind === "Call" &&
        /^torch\.nn\.(?:Module|Parameter)(?:List|Dict)$/.test(facts.file.dotted(made.func) ?? "")) ||
      // By its name alone what is kept under another is not known.
      (made.kind !== "Name" && made.kind !== "Attribute" && again(made));
    return (
      // A list that is begun empty and not added to is filled in ways that are not seen.
      (writes.some(({ how }) => how === "augment")
        ? writes.every(({ value }) => isJoined(value, holds))
        : writes.every(({ value }) => value !== null && holds(value))) &&
      writes.some(({ value }) => value !== null && holds(value))
    );
  }
  if (iter.kind !== "Call") return false;
  const name = facts.file.dotted(iter.func) ?? "";
  if (name === "itertools.chain")
    return iter.args.length > 0 && iter.args.every((arg) => arg.star === 0 && again(arg.value));
  if (name === "builtins.zip") return iter.args.some((arg) => again(arg.value));
  if (/^(?:builtins\.(?:list|tuple|enumerate|dict)|collections\.OrderedDict)$/.test(name))
    return iter.args[0] !== undefined && again(iter.args[0].value);
  if (name === "builtins.filter") return iter.args[1] !== undefined && again(iter.args[1].value);
  // `self.weights.values()` of a ParameterDict
  if (
    iter.func.kind === "Attribute" &&
    /^(?:values|items|keys)$/.test(iter.func.attr) &&
    iter.func.value.kind === "Attribute"
  )
    return again(iter.func.value);
  // `params.items()` of `params = dict(model.named_parameters())`, or of which an optimizer is given the values.
  if (
    iter.func.kind === "Attribute" &&
    /^(?:values|items|keys)$/.test(iter.func.attr) &&
    iter.func.value.kind === "Name"
  ) {
    const held = iter.func.value;
    const binding = facts.file.scopes.lookup(held);
    const made = facts.file.scopes.onlyValue(held);
    return (
      (binding !== null && facts.file.once(optimisedDicts).has(binding.definitions)) ||
      (made !== null && made.kind !== "Name" && again(made))
    );
  }
  // `model.state_dict().values()`
  if (
    iter.func.kind === "Attribute" &&
    /^(?:values|items)$/.test(iter.func.attr) &&
    iter.func.value.kind === "Call" &&
    iter.func.value.func.kind === "Attribute"
  )
    return iter.func.value.func.attr === "state_dict";
  return (
    iter.func.kind === "Attribute" &&
    /^(?:named_)?(?:modules|parameters|children)$/.test(iter.func.attr) &&
    facts.file.dotted(iter.func) === null
  );
}

/** Dicts whose values an optimizer is given: `SGD(params.values(), lr)`, `Adam([p for p in params.values() if p.requires_grad])`. */
function optimisedDicts(file: PythonFile): ReadonlySet<readonly Definition[]> {
  const found = new Set<readonly Definition[]>();
  for (const call of file.callsNamed("values")) {
    if (call.func.kind !== "Attribute" || call.func.value.kind !== "Name") continue;
    let at: Node | null = call.parent;
    while (
      at &&
      (/^(?:Arg|Comp|Clause)$/.test(at.kind) ||
        (at.kind === "Call" && file.dotted(at.func) === "builtins.list"))
    )
      at = at.parent;
    const binding = file.scopes.lookup(call.func.value);
    if (
      binding &&
      at?.kind === "Call" &&
      /^torch\.optim\.(?:\w+\.)*[A-Z]\w*$/.test(file.dotted(at.func) ?? "")
    )
      found.add(binding.definitions);
  }
  return found;
}

/** One of the parts that a list is put together of; it may begin with none. */
function isJoined(value: Expr | null, holds: (part: Expr) => boolean): boolean {
  return value !== null && ((value.kind === "List" && value.items.length === 0) || holds(value));
}

/** Some torch arithmetic stands behind the added value, as seen in this loop. */
function computes(value: Expr, facts: Facts): boolean {
  const { what } = facts.value(value);
  if (what === "number") return false;
  if (runsModule(value, facts)) return false;
  if (value.kind === "Name")
    return facts.file.scopes
      .reaching(value)
      .some((one) => one.value !== null && one.value.kind !== "Name" && computes(one.value, facts));
  let found = false;
  walk(value, (node) => {
    // `norm = p.grad.norm()` above, then `total += norm ** 2`
    if (node.kind === "Name" && node.parent?.kind === "Binary")
      found ||= facts.file.scopes
        .reaching(node)
        .some(({ how, value: made }) => how === "assign" && made?.kind === "Call" && computes(made, facts));
    if (node.kind === "Call" && node.func.kind === "Attribute") {
      if (
        /^(?:numel|size|dim|item|element_size)$/.test(node.func.attr) ||
        (facts.file.dotted(node.func) ?? "").startsWith("math.")
      )
        found = false;
      else if (
        /^(?:mean|sum|norm|pow|abs|square|std|var|max|min)$/.test(node.func.attr) ||
        (facts.file.dotted(node.func) ?? "").startsWith("torch.")
      ) {
        found = true;
        return false;
      }
    }
    return !found;
  });
  return found && !/\b(?:numel|item)\b/.test(facts.file.textOf(value));
}

/** `layer(x)`: the module itself is the work, and no small one. */
function runsModule(value: Expr, facts: Facts): boolean {
  let found = false;
  walk(value, (node) => {
    if (
      node.kind === "Call" &&
      node.func.kind === "Name" &&
      facts.file.scopes.lookup(node.func)?.definitions.some(({ how }) => how === "iterate") === true
    )
      found = true;
    return !found;
  });
  return found;
}

function isReturned(node: Node): boolean {
  for (let at = node.parent; at; at = at.parent) {
    if (at.kind === "Return") return true;
    if (at.kind === "Call" || at.kind === "Compare" || at.kind === "If") return false;
  }
  return false;
}
