import { keyword } from "../../python/file.ts";
import type { PythonFile } from "../../python/file.ts";
import { classOf, functionOf } from "../../python/nodes.ts";
import type { Definition } from "../../python/scopes.ts";
import type { ClassDef, Expr, FunctionDef, NodeOf } from "../../python/tree.ts";
import { attributesOf, isModuleRole, selfAttribute } from "./classes.ts";
import type { Role } from "./classes.ts";
import { isUsedAsTensor, usesOf } from "./tensor-use.ts";
import { METHODS } from "./torch-names.ts";
import type { Value } from "./value.ts";

/** Parameters of a forward that may be on the host, or no tensors at all. */
const PLAIN_INPUT = /len|length|size|shape|num|count|meta|info|targets|^(?:[hwntbk]|hw)$/i;
/** Of these there may be a list; what has a tensor's methods is none. */
const LENGTHS = /len/i;
/** Of detection a list of dicts, which cannot be compared with a number. */
const TARGETS = /targets/i;
/** What a module's forward computes with is where the module is. */
export const FORWARD_INPUT: Value = { what: "tensor", device: "network", graph: "unknown" };

/**
 * Whether a definition is a parameter of a module's forward, of another of its methods, or of a function that a forward calls,
 * and is used as a tensor there.
 */
export function isForwardInput(
  definition: Definition,
  file: PythonFile,
  role: (cls: ClassDef) => Role,
  inForward: (fn: FunctionDef) => boolean,
): boolean {
  const { node, name } = definition;
  const fn = node.parent;
  if (node.kind !== "Param" || node.star !== 0 || fn?.kind !== "FunctionDef") return false;
  const cls = classOf(fn);
  // `self.norm(x)` is a layer, not a tensor's method.
  if (cls !== null && node === fn.params[0]) return false;
  if (node.default !== null && !isNone(node.default)) return false;
  const isForward = cls !== null && ((fn.name === "forward" && isModuleRole(role(cls))) || isLossCall(fn));
  if (isForward ? isPlain(definition, file, role(cls)) : PLAIN_INPUT.test(name)) return false;
  if (!isForward && !(cls !== null && isModuleRole(role(cls)) && !SETS_UP.test(fn.name)) && !inForward(fn))
    return false;
  if (isAsked(definition, file)) return false;
  return (
    isUsedAsTensor(definition, file) ||
    isSized(definition, file) ||
    (isForward &&
      node.default === null &&
      (hasTensorMethod(definition, file) ||
        isSliced(definition, file) ||
        makesMask(definition, file) ||
        isPickedByMask(definition, file)))
  );
}

/**
 * Whether a variable of a forward, or of what it calls, is used as a tensor there, and nobody sends it anywhere: `mask = batch["mask"]`
 * and `mask.unsqueeze(1)`.
 */
export function isForwardValue(
  definition: Definition,
  file: PythonFile,
  role: (cls: ClassDef) => Role,
  inForward: (fn: FunctionDef) => boolean,
): boolean {
  const { how, name, node } = definition;
  if ((how !== "assign" && how !== "unpack" && how !== "iterate") || PLAIN_INPUT.test(name)) return false;
  const fn = functionOf(node);
  if (fn?.kind !== "FunctionDef" || SETS_UP.test(fn.name)) return false;
  const cls = classOf(fn);
  if (!(cls !== null && isModuleRole(role(cls))) && !inForward(fn)) return false;
  return (
    (isUsedAsTensor(definition, file) || isSized(definition, file)) &&
    !isPlaced(definition, file) &&
    !isAsked(definition, file)
  );
}

/** `x.size(0)`: there are fonts and stores with such a method, but not in a forward. */
function isSized(definition: Definition, file: PythonFile): boolean {
  return file.scopes.uses(definition).some(({ parent }) => {
    const call = parent?.kind === "Attribute" && parent.attr === "size" ? parent.parent : null;
    return call?.kind === "Call" && call.func === parent;
  });
}

/** `mask.to(x.device)`, `mask.unsqueeze(0).cuda()`, `mask.numpy()`: it may be on the host. */
const isPlaced = (definition: Definition, file: PythonFile): boolean => placedBy(definition, file).length > 0;

const PLACES = /^(?:to|cuda|cpu|numpy|type_as)$/;

/** The first such method of each chain that begins with it; `parts`: or with a part of it, `scores[::10].numpy()`. */
export function placedBy(definition: Definition, file: PythonFile, parts = false): readonly string[] {
  return usesOf(definition, file).flatMap((use) => {
    const { parent } = use;
    let at: Expr = parts && parent?.kind === "Subscript" && parent.value === use ? parent : use;
    while (at.parent?.kind === "Attribute") {
      if (PLACES.test(at.parent.attr)) return [at.parent.attr];
      if (at.parent.parent?.kind !== "Call") return [];
      at = at.parent.parent;
    }
    return [];
  });
}

/** What a network is made, filled or written by: with tensors of the host. */
const SETS_UP = /^(?:__|_?(?:set|init|load|save|from|register)(?:_|$))/;

const isNone = (expr: Expr): boolean => expr.kind === "Const" && expr.value === null;

/** By its name a length, a size or the targets of a detector, and nothing says that it is a tensor of the device. */
function isPlain(definition: Definition, file: PythonFile, role: Role): boolean {
  const { name } = definition;
  return (
    PLAIN_INPUT.test(name) &&
    !(
      LENGTHS.test(name) &&
      // Lightning moves all tensors of a batch, the lengths among them.
      ((role === "lightning" && hasTensorMethod(definition, file)) || isComparedThere(definition, file))
    ) &&
    !(TARGETS.test(name) && makesMask(definition, file))
  );
}

/** `torch.arange(n, device=x.device) < lengths[:, None]`: both must be where `x` is. */
function isComparedThere(definition: Definition, file: PythonFile): boolean {
  return usesOf(definition, file).some((use) => {
    let at: Expr = use;
    for (;;) {
      const { parent }: Expr = at;
      // A single one may be on the host all the same.
      if (parent?.kind === "Subscript" && parent.value === at && parent.index.kind === "Tuple") at = parent;
      else if (parent?.kind === "Attribute" && RESHAPES.test(parent.attr) && parent.parent?.kind === "Call")
        at = parent.parent;
      else break;
    }
    if (at === use || at.parent?.kind !== "Compare" || at.parent.rights.length !== 1) return false;
    const { left, rights } = at.parent;
    return isMadeBeside(at === left ? rights[0]! : left, definition.name, file);
  });
}

const RESHAPES = /^(?:unsqueeze|view|reshape|expand|expand_as|repeat|long|int)$/;

/** `torch.arange(n, device=x.device)`, also under a name, of another shape, or as rows of that. */
function isMadeBeside(expr: Expr, name: string, file: PythonFile): boolean {
  let at: Expr | null = expr;
  for (let depth = 0; at && depth < 8; depth++) {
    if (at.kind === "Call" && file.dotted(at.func) === "torch.arange") {
      const place = keyword(at, "device")?.value;
      return (
        place?.kind === "Attribute" &&
        place.attr === "device" &&
        place.value.kind === "Name" &&
        place.value.id !== name
      );
    }
    if (at.kind === "Name") at = file.scopes.onlyValue(at);
    else if (at.kind === "Subscript") at = at.value;
    else
      at =
        at.kind === "Call" && at.func.kind === "Attribute" && RESHAPES.test(at.func.attr)
          ? at.func.value
          : null;
  }
  return false;
}

/** `class ContrastiveLoss: def __call__(self, scores, labels)`: a loss that is no module runs once a step all the same. */
export function isLossCall({ name, parent }: FunctionDef): boolean {
  return (
    name === "__call__" &&
    parent?.kind === "ClassDef" &&
    /(?:Loss(?:es|Fn|Func(?:tion)?)?|Criterion)$/.test(parent.name)
  );
}

/** `x[:, rows]`: no list or dict is asked like that. */
function isSliced(definition: Definition, file: PythonFile): boolean {
  return usesOf(definition, file).some(
    ({ parent }) =>
      parent?.kind === "Subscript" &&
      parent.index.kind === "Tuple" &&
      parent.index.items.some(({ kind }) => kind === "Slice"),
  );
}

/** `valid = target > 0`, and something is asked for `[valid]`: what is compared with a number, one by one, is a tensor. */
function makesMask(definition: Definition, file: PythonFile): boolean {
  return usesOf(definition, file).some(
    ({ parent }) => parent?.kind === "Compare" && isNumberTest(parent, file) && isIndex(parent, file, 0),
  );
}

/** `pred[target > 0]`, `pred[valid]`: by truths only a tensor is picked from. */
function isPickedByMask(definition: Definition, file: PythonFile): boolean {
  return usesOf(definition, file).some(
    (use) => use.parent?.kind === "Subscript" && use.parent.value === use && isTest(use.parent.index, file),
  );
}

/** `target > 0`, `target != self.ignore_index`, `target != ignore_index` with `ignore_index=-100` */
function isNumberTest({ left, ops, rights }: NodeOf<"Compare">, file: PythonFile): boolean {
  const [right, ...more] = rights;
  const plain = right?.kind === "Unary" ? right.operand : right;
  return (
    left.kind === "Name" &&
    more.length === 0 &&
    /^(?:[<>]=?|[!=]=)$/.test(ops[0]!) &&
    plain !== undefined &&
    (plain.kind === "Num" || selfAttribute(plain) !== null || isNumberByDefault(plain, file))
  );
}

function isNumberByDefault(expr: Expr, file: PythonFile): boolean {
  const [one, ...more] = expr.kind === "Name" ? file.scopes.reaching(expr) : [];
  const given = one?.node.kind === "Param" && more.length === 0 ? one.node.default : null;
  return (given?.kind === "Unary" ? given.operand : given)?.kind === "Num";
}

/** Between brackets, itself, combined with others, or under a name. */
function isIndex(expr: Expr, file: PythonFile, depth: number): boolean {
  const { parent } = expr;
  if (depth > 3) return false;
  // `(first, rest)[step > 0]` picks by a number.
  if (parent?.kind === "Subscript")
    return parent.index === expr && parent.value.kind !== "Tuple" && parent.value.kind !== "List";
  if (
    (parent?.kind === "Binary" && /^[&|]$/.test(parent.op)) ||
    (parent?.kind === "Unary" && parent.op === "~")
  )
    return isIndex(parent, file, depth + 1);
  const target = parent?.kind === "Assign" && parent.value === expr ? parent.targets[0] : null;
  const named = target?.kind === "Name" ? file.scopes.definitionAt(target) : null;
  return named ? file.scopes.uses(named).some((use) => isIndex(use, file, depth + 1)) : false;
}

/** The same, asked of the index. */
function isTest(index: Expr, file: PythonFile, depth = 0): boolean {
  if (depth > 3) return false;
  if (index.kind === "Compare") return isNumberTest(index, file);
  if (index.kind === "Binary" && /^[&|]$/.test(index.op)) return isTest(index.left, file, depth + 1);
  if (index.kind === "Unary" && index.op === "~") return isTest(index.operand, file, depth + 1);
  const made = index.kind === "Name" ? file.scopes.onlyValue(index) : null;
  return made !== null && isTest(made, file, depth + 1);
}

/** The batch that a framework hands to a step: moved to where the module is, in whatever form it comes. */
export const BATCH_INPUT: Value = { what: "output", device: "network", graph: "no" };

/** `batch` of Lightning's `training_step(self, batch, index)`, `inputs` of a Trainer's `compute_loss(self, model, inputs)`. */
export function isStepBatch({ node }: Definition, role: (cls: ClassDef) => Role): boolean {
  const fn = node.parent;
  const cls = node.kind === "Param" && fn?.kind === "FunctionDef" ? classOf(fn) : null;
  if (cls === null || fn?.kind !== "FunctionDef") return false;
  return (
    (fn.name === "training_step" && node === fn.params[1] && role(cls) === "lightning") ||
    (fn.name === "compute_loss" && node === fn.params[2] && role(cls) === "trainer")
  );
}

/** `loader = accelerator.prepare(loader)`: what it hands out is on the device. */
export function isPreparedLoader(expr: Expr, file: PythonFile): boolean {
  // `for batch in tqdm(loader):`
  if (expr.kind === "Call") {
    const [first] = expr.args;
    return (
      first !== undefined &&
      file.dotted(expr.func)?.endsWith("tqdm") === true &&
      isPreparedLoader(first.value, file)
    );
  }
  const own = selfAttribute(expr);
  const cls = own === null ? null : classOf(expr);
  const name = own ?? (expr.kind === "Name" ? expr.id : "");
  if (!/load|(?:^|_)dl(?:_|$)/i.test(name)) return false;
  const made = cls
    ? (attributesOf(cls, file).get(own!)?.writes ?? []).map(
        ({ value, target }) => value ?? unpackedFrom(target),
      )
    : expr.kind === "Name"
      ? file.scopes.reaching(expr).map(({ value }) => value)
      : [];
  return (
    made.length > 0 &&
    made.every(
      (one) =>
        one?.kind === "Call" &&
        one.func.kind === "Attribute" &&
        /^(?:prepare|prepare_data_loader|setup_dataloaders|skip_first_batches)$/.test(one.func.attr),
    )
  );
}

/** The right side of `self.net, self.loader = accelerator.prepare(…)`. */
export function unpackedFrom(target: Expr): Expr | null {
  const statement = target.parent?.kind === "Tuple" ? target.parent.parent : null;
  return statement?.kind === "Assign" ? statement.value : null;
}

/** The names of what is asked for its type anywhere. */
function namesAsked(file: PythonFile): ReadonlySet<string> {
  const found = new Set<string>();
  for (const { args } of file.callsNamed("isinstance"))
    for (const { value } of args) if (value.kind === "Name") found.add(value.id);
  return found;
}

/** Asked for its type, it may be anything. */
function isAsked(definition: Definition, file: PythonFile): boolean {
  return (
    file.once(namesAsked).has(definition.name) &&
    usesOf(definition, file).some(({ parent }) => {
      const call = parent?.kind === "Arg" ? parent.parent : null;
      return call?.kind === "Call" && call.func.kind === "Name" && call.func.id === "isinstance";
    })
  );
}

/** One of a tensor's methods is called on it, which strings do not have. */
export function hasTensorMethod(definition: Definition, file: PythonFile): boolean {
  return usesOf(definition, file).some(
    ({ parent }) =>
      parent?.kind === "Attribute" &&
      parent.parent?.kind === "Call" &&
      parent.parent.func === parent &&
      METHODS.has(parent.attr) &&
      !/^(?:sort|split|all|any|index|type)$/.test(parent.attr),
  );
}
