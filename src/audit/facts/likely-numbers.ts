import { keyword } from "../../python/file.ts";
import type { PythonFile } from "../../python/file.ts";
import { classOf, functionOf, lastWord } from "../../python/nodes.ts";
import type { Definition } from "../../python/scopes.ts";
import type { Call, ClassDef, Expr, Node } from "../../python/tree.ts";
import { attributesOf, selfAttribute } from "./classes.ts";
import { handedIn } from "./handed-in.ts";
import { returnsByName } from "./returns.ts";
import { callTarget } from "./summary.ts";

/**
 * What is a number of Python's, or an array of the host, whatever it is called: by what made it, one or two steps back. A disproof:
 * where it cannot tell, it says no.
 */

/** What trains or evaluates by itself, and hands back the numbers: `loss = train(x, y)`, `val_loss = evaluate(net, loader)`. */
const TELLS =
  /^_?(?:train|test|eval\w*|valid\w*|fit|run_epoch|train_(?:on_)?(?:a_)?batch|update(?:_\w+)?|learn|(?:train|test|val)_(?:epoch|one_epoch|loop|model))$/;

export const isTelling = (name: string): boolean => TELLS.test(name);

const NUMBERS =
  /^(?:(?:typing\.)?Optional\[)?(?:float|int|bool|str|(?:np|numpy)\.ndarray|(?:typing\.)?(?:[dD]ict|Mapping)\[str, ?(?:float|int|str)\]|(?:typing\.)?[lL]ist\[(?:float|int|str)\])\]?(?: *\| *None)?$/;

const CONVERTS = /^builtins\.(?:float|int|round|len|str|bool|repr|ord)$/;
const OF_THE_HOST = /^(?:math|time|random|statistics|numpy|json|pandas)\.|\._Reduction\./;
const FACTORIES = /^torch\.(?:zeros|ones|empty|full|tensor|rand|randn|randint|arange|linspace|from_numpy)$/;

/** Methods that give numbers, texts or arrays; a tensor has no `copy()`. */
const GIVES = /^(?:item|tolist|numpy|copy|astype|format|join|split|strip)$/;
/** What keeps its kind. */
const KEEPS =
  /^(?:mean|sum|max|min|std|var|abs|round|pop|get|reshape|squeeze|flatten|values|items|setdefault)$/;

const SETTINGS =
  /^(?:args?|opts?|options|cfg|conf|config|configs|hparams|hps?|settings|schedule|\w+_(?:config|cfg|hparams))$/;

/** Methods that hand back what was logged: `logs = logger.get_logs()`. */
const RECORDS = /^(?:get|pop|flush|read|fetch)_(?:\w+_)?(?:logs?|metrics?|stats?|averages?|summary)$/;

/** An expression deeper than this is not looked into. */
const DEEPEST = 6;

export function isOnHost(expr: Expr, file: PythonFile, depth = 0): boolean {
  if (depth > DEEPEST) return false;
  const again = (inner: Expr): boolean => isOnHost(inner, file, depth + 1);
  switch (expr.kind) {
    case "Num":
    case "Str":
      return true;
    case "Call":
      return ofCall(expr, file, depth);
    case "Unary":
      return expr.op === "not" || again(expr.operand);
    case "Bool":
      return expr.values.every(again);
    case "Compare":
      // `"recon" in weights`, `out is None`: true or false, whatever is asked.
      return expr.ops.every((op) => /^(?:not )?in$|^is/.test(op));
    case "Binary":
      if (isArray(expr, file, depth + 1)) return true;
      // `total.item() / world_size`
      return again(expr.left) && (again(expr.right) || (expr.op === "/" && isRead(expr.left)));
    case "IfExp":
      // `loss.item() if torch.is_tensor(loss) else loss`: what is left as it is, is none.
      return /is_tensor|isinstance\(|hasattr\(/.test(file.textOf(expr.test))
        ? again(expr.body) || again(expr.orelse)
        : again(expr.body) && again(expr.orelse);
    case "Comp":
      return again(expr.value ?? expr.element);
    case "List":
    case "Tuple":
      return expr.items.length > 0 && expr.items.every(again);
    case "Name": {
      const made = file.scopes.reaching(expr);
      return made.length > 0 && made.every((one) => isHostDefinition(one, file, depth + 1));
    }
    case "Attribute":
      return expr.attr === "shape" || isHostAttribute(expr, file, depth);
    case "Subscript":
      if (SETTINGS.test(lastWord(expr.value))) return true;
      return isHostEntry(expr, file, depth) || (expr.index.kind !== "Str" && again(expr.value));
    default:
      return false;
  }
}

/** `totals / temperature` of `totals = np.array(rewards)`: whatever it is computed with, it is one of NumPy's. */
function isArray(expr: Expr, file: PythonFile, depth: number): boolean {
  const again = (inner: Expr): boolean => depth < DEEPEST && isArray(inner, file, depth + 1);
  if (expr.kind === "Binary") return again(expr.left) || again(expr.right);
  if (expr.kind === "Name") {
    const made = file.scopes.reaching(expr);
    return (
      made.length > 0 && made.every(({ how, value }) => how === "assign" && value !== null && again(value))
    );
  }
  if (expr.kind !== "Call") return false;
  const name = file.dotted(expr.func);
  return name === null ? expr.func.kind === "Attribute" && again(expr.func.value) : name.startsWith("numpy.");
}

/** `total.item()`, `float(total)` */
const isRead = (expr: Expr): boolean =>
  expr.kind === "Call" && /^(?:item|float|round)$/.test(lastWord(expr.func));

function ofCall(call: Call, file: PythonFile, depth: number): boolean {
  const { func, args } = call;
  // `Parallel(n_jobs=4)(delayed(score)(x) for x in xs)` of other processes.
  if (func.kind === "Call" && lastWord(func.func) === "Parallel") return true;
  const name = file.dotted(func) ?? "";
  const word = lastWord(func);
  if (CONVERTS.test(name) || OF_THE_HOST.test(name)) return true;
  if (FACTORIES.test(name)) return keyword(call, "device") === null && !file.mentions("set_default_device");
  if (/^builtins\.(?:sum|max|min|abs|sorted|list|tuple|dict)$/.test(name))
    return args.length > 0 && args.every(({ value }) => isOnHost(value, file, depth + 1));
  if (func.kind === "Attribute" && name === "") {
    if (GIVES.test(word)) return true;
    // `self.config.get_coefficient(epoch)`
    if (SETTINGS.test(lastWord(func.value))) return true;
    if (KEEPS.test(word) && isOnHost(func.value, file, depth + 1)) return true;
  }
  return handsBackNumbers(call, null, file, depth);
}

/** What a function of this file returns, or one of several, or under a key. */
function handsBackNumbers(
  call: Call,
  part: number | string | null,
  file: PythonFile,
  depth: number,
  key: string | null = null,
): boolean {
  const target = callTarget(call, file);
  const returned = target === null ? undefined : file.once(returnsByName).get(target);
  if (!returned || depth > DEEPEST) return false;
  return returned.every((one) => {
    if (typeof part === "number") {
      const item = one.kind === "Tuple" ? one.items[part] : undefined;
      if (key === null || item?.kind !== "Dict") return !!item && isOnHost(item, file, depth + 1);
      const value = item.values[item.keys.findIndex((each) => each?.kind === "Str" && each.value === key)];
      return !!value && isOnHost(value, file, depth + 1);
    }
    const at =
      one.kind === "Dict" ? one.keys.findIndex((key) => key?.kind === "Str" && key.value === part) : -1;
    if (one.kind === "Dict" && at >= 0) return isOnHost(one.values[at]!, file, depth + 1);
    if (one.kind === "Dict")
      return one.values.length > 0 && one.values.every((value) => isOnHost(value, file, depth + 1));
    return part === null
      ? isOnHost(one, file, depth + 1)
      : one.kind === "Comp" && one.value !== null && isOnHost(one.value, file, depth + 1);
  });
}

/** What is asked for at the moment: `mean += (loss.item() - mean) / n` is what all the others of that name are. */
const asked = new Set<Definition>();

/** `loss: float`, `loss = total.item() / n`, `loss, accuracy = report(…)` */
export function isHostDefinition(definition: Definition, file: PythonFile, depth = 0): boolean {
  if (asked.has(definition)) return true;
  asked.add(definition);
  try {
    return isPlainDefinition(definition, file, depth);
  } finally {
    asked.delete(definition);
  }
}

function isPlainDefinition(definition: Definition, file: PythonFile, depth: number): boolean {
  const { how, node, value, index } = definition;
  if (depth > DEEPEST) return false;
  if (node.kind === "Param")
    return (
      (node.annotation !== null && NUMBERS.test(file.textOf(node.annotation))) ||
      isHandedNumbers(definition, file, depth)
    );
  if (!value) return false;
  if (how === "assign" || how === "walrus")
    return (value.kind === "Call" && isTelling(lastWord(value.func))) || isOnHost(value, file, depth);
  // `epoch_loss += loss` of `loss, accuracy = trainer.train(x)`
  if (how === "augment") return isOnHost(value, file, depth);
  if (how === "unpack" && value.kind === "Call" && isOfHandedOn(node, value, file, depth)) return true;
  if (how !== "unpack" || index === null) return false;
  if (value.kind === "Tuple") return !!value.items[index] && isOnHost(value.items[index], file, depth + 1);
  return (
    value.kind === "Call" && (isTelling(lastWord(value.func)) || handsBackNumbers(value, index, file, depth))
  );
}

/** `(loss, rate), ms = timed(step)` of a function of this file that hands back `float(loss), rate`: as whoever calls it hands that on. */
function isOfHandedOn(target: Node, call: Call, file: PythonFile, depth: number): boolean {
  const items = target.parent?.kind === "Tuple" ? target.parent.items : [];
  const at = items.indexOf(target as Expr);
  return call.args.some(({ value }) => {
    const made = value.kind === "Name" ? file.scopes.reaching(value) : [];
    return made.some(({ node }) => {
      const returned =
        node.kind === "FunctionDef" ? file.once(returnsByName).get(file.qualified(node)) : undefined;
      return returned?.every((one) => {
        const item = one.kind === "Tuple" ? one.items[at] : at === 0 ? one : undefined;
        return item !== undefined && isOnHost(item, file, depth + 1);
      });
    });
  });
}

/** All that this file's calls give for it are numbers. */
function isHandedNumbers(param: Definition, file: PythonFile, depth: number): boolean {
  const given = depth > 2 ? [] : handedIn(param, file, true);
  return given.length > 0 && given.every((one) => one.kind !== "Num" && isOnHost(one, file, depth + 2));
}

/** `self.train_loss = total.item()`; of another's attribute, `state.last_loss`, by all that the file writes to one of that name. */
function isHostAttribute(expr: Expr & { kind: "Attribute" }, file: PythonFile, depth: number): boolean {
  const own = selfAttribute(expr);
  const cls = own === null ? null : classOf(expr);
  const isPlain = (value: Expr | null): boolean => value !== null && isOnHost(value, file, depth + 1);
  if (cls) {
    const said = declared(cls, own!, file);
    if (said !== null) return said;
    const writes = (attributesOf(cls, file).get(own!)?.writes ?? []).filter(({ value }) => !isNone(value));
    return writes.length > 0 && writes.every(({ how, value }) => how !== "buffer" && isPlain(value));
  }
  // `losses.total.detach()`, here or elsewhere
  if (new RegExp(`\\.${expr.attr}\\.(?:detach|backward|item|cpu|to|mean|sum|clone)\\(`).test(file.bare))
    return false;
  const fields = file
    .all("ClassDef")
    .map((one) => declared(one, expr.attr, file))
    .filter((one) => one !== null);
  if (fields.length > 0) return fields.every(Boolean);
  const writes = file.once(attributeWrites).get(expr.attr) ?? [];
  return writes.length > 0 && writes.every(isPlain);
}

const isNone = (expr: Expr | null): boolean => expr?.kind === "Const" && expr.value === null;

/** What a field of a class is said to be: `loss: float = 0.0`. */
function declared(cls: ClassDef, name: string, file: PythonFile): boolean | null {
  for (const one of cls.body) {
    const target = one.kind === "AnnAssign" ? one.target : one.kind === "Assign" ? one.targets[0]! : null;
    if (target?.kind !== "Name" || target.id !== name) continue;
    const said = (one as { annotation: Expr | null }).annotation;
    return said === null ? null : NUMBERS.test(file.textOf(said));
  }
  return null;
}

/** By attribute: what the file writes to it, whoever's it is. */
function attributeWrites(file: PythonFile): ReadonlyMap<string, readonly Expr[]> {
  const found = new Map<string, Expr[]>();
  for (const { targets, value } of file.all("Assign"))
    for (const target of targets)
      if (target.kind === "Attribute" && !isNone(value))
        found.set(target.attr, [...(found.get(target.attr) ?? []), value]);
  return found;
}

/** `logs["loss"]` of `logs = {"loss": total.item()}`, of what hands back such a dict, or of what is written under that key here. */
function isHostEntry(
  { value, index }: Expr & { kind: "Subscript" },
  file: PythonFile,
  depth: number,
): boolean {
  if (index.kind !== "Str") return false;
  const key = index.value ?? "";
  const put = entryWrites(value, key, file);
  if (put.length > 0 && !put.every((one) => isOnHost(one, file, depth + 1))) return false;
  const made = value.kind === "Name" ? file.scopes.reaching(value) : [];
  const ofDict = (one: Expr, deeper: number): boolean => {
    if (one.kind === "Call" && RECORDS.test(lastWord(one.func))) return true;
    if (one.kind === "Call")
      return isTelling(lastWord(one.func)) ? false : handsBackNumbers(one, key, file, deeper);
    if (one.kind !== "Dict") return false;
    const at = one.keys.findIndex((each) => each?.kind === "Str" && each.value === key);
    return at < 0 ? put.length > 0 : isOnHost(one.values[at]!, file, deeper);
  };
  if (made.length === 0) return put.length > 0;
  return made.every((one) => {
    if (one.node.kind === "Param") {
      if (one.node.annotation && NUMBERS.test(file.textOf(one.node.annotation))) return true;
      const given = depth > 2 ? [] : handedIn(one, file, true);
      return given.length > 0 ? given.every((dict) => ofDict(dict, depth + 2)) : put.length > 0;
    }
    // `losses, images = step(x)` of what returns `{"total": loss.item()}, images`
    if (one.how === "unpack" && one.value?.kind === "Call" && one.index !== null)
      return handsBackNumbers(one.value, one.index, file, depth + 1, key);
    return one.how === "assign" && one.value !== null
      ? ofDict(one.value, depth + 1) || (put.length > 0 && one.value.kind !== "Call")
      : false;
  });
}

/** `state["step"] = torch.zeros(1)` above, of the same dict in the same function or class. */
function entryWrites(dict: Expr, key: string, file: PythonFile): readonly Expr[] {
  const name = file.textOf(dict);
  const around: Node | null = classOf(dict) ?? functionOf(dict);
  return file
    .all("Assign")
    .flatMap(({ targets: [target], value }) =>
      target?.kind === "Subscript" &&
      target.index.kind === "Str" &&
      target.index.value === key &&
      file.textOf(target.value) === name &&
      (classOf(target) ?? functionOf(target)) === around
        ? [value]
        : [],
    );
}
