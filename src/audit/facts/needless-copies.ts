import type { PythonFile } from "../../python/file.ts";
import { isFalse } from "../../python/file.ts";
import { classOf, functionOf, lastWord } from "../../python/nodes.ts";
import type { Arg, Call, Expr, Name, Node } from "../../python/tree.ts";
import { attributesOf, selfAttribute } from "./classes.ts";
import type { Facts } from "./facts.ts";
import { isNetwork } from "./networks.ts";
import { callTarget } from "./summary.ts";
import { loopsAround } from "./training.ts";

/** Copies that hold the same numbers a second time, as far as the function says that makes them. */

/** What is written to by an optimizer, a hook or the next step, wherever that stands. */
const KEPT =
  /^(?:params?|parameters?|weights?|bias(?:es)?|w|p|grads?|data|buffers?|hidden|state|memory|queue|bank|codebook|state_dict|ema\w*|\w+_(?:params?|grads?|weights?|buffer|queue|bank))$/;

/** What a function may do to its argument, by its name. */
const WRITES =
  /mask|augment|corrupt|perturb|noise|mix|shuffle|update|fill|scatter|apply|set_|put|push|append|insert|extend|save|store|record|cache|deque|add$|hook|transform|step$|_$|^(?:list|tuple|dict|setattr|Parameter|Variable|partial|deepcopy)$/i;

/** Methods that hand on the tensor itself, or a view of it. */
const VIEWS =
  /^(?:detach|view|reshape|flatten|squeeze|unsqueeze|transpose|permute|t|contiguous|to|cuda|float|half|type|type_as|expand|expand_as|chunk|split)$/;

/**
 * `net(x.clone())`, `x.clone() * w`, `kept = x.clone()`, where nothing in the function writes into `x` or into what the copy is
 * called: as the reader sees it, both hold the same numbers.
 */
export function isLikelyNeedless(call: Call, copied: Expr, facts: Facts): boolean {
  const { file } = facts;
  const fn = functionOf(call);
  const root = rootOf(copied);
  if (fn === null || root === null || KEPT.test(lastWord(root)) || isPartOfMany(copied)) return false;
  const written = file.once(writtenTo).get(fn);
  if (isGivenToWriting(root, copied, file) || isSmall(root, copied, file)) return false;
  const isWritten = (expr: Expr): boolean => written?.has(file.textOf(expr)) === true;
  if (isWritten(root)) return false;
  // What the object keeps is written to by its other methods.
  if (selfAttribute(root) !== null) return false;
  const reads = (place: Expr, depth = 0): boolean => {
    const { parent } = place;
    if (parent?.kind === "Binary" || parent?.kind === "Compare") return true;
    if (parent?.kind === "AugAssign") return parent.value === place;
    if (parent?.kind === "Subscript") return parent.value === place && reads(parent, depth);
    if (parent?.kind === "Attribute" && parent.value === place) {
      if (parent.parent?.kind !== "Call" || parent.parent.func !== parent)
        return !/^(?:data|grad|requires_grad)$/.test(parent.attr) && parent.parent?.kind !== "Assign";
      if (/[^_]_$|^(?:retain_grad|register_hook)$/.test(parent.attr)) return false;
      return VIEWS.test(parent.attr) ? reads(parent.parent, depth) : true;
    }
    if ((parent?.kind === "List" || parent?.kind === "Tuple") && parent.parent?.kind === "Arg")
      return isJoining(parent.parent);
    if (parent?.kind === "Arg" && isReading(parent, facts)) return true;
    if (isHandedOut(place)) return !isRecord(place) && isMadeHere(root, file) && !isWritten(keeperOf(place));
    const [name, ...more] = parent?.kind === "Assign" && parent.value === place ? parent.targets : [];
    if (name?.kind !== "Name" || more.length > 0 || depth > 2 || isWritten(name)) return false;
    const made = file.scopes.definitionAt(name);
    const uses: readonly Name[] = made ? file.scopes.uses(made) : [];
    return uses.length > 0 && uses.every((use) => functionOf(use) === fn && reads(use, depth + 1));
  };
  return reads(call);
}

/** By their names a number an example or a token: a copy of those costs next to nothing. */
const FEW =
  /mask|(?:^|_)(?:ids?|idx|index|indices|loss(?:es)?|lens?|lengths?|t|timesteps?|device|names?|rewards?|dones?)$/i;

/** `ids`, `torch.tensor([])`, and `inputs["past"]`, one of many that a function is handed, beside all that it makes of them. */
function isSmall(root: Expr, copied: Expr, file: PythonFile): boolean {
  if (FEW.test(lastWord(root))) return true;
  const made = root.kind === "Name" ? file.scopes.reaching(root) : [];
  return made.some(
    ({ how, value }) =>
      (how === "param" && copied.kind === "Subscript") ||
      (value?.kind === "Call" && file.dotted(value.func) === "torch.tensor"),
  );
}

/** Below `if not self.compresses: return x`, where the constructor says `self.compresses = False`. */
export function isOffByDefault(call: Call, file: PythonFile): boolean {
  const fn = functionOf(call);
  const cls = fn && classOf(fn);
  if (!fn || fn.kind !== "FunctionDef" || !cls) return false;
  return fn.body.some((one) => {
    if (one.kind !== "If" || one.end > call.start || one.body.at(-1)?.kind !== "Return") return false;
    const own = one.test.kind === "Unary" && one.test.op === "not" ? selfAttribute(one.test.operand) : null;
    const writes = own === null ? [] : (attributesOf(cls, file).get(own)?.writes ?? []);
    return writes.some(({ in: method, value }) => method.name === "__init__" && isFalse(value));
  });
}

/** `dist.all_reduce(copy)`: by the others' numbers. */
const COLLECTIVE = /^(?:all_|reduce|broadcast|gather|scatter|send|recv|i(?:send|recv)$)/;

/** `chain = [x.clone()]`, `chain.append(x.clone())` in `for step in range(n):`: what a sampler went through, kept on purpose. */
function isRecord(place: Expr): boolean {
  if (place.parent?.kind === "List" && place.parent.parent?.kind === "Assign") return true;
  const [loop] = loopsAround(place);
  return (
    place.parent?.kind === "Arg" &&
    loop?.kind === "For" &&
    loop.iter.kind === "Call" &&
    /^t?range$/.test(lastWord(loop.iter.func))
  );
}

/** `return x.clone()`, `{"feats": x.clone()}`, `feats.append(x.clone())` */
function isHandedOut({ parent }: Expr): boolean {
  if (parent?.kind === "Arg")
    return parent.parent?.kind === "Call" && /^(?:append|insert)$/.test(lastWord(parent.parent.func));
  return parent !== null && /^(?:Return|Dict|Tuple|List)$/.test(parent.kind);
}

/** `feats` of `feats.append(x.clone())`. */
function keeperOf(place: Expr): Expr {
  const { parent } = place;
  const { func } = parent?.kind === "Arg" && parent.parent?.kind === "Call" ? parent.parent : { func: place };
  return func.kind === "Attribute" ? func.value : place;
}

/** What the function has computed itself, and no layer that works in place may be given next. */
function isMadeHere(root: Expr, file: PythonFile): boolean {
  const made = root.kind === "Name" && !file.once(worksInPlace) ? file.scopes.reaching(root) : [];
  return (
    made.length > 0 &&
    made.every(({ how, value }) => how === "assign" && (value?.kind === "Call" || value?.kind === "Binary"))
  );
}

/** `self.body(x)` beside the copy of `x`, in a file of layers that work in place. */
function isGivenToWriting(root: Expr, copied: Expr, file: PythonFile): boolean {
  if (root.kind !== "Name" || !file.once(worksInPlace)) return false;
  return file.scopes
    .reaching(root)
    .some((made) =>
      file.scopes
        .uses(made)
        .some(
          (use) =>
            use !== root &&
            use !== copied &&
            use.parent?.kind === "Arg" &&
            use.parent.parent?.kind === "Call" &&
            selfAttribute(use.parent.parent.func) !== null,
        ),
    );
}

const worksInPlace = (file: PythonFile): boolean =>
  file.says(/inplace\s*=\s*True|(?:Re[lL][uU]6?|Dropout\dd?)\(True\)/);

/** `x` of `x`, `x.detach()` and `out.logits`. */
function rootOf(expr: Expr): Expr | null {
  let at = expr;
  while (at.kind === "Call" && at.func.kind === "Attribute" && VIEWS.test(at.func.attr)) {
    if (at.func.value.kind === "Name" && at.func.value.id === "torch") return null;
    at = at.func.value;
  }
  while (at.kind === "Subscript") at = at.value;
  return at.kind === "Name" || at.kind === "Attribute" ? at : null;
}

/** `x[:, -1]`: a copy of a part is kept so that the rest can go. */
function isPartOfMany(expr: Expr): boolean {
  if (expr.kind === "Subscript") return expr.index.kind !== "Str";
  return expr.kind === "Call" && expr.func.kind === "Attribute" && isPartOfMany(expr.func.value);
}

const isJoining = ({ parent }: Arg): boolean =>
  parent?.kind === "Call" && /^(?:cat|concat|concatenate|stack|hstack|vstack)$/.test(lastWord(parent.func));

/** A function of another file that compares what a network gave with what it should: `f_score(outputs.clone(), labels)`. */
const MEASURES =
  /^(?:(?:get|compute|calc|calculate|batch)_)?(?:\w+_)?(?:f\d?_?score|acc|accuracy|m?iou|dice|psnr|ssim|auc|metrics?)(?:_score|_fn)?$/i;

/** `F.relu(x)`, `self.up(x, skip)`, `criterion(x, y)`: by its name it reads. */
function isReading(arg: Arg, facts: Facts): boolean {
  const call = arg.parent;
  if (call?.kind !== "Call" || arg.star !== 0) return false;
  const { file } = facts;
  const word = lastWord(call.func);
  const name = file.dotted(call.func) ?? "";
  // A view, of which something may be done with.
  if (VIEWS.test(word) && name.startsWith("torch.")) return false;
  // What the file's own functions do to it is known.
  if (file.functionNamed(callTarget(call, file))) return false;
  if (
    WRITES.test(word) ||
    COLLECTIVE.test(word) ||
    arg.name === "out" ||
    call.args.some((one) => one.name === "inplace")
  )
    return false;
  if (name.startsWith("torch.")) return !/^torch\.(?:autograd|optim|save|onnx)/.test(name);
  if (facts.networks.isLoss(call.func) || MEASURES.test(word)) return true;
  return (isNetwork(call.func, facts) || selfAttribute(call.func) !== null) && !file.once(writesFirst);
}

/** A layer that writes into its input, and may be given what a block is. */
const writesFirst = (file: PythonFile): boolean =>
  file.says(/(?:^|[\s([=])nn\.(?:Re[lL][uU]6?|LeakyReLU|ELU|SiLU|Dropout\dd?)\([^)]*(?:inplace=)?True/) &&
  file.says(/(?:Sequential\(\s*|= *)nn\.(?:Re[lL][uU]6?|LeakyReLU|ELU|SiLU|Dropout\dd?)\([^)]*True/);

/** Of each function, the texts of what is written into in place: `x` of `x += y`, `x[0] = y` and `x.add_(y)`. */
function writtenTo(file: PythonFile): ReadonlyMap<Node, ReadonlySet<string>> {
  const found = new Map<Node, Set<string>>();
  const add = (target: Expr): void => {
    const fn = functionOf(target);
    if (fn === null) return;
    const texts = found.get(fn) ?? new Set();
    found.set(fn, texts);
    let at: Expr = target;
    for (;;) {
      texts.add(file.textOf(at));
      if (at.kind === "Subscript" || at.kind === "Attribute") at = at.value;
      else if (at.kind === "Call" && at.func.kind === "Attribute" && VIEWS.test(at.func.attr))
        at = at.func.value;
      else return;
    }
  };
  for (const { target } of file.all("AugAssign")) add(target);
  for (const { targets } of file.all("Assign"))
    for (const target of targets)
      if (target.kind === "Subscript" || (target.kind === "Attribute" && selfAttribute(target) === null))
        add(target);
  for (const { func } of file.calls.matching(/[^_]_$/)) if (func.kind === "Attribute") add(func.value);
  for (const { args } of file.calls.given(["out", "inplace"]))
    for (const { name, value } of args) if (name === "out" || name === null) add(value);
  return found;
}
