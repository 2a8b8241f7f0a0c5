import type { PythonFile } from "../../python/file.ts";
import { classOf, functionOf, lastWord } from "../../python/nodes.ts";
import type { Call, ClassDef, Expr, FunctionDef, Node } from "../../python/tree.ts";
import { isCapital, last } from "./torch-names.ts";
import { assignsBeyondNames } from "./assigns.ts";

/** What a class is to training, by what it derives from. */
export type Role = "module" | "lightning" | "trainer" | "callback" | "dataset" | "function" | "other";

/** Bases from outside the audited tree. */
export function roleOfBase(dotted: string): Role | null {
  const name = last(dotted);
  if (dotted === "torch.autograd.Function" || dotted === "torch.autograd.function.Function")
    return "function";
  if (dotted.startsWith("torch.utils.data.") || dotted.startsWith("builtins."))
    return name.endsWith("Dataset") ? "dataset" : null;
  // `torchvision.datasets.ImageFolder`
  if (
    /^torch(?:vision|audio|text|_geometric)\.datasets\.|^torch_geometric\.data\.(?:\w+\.)*(?:InMemory)?Dataset$/.test(
      dotted,
    )
  )
    return "dataset";
  if (name === "LightningModule") return "lightning";
  if (
    dotted.startsWith("torch.nn.") ||
    name === "PreTrainedModel" ||
    name === "ModelMixin" ||
    name === "Module" ||
    name === "MessagePassing"
  )
    return "module";
  // `timm.models.vision_transformer.VisionTransformer`, `torchvision.models.ResNet`
  if (/^(?:timm|torchvision)\.models\./.test(dotted) && isCapital(name) && !/Weights$|Cfg$/.test(name))
    return "module";
  if (dotted.startsWith("transformers.") && /(?:Model|For[A-Z]\w+|Layer|Attention|Embeddings?)$/.test(name))
    return "module";
  if (name.endsWith("Trainer")) return "trainer";
  if (name === "TrainerCallback" || (name === "Callback" && /^(?:pytorch_)?lightning\b/.test(dotted)))
    return "callback";
  return null;
}

export function isModuleRole(role: Role): boolean {
  return role === "module" || role === "lightning";
}

/** How an attribute of a module was set: all of its writes in the class. */
export interface Attribute {
  readonly name: string;
  readonly writes: readonly {
    readonly how: "assign" | "augment" | "buffer";
    readonly value: Expr | null;
    readonly in: FunctionDef;
    readonly target: Expr;
  }[];
}

/** Of a class, also where it stands under a test there. */
export function isOfClass(fn: FunctionDef): boolean {
  let at = fn.parent;
  while (at && at.kind !== "ClassDef" && at.kind !== "FunctionDef") at = at.parent;
  return at?.kind === "ClassDef";
}

export function isProperty(decorator: Expr): boolean {
  return decorator.kind === "Name" && decorator.id === "property";
}

export function methodsOf(cls: ClassDef): readonly FunctionDef[] {
  return cls.body.filter((statement): statement is FunctionDef => statement.kind === "FunctionDef");
}

/** The name of the first parameter of a method, "self" by custom. */
function selfName(method: FunctionDef): string | null {
  // Asked of every attribute: most methods are not decorated.
  const isStatic =
    method.decorators.length > 0 &&
    method.decorators.some(
      (decorator) =>
        decorator.kind === "Name" && (decorator.id === "staticmethod" || decorator.id === "classmethod"),
    );
  return isStatic ? null : (method.params[0]?.name ?? null);
}

/** A class of no other that is made to be called. */
export function isOperator(cls: ClassDef, file: PythonFile): boolean {
  return (
    cls.args.every(({ value }) => file.dotted(value) === "builtins.object") &&
    methodsOf(cls).some(({ name }) => name === "__call__")
  );
}

export function isSelf(expr: Expr): boolean {
  return expr.kind === "Name" && expr.id === "self";
}

/** The attribute name when the expression is `self.name` inside a method. */
export function selfAttribute(expr: Expr): string | null {
  if (expr.kind !== "Attribute" || expr.value.kind !== "Name") return null;
  const { scope } = expr.value;
  const method = scope && isMethod(scope) ? scope : methodAround(scope ?? expr);
  return method && selfName(method) === expr.value.id ? expr.attr : null;
}

type Attributes = Map<string, { name: string; writes: Attribute["writes"][number][] }>;
const NONE: ReadonlyMap<string, Attribute> = new Map();

/** Every attribute that methods of the class set on `self`. */
export function attributesOf(cls: ClassDef, file: PythonFile): ReadonlyMap<string, Attribute> {
  return file.once(collectAttributes).get(cls) ?? NONE;
}

/** Whether all that is ever written to `self.name` are calls for which this holds. */
export function isOnlyMadeBy(expr: Expr, file: PythonFile, holds: (made: Call) => boolean): boolean {
  const own = selfAttribute(expr);
  const cls = own === null ? null : classOf(expr);
  const writes = cls ? (attributesOf(cls, file).get(own!)?.writes ?? []) : [];
  return writes.length > 0 && writes.every(({ value }) => value?.kind === "Call" && holds(value));
}

/**
 * The attributes that the class only ever gives what a class makes, parameters and settings aside, or what it is handed and
 * then calls, as no tensor can be; undefined for none.
 */
export function partsOf(cls: ClassDef, file: PythonFile): string | undefined {
  let found: string | undefined;
  for (const { name, writes } of attributesOf(cls, file).values())
    if (
      writes.every(({ how, value }) => how === "assign" && isMadeByClass(value, file)) ||
      isHandedAndCalled(name, writes, cls, file)
    )
      found = found === undefined ? name : `${found},${name}`;
  return found;
}

/** `self.body = body`, and in forward `self.body(x)`. */
function isHandedAndCalled(
  name: string,
  [write, ...more]: Attribute["writes"],
  cls: ClassDef,
  file: PythonFile,
): boolean {
  const { value } = write!;
  return (
    more.length === 0 &&
    value?.kind === "Name" &&
    write!.in.params.some((param) => param.name === value.id) &&
    file.callsNamed(name).some(({ func }) => selfAttribute(func) === name && classOf(func) === cls)
  );
}

function isMadeByClass(value: Expr | null, file: PythonFile): boolean {
  let made = value;
  if (made?.kind === "IfExp") return isMadeByClass(made.body, file) && isMadeByClass(made.orelse, file);
  if (made?.kind === "Name") {
    // `layers = nn.Sequential()`, and once filled `self.head = layers`
    const definitions = file.scopes.lookup(made)?.definitions;
    made = definitions?.length === 1 && definitions[0]!.how === "assign" ? definitions[0]!.value : null;
  }
  if (made?.kind !== "Call") return false;
  const word = lastWord(made.func);
  return isCapital(word) && !NO_PART.test(word);
}

/** What has a `requires_grad`, or may be given one. */
const NO_PART = /Param|Tensor|Buffer|Variable|Config|Cfg|Args|Options|Settings|Namespace|(?<!Module)Dict$/;

/** `self.transformer = nn.ModuleDict(dict(wte=…, h=…))`: its attributes are layers. */
export function isModuleDict(expr: Expr, file: PythonFile): boolean {
  return isOnlyMadeBy(expr, file, ({ func }) =>
    /^torch\.nn\.(?:\w+\.)*ModuleDict$/.test(file.dotted(func) ?? ""),
  );
}

/** A list or dict of layers on self: what is taken out of it is one. */
export function holdsModules(expr: Expr, file: PythonFile): boolean {
  return isOnlyMadeBy(expr, file, (made) => {
    if (isHolder(made, file)) return true;
    // `clones(layer, 6)`, which returns one.
    const last = file.functionNamed(file.dotted(made.func))?.body.at(-1);
    return last?.kind === "Return" && last.value?.kind === "Call" && isHolder(last.value, file);
  });
}

function isHolder({ func }: Call, file: PythonFile): boolean {
  return /^torch\.nn\.(?:\w+\.)*(?:ModuleList|ModuleDict|Sequential)$/.test(file.dotted(func) ?? "");
}

function collectAttributes(file: PythonFile): Map<ClassDef, Attributes> {
  const found = new Map<ClassDef, Attributes>();
  const add = (
    name: string,
    how: "assign" | "augment" | "buffer",
    value: Expr | null,
    target: Expr,
  ): void => {
    const method = methodAround(target);
    if (!method) return;
    const cls = method.parent as ClassDef;
    let attributes = found.get(cls);
    if (!attributes) found.set(cls, (attributes = new Map()));
    const write = { how, value, in: method, target };
    const entry = attributes.get(name);
    if (entry) entry.writes.push(write);
    else attributes.set(name, { name, writes: [write] });
  };
  const target = (expr: Expr, how: "assign" | "augment", value: Expr | null): void => {
    const name = selfAttribute(expr);
    if (name !== null) add(name, how, value, expr);
    else if (expr.kind === "Tuple") {
      const given = value?.kind === "Call" ? handedBack(value, file) : value;
      for (const [at, item] of expr.items.entries())
        target(
          item,
          how,
          given?.kind === "Tuple" && given.items.length === expr.items.length
            ? plain(given.items[at]!)
            : null,
        );
    }
  };
  // `weights = nn.ParameterDict()`, and `return embeddings, weights`
  const plain = (item: Expr): Expr => (item.kind === "Name" ? (file.scopes.onlyValue(item) ?? item) : item);
  for (const node of assignsBeyondNames(file))
    for (const one of node.targets) if (one.kind !== "Name") target(one, "assign", node.value);
  for (const node of file.all("AugAssign")) target(node.target, "augment", node.value);
  for (const node of file.callsNamed("register_buffer"))
    if (node.func.kind === "Attribute" && node.func.attr === "register_buffer") {
      const name = bufferName(node);
      if (name !== null) add(name, "buffer", node.args[1]?.value ?? null, node);
    }
  return found;
}

/** The tuple that `self.make()` of the same class returns, where there is one. */
function handedBack(call: Call, file: PythonFile): Expr | null {
  const own = call.args.length === 0 ? selfAttribute(call.func) : null;
  const cls = own === null ? null : classOf(call);
  const method = cls ? methodsOf(cls).find(({ name }) => name === own) : undefined;
  const [one, ...more] = method
    ? file.all("Return").filter((statement) => functionOf(statement) === method)
    : [];
  return one && more.length === 0 ? one.value : null;
}

function isMethod(node: Node): node is FunctionDef {
  return node.kind === "FunctionDef" && node.parent?.kind === "ClassDef";
}

/** The method a node stands in, through functions nested in it. */
function methodAround(node: Node): FunctionDef | null {
  for (let at = functionOf(node); at; at = functionOf(at)) if (isMethod(at)) return at;
  return null;
}

function bufferName(call: Call): string | null {
  const first = call.args[0]?.value;
  return first?.kind === "Str" ? first.value : null;
}
