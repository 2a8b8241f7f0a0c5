import { argument, isNone, keyword, positional } from "../../python/file.ts";
import type { PythonFile } from "../../python/file.ts";
import { classOf, statementOf } from "../../python/nodes.ts";
import type { Definition } from "../../python/scopes.ts";
import type { Arg, Call, Expr, FunctionDef, Node, NodeOf, Param, Stmt } from "../../python/tree.ts";
import { attributesOf, isOnlyMadeBy, selfAttribute } from "../facts/classes.ts";
import type { Facts } from "../facts/facts.ts";
import { FUNCTIONS, TENSOR_ONLY_METHODS, last } from "../facts/torch-names.ts";
import { isUsedAsTensor } from "../facts/tensor-use.ts";
import { isTensorLike } from "../facts/value.ts";
import { computedPicks } from "../facts/indices.ts";
import type { Rule } from "../rule.ts";

const METHODS = new Set([
  "nonzero",
  "unique",
  "unique_consecutive",
  "masked_select",
  "repeat_interleave",
  "argwhere",
  "bincount",
]);

export const rule: Rule = {
  meta: {
    code: "PLM028",
    name: "size-depends-on-data",
    summary: "The size of a result depends on device data, so the host waits for it on every step",
    severity: "note",
    fix: "none",
    patterns: [28],
    hotOnly: true,
  },
  *check(facts) {
    const { file } = facts;
    for (const call of file.callsNamed(...METHODS)) {
      if (!facts.mayBeHot(call)) continue;
      const name = file.dotted(call.func);
      const short =
        name?.startsWith("torch.") === true
          ? name.slice(6)
          : call.func.kind === "Attribute" && name === null
            ? call.func.attr
            : "";
      const source =
        name?.startsWith("torch.") === true
          ? (call.args[0]?.value ?? null)
          : call.func.kind === "Attribute"
            ? call.func.value
            : null;
      if (!METHODS.has(short) || !source || keyword(call, "output_size")) continue;
      // In a file of the step, with nobody to say where it is, it is where the step runs.
      const handed =
        (name?.startsWith("torch.") === true || isTensorMethod(call, short, facts)) &&
        facts.value(source).device === "unknown";
      if (!facts.onAccelerator(source) && !(handed && facts.accelerator) && !isHandedTensor(source, facts))
        continue;
      // Repeating by a plain number has a known size.
      const repeats = call.args[name?.startsWith("torch.") === true ? 1 : 0]?.value;
      if (short === "repeat_interleave" && !(repeats && isCounts(repeats, facts))) continue;
      if (facts.everyStep(whereThereAreAny(call, facts)))
        yield {
          at: call,
          message: `How large \`${short}\` comes out is known to the device only: the host waits for it on every step`,
        };
    }
    for (const call of file.callsNamed("where"))
      if (
        file.dotted(call.func) === "torch.where" &&
        call.args.length === 1 &&
        (facts.onAccelerator(call.args[0]!.value) ||
          (facts.accelerator && facts.value(call.args[0]!.value).device === "unknown")) &&
        facts.everyStep(whereThereAreAny(call, facts))
      )
        yield {
          at: call,
          message:
            "How many positions `where` finds is known to the device only: the host waits for it on every step",
        };
    for (const call of file.callsNamed("one_hot"))
      if (isOfUnsaidClasses(call, facts) && facts.everyStep(call))
        yield {
          at: call,
          message:
            "Without `num_classes`, `one_hot` is as wide as its largest index says, which the host waits for on every step",
        };
    for (const subscript of file.once(computedPicks)) {
      if (!facts.mayBeHot(subscript)) continue;
      // `scores[labels == 1, 0]`
      const indices = subscript.index.kind === "Tuple" ? subscript.index.items : [subscript.index];
      if (
        !indices.some((index) => isMask(index, subscript, facts)) ||
        !(
          facts.onAccelerator(subscript.value) ||
          isHandedTensor(subscript.value, facts) ||
          isUsedInStep(subscript, facts)
        ) ||
        !facts.everyStep(whereThereAreAny(subscript, facts))
      )
        continue;
      const parent = subscript.parent;
      // Writing one plain number through a mask becomes masked_fill, which waits for nothing.
      if (
        parent?.kind === "Assign" &&
        parent.targets.includes(subscript) &&
        facts.value(parent.value).what !== "tensor"
      )
        continue;
      yield {
        at: subscript,
        message:
          "How many elements the mask selects is known to the device only: the host waits for it on every step",
      };
    }
  },
};

/** `F.one_hot(labels)`, of labels on the device. */
function isOfUnsaidClasses(call: Call, facts: Facts): boolean {
  const labels = positional(call, 0);
  return (
    facts.file.dotted(call.func) === "torch.nn.functional.one_hot" &&
    labels !== null &&
    argument(call, "num_classes", 1) === null &&
    facts.onAccelerator(labels)
  );
}

/**
 * The test `if valid.any():`, `if mask.sum() > 0:` around a node, or the node itself: hardly ever is there a batch without any.
 * So with `if "fine" in made:`: what is handed in has the same entries on every step.
 */
function whereThereAreAny(node: Expr, { file, guesses }: Facts): Node {
  let found: Node = node;
  for (let at: Node | null = statementOf(node); at?.parent?.kind === "If"; at = at.parent) {
    const { body, test } = at.parent;
    // `if wrong.any(): raise …`
    if (guesses && body.at(-1)?.kind === "Raise") break;
    if (!body.includes(at as Stmt) || !(asksForAny(test) || asksForEntry(test, file))) break;
    found = at.parent;
  }
  return found;
}

/** `"fine" in made`, of a parameter from which that entry is read. */
function asksForEntry(test: Expr, file: PythonFile): boolean {
  if (test.kind !== "Compare" || test.ops.length !== 1 || test.ops[0] !== "in" || test.left.kind !== "Str")
    return false;
  const [entries] = test.rights;
  const key = file.textOf(test.left);
  const definitions = entries?.kind === "Name" ? file.scopes.reaching(entries) : [];
  return (
    definitions.length > 0 &&
    definitions.every(
      (one) =>
        isHandedIn(one) &&
        file.scopes
          .uses(one)
          .some(
            ({ parent, start }) =>
              parent?.kind === "Subscript" &&
              parent.value.start === start &&
              file.textOf(parent.index) === key,
          ),
    )
  );
}

function asksForAny(test: Expr): boolean {
  if (test.kind === "Compare")
    return (
      test.ops[0] === ">" &&
      test.rights[0]?.kind === "Num" &&
      test.rights[0].text === "0" &&
      isMethodOf(test.left, /^(?:sum|numel)$/)
    );
  return isMethodOf(test, /^any$/);
}

/** `mask.any()`; what is asked whether any is spoilt, `torch.isnan(loss).any()`, is another question. */
function isMethodOf(expr: Expr, name: RegExp): boolean {
  return (
    expr.kind === "Call" &&
    expr.args.length === 0 &&
    expr.func.kind === "Attribute" &&
    name.test(expr.func.attr) &&
    /^(?:Name|Attribute|Compare)$/.test(expr.func.value.kind)
  );
}

/** Methods that an array or a table has as well: `rows.nonzero()`. */
const SHARED_METHODS = /^(?:nonzero|unique)$/;

/**
 * `mask.argwhere()` of who knows what: nothing but a tensor has it. An array has `nonzero`, but takes nothing for it and gives a
 * tuple, so that `mask.nonzero(as_tuple=True)` and `mask.nonzero().squeeze(1)` are a tensor's.
 */
function isTensorMethod(call: Call, short: string, facts: Facts): boolean {
  if (!SHARED_METHODS.test(short) || call.args.length > 0 || isOfTorchAlone(facts)) return true;
  const { parent } = call;
  return (
    (parent?.kind === "Attribute" &&
      /^(?:squeeze|view|flatten|reshape|numel|size|tolist|t)$/.test(parent.attr)) ||
    (parent?.kind === "Subscript" && parent.value === call && parent.index.kind === "Tuple")
  );
}

/** What is computed with in a file that speaks of torch, and of no other library that has arrays or tables, are tensors. */
function isOfTorchAlone({ file }: Facts): boolean {
  return file.mentions("torch") && !ARRAYS.some((library) => file.text.includes(library));
}

const ARRAYS = ["numpy", "pandas", "cupy", "jax", "tensorflow", "sklearn", "scipy"];

/** `def loss(self, outputs: torch.Tensor)`: where the step runs, unless somebody says otherwise. */
function isHandedTensor(expr: Expr, facts: Facts): boolean {
  const { what, device } = facts.value(expr);
  return facts.accelerator && what === "tensor" && device === "unknown" && facts.hot(expr) !== null;
}

/**
 * `torch.abs(rendered[hit] - wanted[hit])` of what nobody here knows: torch's own functions and losses compute with it, or there is
 * nobody else in the file that could.
 */
function isUsedInStep(picked: NodeOf<"Subscript">, facts: Facts): boolean {
  const { what, device } = facts.value(picked.value);
  return (
    facts.accelerator &&
    what === "unknown" &&
    device === "unknown" &&
    (isTakenByTorch(picked, facts) || isOfTorchAlone(facts))
  );
}

/** Methods that neither arrays nor numbers have; of these, tables have some. */
const OF_TENSORS = /^(?:float|half|bfloat16|cuda|cpu|exp|log|sigmoid|softmax|relu|clamp|norm)$/;
const OF_TABLES_TOO = /^(?:abs|pow|sqrt|square)$/;

/** Arithmetic, and methods that only tensors have, give what they are given. */
function isTakenByTorch(expr: Expr, facts: Facts, seen = new Set<Definition>()): boolean {
  const { file } = facts;
  const { parent } = expr;
  // `(differences.data < 1).float()`
  if (/^(?:Binary|Unary|Compare)$/.test(parent?.kind ?? "") || isData(parent))
    return isTakenByTorch(parent as Expr, facts, seen);
  if (parent?.kind === "Attribute" && parent.parent?.kind === "Call" && parent.parent.func === parent)
    return (
      TENSOR_ONLY_METHODS.has(parent.attr) ||
      OF_TENSORS.test(parent.attr) ||
      (OF_TABLES_TOO.test(parent.attr) && !file.text.includes("pandas")) ||
      isTakenByTorch(parent.parent, facts, seen)
    );
  // `kept = scores[hit]`, and the name is.
  const [target] = parent?.kind === "Assign" && parent.value === expr ? parent.targets : [];
  const named = target?.kind === "Name" ? file.scopes.definitionAt(target) : null;
  if (named) return isTakenUnder(named, facts, seen);
  const call = parent?.kind === "Arg" ? parent.parent : null;
  if (parent?.kind !== "Arg" || call?.kind !== "Call") return false;
  const name = file.dotted(call.func) ?? "";
  const param = paramOf(parent, call, file.functionNamed(name));
  const given = param ? file.scopes.definitionAt(param) : null;
  return (
    name.startsWith("torch.nn.functional.") ||
    (name === `torch.${last(name)}` && FUNCTIONS.has(last(name))) ||
    // `smooth(boxes[hit], wanted[hit])` of this file, which computes with what it is given.
    (given !== null && isTakenUnder(given, facts, seen)) ||
    isOnlyMadeBy(call.func, file, (made) => (file.dotted(made.func) ?? "").startsWith("torch.nn."))
  );
}

function isTakenUnder(named: Definition, facts: Facts, seen: Set<Definition>): boolean {
  if (seen.has(named)) return false;
  // An array has a shape and a type as well: further on only what none has is taken for an answer.
  const first = seen.size === 0 && named.how !== "param";
  seen.add(named);
  return (
    (first && isUsedAsTensor(named, facts.file)) ||
    facts.file.scopes.uses(named).some((use) => isTakenByTorch(use, facts, seen))
  );
}

const isData = (node: Node | null): boolean =>
  node?.kind === "Attribute" && node.attr === "data" && node.parent?.kind !== "Call";

/** The parameter that an argument is for, of a function that is called without stars. */
function paramOf(arg: Arg, { args }: Call, fn: FunctionDef | undefined): Param | undefined {
  return args.every(({ star }) => star === 0)
    ? fn?.params.find(({ name }, at) => (arg.name === null ? at === args.indexOf(arg) : name === arg.name))
    : undefined;
}

/** How often each row is repeated: a tensor, or what is called one by its name. */
function isCounts(expr: Expr, facts: Facts): boolean {
  const { what } = facts.value(expr);
  // `durations.long()`: an array has `astype`.
  if (expr.kind === "Call" && expr.func.kind === "Attribute" && /^(?:long|int)$/.test(expr.func.attr))
    return facts.file.dotted(expr.func) === null;
  return (
    what === "tensor" ||
    (facts.guesses && what === "output") ||
    (what === "unknown" &&
      expr.kind === "Name" &&
      /(?:counts|copies|durations?|lengths|repeats|sizes|degrees|num_nodes)$/.test(expr.id))
  );
}

/** What a tensor of booleans is called; one that holds numbers is called something else, or is multiplied with. */
const MASK = /(?:^|_)masks?$/;

function isHandedIn({ how, value }: Definition): boolean {
  return how === "param" && (value === null || value.kind === "Const");
}

/**
 * `scores[labels == 1]`, of labels that nobody here knows: one truth alone picks nothing from a tensor, so these are as many as
 * it has rows. What is known to be of the host, an array or a list, is counted there.
 */
function isUnknownTest(expr: NodeOf<"Compare">, picked: NodeOf<"Subscript">, facts: Facts): boolean {
  if (!isTensorLike(facts.value(picked.value)) && !isUsedInStep(picked, facts)) return false;
  const sides = [expr.left, ...expr.rights].map((side) => facts.value(side).what);
  return facts.value(expr).what === "unknown" && sides.every((what) => /^(?:unknown|number)$/.test(what));
}

/** `torch.eye(n, dtype=torch.bool)`: whatever is asked for by that type. */
function isMadeOfTruths(call: NodeOf<"Call">, name: string | null, { file }: Facts): boolean {
  const type = keyword(call, "dtype")?.value;
  return (
    type !== undefined &&
    name?.startsWith("torch.") === true &&
    /^(?:torch|builtins)\.bool$/.test(file.dotted(type) ?? "")
  );
}

/**
 * `self.others = ~torch.eye(n).bool()`, or `self.register_buffer("others", …)`, and later `scores[self.others]`: all that the
 * class ever keeps under this name, the None before the first apart, are tensors of booleans.
 */
function isKeptMask(expr: Expr, isTruths: (kept: Expr) => boolean, { file }: Facts): boolean {
  const own = selfAttribute(expr);
  const cls = own === null ? null : classOf(expr);
  const writes = cls ? (attributesOf(cls, file).get(own!)?.writes ?? []) : [];
  const kept = writes.filter(({ value }) => !isNone(value));
  return (
    kept.length > 0 && kept.every(({ how, value }) => how !== "augment" && value !== null && isTruths(value))
  );
}

/** `[:, 1:]`, `[..., None]`: what is left is of the same kind. */
function isCut(index: Expr): boolean {
  const parts = index.kind === "Tuple" ? index.items : [index];
  return (
    parts.every(({ kind }) => kind === "Slice" || kind === "Const") &&
    parts.some(({ kind }) => kind === "Slice")
  );
}

/** `losses[~padded]` of what is handed in: numbers that pick from a tensor are not turned round, truths are. */
function isTurnedRound(expr: Expr, picked: NodeOf<"Subscript">, facts: Facts): boolean {
  if (expr.kind !== "Name" || facts.value(picked.value).what !== "tensor") return false;
  const definitions = facts.file.scopes.reaching(expr);
  return (
    definitions.length > 0 &&
    definitions.every(isHandedIn) &&
    /^(?:unknown|tensor)$/.test(facts.value(expr).what)
  );
}

/** A tensor of booleans: a comparison, or one combined with others, directly or through a name. `picked`: what it picks. */
function isMask(expr: Expr, picked: NodeOf<"Subscript">, facts: Facts, depth = 0): boolean {
  if (depth > 5) return false;
  const again = (inner: Expr): boolean => isMask(inner, picked, facts, depth + 1);
  if (expr.kind === "Compare")
    return facts.value(expr).what === "tensor" || isUnknownTest(expr, picked, facts);
  if (expr.kind === "Binary" && (expr.op === "&" || expr.op === "|"))
    return again(expr.left) && again(expr.right);
  if (expr.kind === "Unary" && expr.op === "~")
    return again(expr.operand) || isTurnedRound(expr.operand, picked, facts);
  if (expr.kind === "Call") {
    const name = facts.file.dotted(expr.func);
    const short =
      name === null && expr.func.kind === "Attribute" ? expr.func.attr : (name ?? "").replace(/^torch\./, "");
    // `mask.to(torch.bool)`
    const type = short === "to" ? expr.args[0]?.value : undefined;
    if (type && /^(?:torch|builtins)\.bool$/.test(facts.file.dotted(type) ?? ""))
      return isTensorLike(facts.value(expr));
    if (isMadeOfTruths(expr, name, facts)) return true;
    // `F.pad(~hidden, (1, 0))`, `torch.cat([first, mask], dim=1)`
    const [first] = expr.args;
    if (first && /^torch\.(?:nn\.functional\.pad|cat|concat|stack|hstack|roll|flip)$/.test(name ?? ""))
      return first.value.kind === "List" || first.value.kind === "Tuple"
        ? first.value.items.every(again)
        : again(first.value);
    // `(boxes > 0).all(dim=1)`: one truth a row.
    if (name === null && first && /^(?:any|all)$/.test(short) && expr.func.kind === "Attribute")
      return again(expr.func.value);
    // `(pos != 0).view(-1)`
    if (
      name === null &&
      expr.func.kind === "Attribute" &&
      /^(?:view|reshape|flatten|squeeze|unsqueeze|expand|expand_as|repeat|to|tri[lu]|fill_diagonal_|clone|t)$/.test(
        short,
      )
    )
      return again(expr.func.value);
    const { what } = facts.value(expr);
    return (
      /^(?:eq|ne|gt|lt|ge|le|isnan|isinf|isfinite|logical_(?:and|or|not|xor)|bool|not_equal|greater|less)$/.test(
        short,
      ) &&
      // `labels.ne(self.ignored)` of what is handed in: nothing else that has the method picks from a tensor.
      (what === "tensor" || (what === "unknown" && name === null))
    );
  }
  // `hidden[:, 1:]`
  if (expr.kind === "Subscript" && isCut(expr.index)) return again(expr.value);
  // `out[data.train_mask]`
  if (expr.kind === "Attribute")
    return selfAttribute(expr) === null ? MASK.test(expr.attr) : isKeptMask(expr, again, facts);
  if (expr.kind !== "Name") return false;
  const definitions = facts.file.scopes.reaching(expr);
  // `x[mask]` of what is handed in under that name.
  if (depth === 0 && MASK.test(expr.id) && definitions.length > 0 && definitions.every(isHandedIn))
    return true;
  return (
    definitions.length === 1 &&
    definitions[0]!.how === "assign" &&
    definitions[0]!.value !== null &&
    again(definitions[0]!.value)
  );
}
