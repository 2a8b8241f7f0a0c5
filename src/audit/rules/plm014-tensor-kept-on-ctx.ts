import { classOf, contains, functionOf, statementOf, walk } from "../../python/nodes.ts";
import type { Definition } from "../../python/scopes.ts";
import type { Assign, ClassDef, Expr, FunctionDef, Stmt } from "../../python/tree.ts";
import { deleteStatement, indentAt } from "../edits.ts";
import { methodsOf } from "../facts/classes.ts";
import type { Facts } from "../facts/facts.ts";
import { hasTensorMethod } from "../facts/inputs.ts";
import { callTarget } from "../facts/summary.ts";
import { usedAsTensor } from "../facts/tensor-use.ts";
import type { Edit, Fix, Rule } from "../rule.ts";

export const rule: Rule = {
  meta: {
    code: "PLM014",
    name: "tensor-kept-on-ctx",
    summary: "An autograd function keeps a tensor as an attribute of ctx instead of saving it",
    severity: "warning",
    fix: "unsafe",
    patterns: [14],
  },
  *check(facts) {
    for (const cls of facts.file.all("ClassDef")) {
      // With `self` and no `@staticmethod` it is a function of old, which torch does not run any more.
      if (facts.role(cls) !== "function" || isOfOld(cls)) continue;
      const stores = storesOf(cls, facts);
      const fix = saveInstead(cls, stores, facts);
      const dropped = droppedIn(cls, facts);
      for (const store of stores)
        if (!dropped.has(store.attr))
          yield {
            at: store.at,
            ...(store.sure ? {} : { severity: "note" as const }),
            message: `\`ctx.${store.attr}\` keeps the tensor past its backward, out of sight of checkpointing and offloading; \`save_for_backward\` is freed with the graph`,
            ...(fix ? { fix } : {}),
          };
    }
  },
};

function isOfOld(cls: ClassDef): boolean {
  return methodsOf(cls).some(
    ({ name, params, decorators }) =>
      name === "forward" && params[0]?.name === "self" && decorators.length === 0,
  );
}

/** `del ctx.inputs` or `ctx.inputs.pop()` in backward: gone when that is done. */
function droppedIn(cls: ClassDef, facts: Facts): ReadonlySet<string> {
  const deleted = facts.file
    .all("Delete")
    .filter((statement) => contains(cls, statement))
    .flatMap(({ targets }) => targets);
  const emptied = facts.file
    .callsNamed("pop", "clear")
    .flatMap(({ func }) => (func.kind === "Attribute" && contains(cls, func) ? [func.value] : []));
  return new Set([...deleted, ...emptied].flatMap((one) => (one.kind === "Attribute" ? [one.attr] : [])));
}

interface Store {
  readonly at: Stmt;
  readonly attr: string;
  readonly value: Expr;
  readonly fn: FunctionDef;
  /** More speaks for a tensor than that it is the function's first input. */
  readonly sure: boolean;
}

function storesOf(cls: ClassDef, facts: Facts): Store[] {
  const found: Store[] = [];
  for (const statement of facts.file.all("Assign")) {
    const fn = functionOf(statement);
    if (
      fn?.kind !== "FunctionDef" ||
      classOf(statement) !== cls ||
      !/^(?:forward|setup_context)$/.test(fn.name)
    )
      continue;
    const [target] = statement.targets;
    const pairs: (readonly [Expr, Expr])[] =
      target?.kind === "Tuple" &&
      statement.value.kind === "Tuple" &&
      target.items.length === statement.value.items.length
        ? target.items.map(
            (item, at) => [item, (statement.value as Expr & { kind: "Tuple" }).items[at]!] as const,
          )
        : target
          ? [[target, statement.value]]
          : [];
    found.push(...storesOfInputs(statement, fn, facts));
    for (const [to, value] of pairs) {
      if (to.kind !== "Attribute" || to.value.kind !== "Name" || to.value.id !== fn.params[0]?.name) continue;
      // Neither what says that it is none, nor the layers' own weights.
      if (/non_?tensor|^(?:weights|params|parameters)$/i.test(to.attr)) continue;
      const parts =
        value.kind === "List" || value.kind === "Tuple"
          ? value.items
          : value.kind === "Dict"
            ? value.values
            : [value];
      // `ctx.input_tensors = list(args[:n])` says itself what they are.
      const said = /tensors?$|inputs$|activations?$/.test(to.attr) && readsRest(value, fn);
      if (said || parts.some((part) => !isWeight(part, fn) && isTensor(part, fn, facts, 0)))
        found.push({
          at: statement,
          attr: to.attr,
          value,
          fn,
          sure: said || parts.some((part) => !isWeight(part, fn) && !isOnlyFirst(part, fn, facts)),
        });
    }
  }
  for (const call of facts.file.callsNamed("setattr")) {
    const fn = functionOf(call);
    const [to, name, value] = call.args.map((arg) => arg.value);
    const at = statementOf(call);
    if (fn?.kind !== "FunctionDef" || classOf(call) !== cls || !at || !value) continue;
    if (!/^(?:forward|setup_context)$/.test(fn.name) || to?.kind !== "Name" || name?.kind !== "Str") continue;
    if (to.id === fn.params[0]?.name && isTensor(value, fn, facts, 0))
      found.push({ at, attr: name.value ?? "", value, fn, sure: !isOnlyFirst(value, fn, facts) });
  }
  return found;
}

/** `ctx.x, ctx.scale = inputs` of setup_context: those that forward uses as tensors, which is given them at the same places. */
function storesOfInputs({ targets: [target], value }: Assign, fn: FunctionDef, facts: Facts): Store[] {
  const { scopes } = facts.file;
  const isInputs = value.kind === "Name" && scopes.reaching(value).some(({ node }) => node === fn.params[1]);
  if (fn.name !== "setup_context" || !isInputs || target?.kind !== "Tuple") return [];
  const forward = methodsOf(classOf(fn)!).find(({ name }) => name === "forward");
  const stores = target.items.flatMap((to, at) => {
    const param = forward?.params[at];
    const given = param?.star === 0 ? scopes.definitionAt(param) : null;
    if (!given || to.kind !== "Attribute" || to.value.kind !== "Name") return [];
    if (
      to.value.id !== fn.params[0]?.name ||
      !(isUsedAsOne(given, facts) || (at === 0 && !isPlain(given, facts)))
    )
      return [];
    return [{ at: statementOf(value)!, attr: to.attr, value, fn, sure: isUsedAsOne(given, facts) }];
  });
  // One says it of the statement.
  return stores.slice(0, 1);
}

/** `return out`: what a function's forward hands out are tensors, whoever computed them. */
function isHandedOut(made: Definition, fn: FunctionDef, { file }: Facts): boolean {
  return (
    fn.name === "forward" &&
    file.scopes.uses(made).some(({ parent }) => {
      const out = parent?.kind === "Tuple" ? parent.parent : parent;
      return out?.kind === "Return" && functionOf(out) === fn;
    })
  );
}

/** A tensor as far as this file shows: the function's first input, what is used as one, or what is computed from one. */
function isTensor(expr: Expr, fn: FunctionDef, facts: Facts, depth: number): boolean {
  if (depth > 6) return false;
  const again = (inner: Expr): boolean => isTensor(inner, fn, facts, depth + 1);
  if (facts.value(expr).what === "tensor") return true;
  switch (expr.kind) {
    case "Name": {
      const definitions = facts.file.scopes.reaching(expr);
      const [one] = definitions;
      if (definitions.length !== 1 || !one) return false;
      if (one.how === "param")
        return (
          isRest(one.name, fn) ||
          (fn.params[1] === one.node && fn.params[1].annotation === null && !isPlain(one, facts)) ||
          // What forward returned.
          (fn.params[2] === one.node && fn.name === "setup_context") ||
          isUsedAsOne(one, facts)
        );
      // `(x, …) = inputs` of setup_context, whose first input is one too, and others as forward uses them.
      const input = inputOf(one, fn, facts);
      if (input) return one.index === 0 || isUsedAsOne(input, facts);
      if (isHandedOut(one, fn, facts)) return true;
      return one.how === "assign" && one.value !== null && again(one.value);
    }
    case "Binary":
      return again(expr.left) || again(expr.right);
    case "Unary":
      return expr.op !== "not" && again(expr.operand);
    case "IfExp":
      return again(expr.body) || again(expr.orelse);
    case "Compare":
      return !/^(?:is|in|not)/.test(expr.ops[0]!) && again(expr.left);
    case "Subscript":
      return again(expr.value);
    case "Call": {
      // `list(tensors)` of all that was passed.
      if (/^builtins\.(?:list|tuple)$/.test(facts.file.dotted(expr.func) ?? ""))
        return expr.args.some(({ value }) => value.kind === "Name" && isRest(value.id, fn));
      if (/^torch\.\w+$/.test(facts.file.dotted(expr.func) ?? ""))
        return expr.args.some((arg) => again(arg.value));
      return (
        expr.func.kind === "Attribute" &&
        !/^(?:size|dim|numel|item|tolist|stride|element_size|get_device|is_contiguous|data_ptr)$/.test(
          expr.func.attr,
        ) &&
        again(expr.func.value)
      );
    }
    default:
      return false;
  }
}

/** What `theta` of `x, theta = inputs` is to the forward of the same class, which is given it at the same place. */
function inputOf({ how, index, value }: Definition, fn: FunctionDef, { file }: Facts): Definition | null {
  if (how !== "unpack" || index === null || fn.name !== "setup_context" || value?.kind !== "Name")
    return null;
  const isInputs = file.scopes.reaching(value).some(({ node }) => node === fn.params[1]);
  const forward = isInputs ? methodsOf(classOf(fn)!).find(({ name }) => name === "forward") : undefined;
  const param = forward?.params[index];
  return param && param.star === 0 ? file.scopes.definitionAt(param) : null;
}

/** Used as a tensor where it is given, or by a function of this file that it is handed to: `rotate(x, theta)`. */
function isUsedAsOne(given: Definition, facts: Facts, depth = 0): boolean {
  const { file } = facts;
  if (usedAsTensor(given, facts) || hasTensorMethod(given, file)) return true;
  return (
    depth < 2 &&
    file.scopes.uses(given).some(({ parent }) => {
      const call = parent?.kind === "Arg" && parent.star === 0 ? parent.parent : null;
      if (parent?.kind !== "Arg" || call?.kind !== "Call" || call.func.kind !== "Name") return false;
      const helper = file.functionNamed(callTarget(call, file));
      const at = call.args.indexOf(parent);
      const param =
        parent.name === null ? helper?.params[at] : helper?.params.find(({ name }) => name === parent.name);
      const inside = param && param.star === 0 ? file.scopes.definitionAt(param) : null;
      return inside !== null && isUsedAsOne(inside, facts, depth + 1);
    })
  );
}

/** The first input, named like no tensor, of which nothing is done here that says what it is. */
function isOnlyFirst(expr: Expr, fn: FunctionDef, facts: Facts): boolean {
  if (expr.kind !== "Name" || !isTensor(expr, fn, facts, 0)) return expr.kind === "Name";
  const [one] = facts.file.scopes.reaching(expr);
  return (
    one?.how === "param" &&
    fn.params[1] === one.node &&
    !usedAsTensor(one, facts) &&
    !/^[a-z]\d?$|^(?:input|inp|tensor|data|value|query|key|hidden|feat|image|img|logit|score|act|out|pred|target|grad|embed)|(?:input|tensor|state|feat|logit|grad|embedding|output)s?$/.test(
      one.name,
    )
  );
}

/** A layer's own weight, handed in as it is: the layer keeps it anyway. */
function isWeight(expr: Expr, fn: FunctionDef): boolean {
  return (
    expr.kind === "Name" &&
    (fn.name === "setup_context" || fn.params.some(({ name }) => name === expr.id)) &&
    /(?:^|_)(?:weight|bias)\d*$/.test(expr.id) &&
    !/attn|attention|expert|top_?k|rout|flow|loss|sample|class/.test(expr.id)
  );
}

function readsRest(expr: Expr, fn: FunctionDef): boolean {
  let found = false;
  walk(expr, (node) => {
    if (node.kind === "Name" && fn.params.some((one) => one.star === 1 && one.name === node.id)) found = true;
    return !found;
  });
  return found;
}

function isRest(name: string, fn: FunctionDef): boolean {
  return (
    /tensor|inputs|activation/.test(name) && fn.params.some((one) => one.star === 1 && one.name === name)
  );
}

/** By its name or its use no tensor: a size, a count, a function to call. */
function isPlain(param: Definition, facts: Facts): boolean {
  return (
    /^[A-Z]+\d*$|^(?:nhwc|nchw|ndhwc|channels_last|training|causal|reverse|inplace|idxs?|g?idx[A-Z]|graph|handle|comm|process_group|src|dst|root|tag)$|^(?:n|d|num|max|min|is|has|use)_|(?:^|_)prob$|(?:shape|size|length|len|dim|count|expert|group|module|layer|fn|func|function|ctx|state|config|name|mode|eps|alpha|beta|lambda_?|scale|rank|index|idx|id|stride|padding|flag|op|info|meta|metadata|option|setting|spec)s?$/.test(
      param.name,
    ) || facts.file.scopes.uses(param).some((use) => use.parent?.kind === "Call" && use.parent.func === use)
  );
}

/** Every such tensor of the class saved at once, and taken back at the start of backward. */
function saveInstead(cls: ClassDef, stores: readonly Store[], facts: Facts): Fix | null {
  const { file } = facts;
  const backward = methodsOf(cls).find((method) => method.name === "backward");
  const [first] = stores;
  const ctx = backward?.params[0]?.name;
  const text = file.codeOf(cls);
  if (!backward || !first || ctx === undefined || /save_for_backward|saved_tensors/.test(text)) return null;
  if (
    stores.some(
      (store) =>
        store.fn !== first.fn ||
        store.value.kind !== "Name" ||
        store.at.kind !== "Assign" ||
        store.at.targets[0]?.kind !== "Attribute" ||
        store.at.parent !== store.fn,
    )
  )
    return null;
  const names = new Set(stores.map((store) => store.attr));
  const reads = file
    .all("Attribute")
    .filter(
      (node) =>
        contains(backward, node) &&
        node.value.kind === "Name" &&
        node.value.id === ctx &&
        names.has(node.attr),
    );
  // Its own name must be free in backward, and nothing else may touch what was stored.
  const taken = file.all("Name").some((node) => contains(backward, node) && names.has(node.id));
  const mentions = file.all("Attribute").filter((node) => contains(cls, node) && names.has(node.attr));
  const params = backward.params.some((param) => names.has(param.name));
  const [start] = backward.body;
  if (
    taken ||
    params ||
    mentions.length !== reads.length + stores.length ||
    !start ||
    names.size !== stores.length
  )
    return null;
  const save = `${first.fn.params[0]!.name}.save_for_backward(${stores.map((store) => file.textOf(store.value)).join(", ")})`;
  const list = stores.map((store) => store.attr);
  const ending = file.text.includes("\r\n") ? "\r\n" : "\n";
  const back = `${list.length === 1 ? `(${list[0]},)` : list.join(", ")} = ${ctx}.saved_tensors${ending}${indentAt(file, start.start)}`;
  const lastStore = stores[stores.length - 1]!;
  const edits: Edit[] = [
    ...stores.slice(0, -1).flatMap((store) => deleteStatement(store.at, file)),
    { start: lastStore.at.start, end: lastStore.at.end, text: save },
    { start: start.start, end: start.start, text: back },
    ...reads.map((node) => ({ start: node.start, end: node.end, text: node.attr })),
  ];
  return { grade: "unsafe", title: "Save it for backward", edits };
}
