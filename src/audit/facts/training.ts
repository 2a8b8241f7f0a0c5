import { positional } from "../../python/file.ts";
import type { PythonFile } from "../../python/file.ts";
import { ancestors, contains, functionOf, isStatement, lastWord } from "../../python/nodes.ts";
import type { Call, ClassDef, Expr, For, FunctionDef, If, Name, Node, While } from "../../python/tree.ts";
import { methodsOf, roleOfBase } from "./classes.ts";
import type { Role } from "./classes.ts";
import { lexicalGrad } from "./gradmode.ts";
import { isMain } from "./summary.ts";

export interface Backward {
  readonly call: Call;
  /** What is differentiated, scaling stripped; null where it cannot be seen. */
  readonly loss: Expr | null;
}

const DRIVERS = /accel|fabric|engine|model|self|strategy|optimizer|trainer|scaler|lightning/i;

const LOSS = /loss(?:es)?$/i;

/** What differentiates a loss and steps, as it is called where it is imported. */
const HELPERS =
  /^(?:update_(?:params?|parameters|network|model)|optimi[sz]e(?:_\w+)?|backward_(?:and_)?\w*(?:step|update)|apply_gradients?|take_step|gradient_step|optimizer_step)$/;

const SCALERS = /^(?:loss_|amp_|grad_)?scaler$/;

/** Every call that runs a backward pass: on a tensor, through a scaler, an accelerator or an engine. */
export function backwardCalls(file: PythonFile): readonly Backward[] {
  const found: Backward[] = [];
  for (const call of file.callsNamed("backward", "manual_backward")) {
    if (call.func.kind !== "Attribute") continue;
    const { attr, value: receiver } = call.func;
    if (attr === "manual_backward") found.push({ call, loss: positional(call, 0) });
    else if (attr === "backward") {
      if (insideFunctionClass(call, file)) continue;
      if (receiver.kind === "Call" && receiver.func.kind === "Name" && receiver.func.id === "super") continue;
      const dotted = file.dotted(receiver);
      if (dotted === "torch.autograd") {
        const first = positional(call, 0);
        const listed = first?.kind === "List" || first?.kind === "Tuple" ? first.items : [first];
        const only = listed.length === 1 ? listed[0]! : null;
        found.push({ call, loss: only && unscaled(only) });
      } else if (dotted !== null) continue;
      else {
        // `y, logdet = flow.backward(z)` is the inverse of a flow: a backward pass returns nothing.
        if (call.parent?.kind === "Assign" && call.parent.targets[0]?.kind === "Tuple") continue;
        // A method of that name which, in a validation, only computes the losses.
        if (receiver.kind === "Name" && receiver.id === "self" && lexicalGrad(call, file) === "off") continue;
        const first = positional(call, 0);
        // `self.loss.backward(None, True)` is given a gradient, not a loss.
        const driver =
          first !== null &&
          !LOSS.test(tail(receiver)) &&
          (DRIVERS.test(tail(receiver)) || LOSS.test(tail(first)));
        found.push({ call, loss: ofApex(unscaled(driver ? first : receiver), file) });
      }
    }
  }
  // `loss_scaler(loss, optimizer, parameters=…)`, as timm and what follows it write it: scales, differentiates and steps.
  for (const call of file.calls.matching(SCALERS)) {
    const [loss, optimizer] = [positional(call, 0), positional(call, 1)];
    if (loss && optimizer && /optim|^opt$/i.test(tail(optimizer))) found.push({ call, loss });
  }
  // `update_params(optimizer, loss, retain_graph=True)` of another file: what else is a helper given both for?
  for (const call of file.calls.matching(HELPERS)) {
    const dotted = file.dotted(call.func);
    // Of this file, or a method of its own, it is read for itself.
    if (dotted === null ? isOfSelf(call.func) : dotted.startsWith(`${file.module}.`)) continue;
    const loss = call.args.find(({ value }) => value.kind === "Name" && LOSS.test(value.id))?.value;
    if (loss && call.args.some(({ value }) => /optim|(?:^|\.)opt$/i.test(tail(value))))
      found.push({ call, loss });
  }
  return found;
}

/** `self.step`, `super().step` */
function isOfSelf(func: Expr): boolean {
  return func.kind !== "Attribute" || func.value.kind === "Call" || tail(func.value) === "self";
}

/** The loss behind `with amp.scale_loss(loss, optimizer) as scaled_loss:`. */
function ofApex(loss: Expr | null, file: PythonFile): Expr | null {
  const [one, ...more] = loss?.kind === "Name" ? file.scopes.reaching(loss) : [];
  const scales = one?.how === "with" && more.length === 0 ? one.value : null;
  return scales?.kind === "Call" && lastWord(scales.func) === "scale_loss"
    ? (positional(scales, 0) ?? loss)
    : loss;
}

/** Methods whose returned loss a framework differentiates. */
export function isStepMethod({ name }: Pick<FunctionDef, "name">, role: Role): boolean {
  return (
    (role === "lightning" && name === "training_step") || (role === "trainer" && name === "compute_loss")
  );
}

/** The losses such methods return: `return loss`, `return (loss, outputs) if … else loss`, `return {"loss": loss}`. */
export function returnedLosses(file: PythonFile, role: (cls: ClassDef) => Role): readonly Expr[] {
  const found: Expr[] = [];
  const add = (expr: Expr): void => {
    if (expr.kind === "Name" || expr.kind === "Attribute" || expr.kind === "Subscript") found.push(expr);
    else if (expr.kind === "Tuple" && expr.items[0]) add(expr.items[0]);
    else if (expr.kind === "IfExp") {
      add(expr.body);
      add(expr.orelse);
    } else if (expr.kind === "Dict") {
      const at = expr.keys.findIndex((key) => key?.kind === "Str" && key.value === "loss");
      if (at >= 0) add(expr.values[at]!);
    }
  };
  for (const cls of file.all("ClassDef")) {
    const methods = methodsOf(cls).filter((fn) => /^(?:training_step|compute_loss)$/.test(fn.name));
    if (methods.length === 0) continue;
    for (const fn of methods)
      if (isStepMethod(fn, role(cls)))
        for (const statement of file.all("Return"))
          if (statement.value && functionOf(statement) === fn) add(statement.value);
  }
  return found;
}

/** `scaler.scale(loss)` → `loss`. */
function unscaled(expr: Expr): Expr {
  if (
    expr.kind === "Call" &&
    expr.func.kind === "Attribute" &&
    (expr.func.attr === "scale" || expr.func.attr === "scale_loss")
  )
    return positional(expr, 0) ?? expr;
  return expr;
}

function tail(expr: Expr): string {
  // `output["loss"]`
  if (expr.kind === "Subscript" && expr.index.kind === "Str") return expr.index.value ?? "";
  return expr.kind === "Name" ? expr.id : expr.kind === "Attribute" ? `${tail(expr.value)}.${expr.attr}` : "";
}

function insideFunctionClass(node: Node, file: PythonFile): boolean {
  for (const at of ancestors(node))
    if (at.kind === "ClassDef")
      return at.args.some((arg) => {
        const base = file.dotted(arg.value);
        return base !== null && roleOfBase(base) === "function";
      });
  return false;
}

/** `optimizer.step()`, `scaler.step(optimizer)`, `self.optimizers().step()`. */
export function optimizerSteps(file: PythonFile): readonly Call[] {
  return file.once(findOptimizerSteps);
}

function findOptimizerSteps(file: PythonFile): readonly Call[] {
  return file.callsNamed("step", "step_and_update_lr").filter((call) => {
    if (call.func.kind !== "Attribute" || !call.func.attr.startsWith("step")) return false;
    const receiver = tail(call.func.value).split(".").pop() ?? "";
    if (/scaler/i.test(receiver)) return true;
    // A schedule of the learning rate; `scheduled_optim` is an optimizer that keeps one.
    if (/sched/i.test(receiver) && !/optim(?:i[sz]er)?$/i.test(receiver)) return false;
    // `amp.step(model, optimizer)`
    if (call.args.some(({ value }) => /(?:^|[._])optim(?:izer)?$/.test(tail(value)))) return true;
    if (/optim|^opt(?:_|$)|_opt$|^(?:\w+_)?(?:solver|adam|sgd)$/i.test(receiver)) return true;
    return (
      call.func.value.kind === "Name" &&
      file.scopes
        .reaching(call.func.value)
        .some(
          (definition) =>
            definition.value?.kind === "Call" &&
            file.dotted(definition.value.func)?.startsWith("torch.optim.") === true,
        )
    );
  });
}

/** `loss = engine.step(batch)`, `loss = trainer.train_step(batch)`: of an object nobody here shows, by what it is given and gives. */
export function engineSteps(file: PythonFile): readonly Call[] {
  return file
    .callsNamed("step", "train_step", "training_step", "train_batch")
    .filter(({ args, func, parent }) => {
      const target = parent?.kind === "Assign" && parent.targets.length === 1 ? parent.targets[0]! : null;
      if (args.length === 0 || func.kind !== "Attribute" || target?.kind !== "Name") return false;
      const made = /^(?:\w+_)?loss$/.test(target.id) ? file.scopes.definitionAt(target) : null;
      // It may hand back a number: what is done with it says that it does not.
      return (
        made !== null &&
        file.scopes
          .uses(made)
          .some(
            (use) =>
              use.parent?.kind === "Attribute" && /^(?:item|detach|cpu|backward)$/.test(use.parent.attr),
          )
      );
    });
}

/** `i` of `for i, x in enumerate(loader)`, where nothing else binds it. */
export function isBoundBy(loop: Loop, name: Name, file: PythonFile): boolean {
  return loop.kind === "For" && file.scopes.reaching(name).every(({ node }) => contains(loop.target, node));
}

/** `if loss < limit: loss.backward()`: whether the step is taken hangs on the test, and the host cannot go on without it. */
export function decidesStep({ body }: If, backwards: readonly Backward[]): boolean {
  return backwards.some(({ call }) => body.some((statement) => contains(statement, call)));
}

/** The optimizer steps that make the code around them a step. */
export function stepsTaken(file: PythonFile, backwards: readonly Backward[]): readonly Call[] {
  const steps = optimizerSteps(file);
  const leftover = leftoverSteps(backwards, steps);
  return steps.filter((call) => !leftover.has(call));
}

/**
 * Optimizer steps after a loop that goes through whole steps of its own, with no backward beside them: what the last
 * turns had accumulated. The code around such a step goes through many of them and is none itself.
 */
function leftoverSteps(backwards: readonly Backward[], steps: readonly Call[]): ReadonlySet<Call> {
  const found = new Set<Call>();
  if (steps.length < 2) return found;
  for (const step of steps) {
    const around = turnOf(step);
    const whole = (loop: Loop): boolean =>
      loop !== around &&
      loop.end <= step.start &&
      contains(around, loop) &&
      [steps, backwards.map(({ call }) => call)].every((calls) =>
        calls.some((call) => loopsAround(call)[0] === loop),
      );
    if (
      backwards.every(({ call }) => turnOf(call) !== around) &&
      steps.some((other) => other !== step && loopsAround(other).slice(0, 1).some(whole))
    )
      found.add(step);
  }
  return found;
}

/** The innermost loop around, or the function; a file's own statements are under its root. */
function turnOf(node: Node): Node {
  const loop = loopsAround(node)[0];
  if (loop) return loop;
  const fn = functionOf(node);
  if (fn) return fn;
  let at = node;
  while (at.parent) at = at.parent;
  return at;
}

/** The loop, or the branch of it that all its steps are taken in, if the node is there too: `if step % train_every == 0:`. */
export function stepBlock(node: Node, loop: Loop, all: readonly Backward[]): Node {
  const backwards = all.filter(({ call }) => loopsAround(call)[0] === loop);
  const [first] = backwards;
  if (!first) return loop;
  const either = alternative(node, loop, backwards);
  if (either) return either;
  for (let child: Node = first.call, at = child.parent; at && at !== loop; child = at, at = at.parent) {
    if (at.kind !== "If" || child === at.test) continue;
    const branch = at.body.includes(child as never) ? at.body : at.orelse;
    if (
      [node, ...backwards.map(({ call }) => call)].every((one) =>
        branch.some((statement) => contains(statement, one)),
      )
    )
      return at;
  }
  return loop;
}

/** One of two branches that a step may be taken in, with or without a scaler, directly in the loop: a step is taken in each. */
function alternative(node: Node, loop: Loop, backwards: readonly Backward[]): Node | null {
  for (let child = node, at = node.parent; at && at !== loop; child = at, at = at.parent)
    if (at.kind === "If" && at.parent === loop && child !== at.test) {
      const { body, orelse } = at;
      const steps = (branch: readonly Node[]): boolean =>
        branch.some((statement) => backwards.some(({ call }) => contains(statement, call)));
      return steps(body) && steps(orelse) ? at : null;
    }
  return null;
}

export type Loop = For | While;

/** Loops around a node inside its own function, innermost first. A comprehension is not a loop here. */
export function loopsAround(node: Node): Loop[] {
  const loops: Loop[] = [];
  for (let child = node, at = node.parent; at; child = at, at = at.parent) {
    if (at.kind === "FunctionDef" || at.kind === "Lambda" || at.kind === "ClassDef") break;
    if ((at.kind === "For" || at.kind === "While") && isTurn(at, child) && isRepeated(at)) loops.push(at);
  }
  return loops;
}

/** Not one whose first turn ends with `break` or `return`, as somebody left it who tried something. */
function isRepeated(loop: Loop): boolean {
  const { kind } = loop.body[loop.body.length - 1]!;
  return kind !== "Break" && kind !== "Return" && !isRetry(loop);
}

/** `while result is None: result = criterion.step(batch)`: tries again what hardly ever has to be. */
function isRetry(loop: Loop): boolean {
  if (loop.kind !== "While" || loop.test.kind !== "Compare" || loop.test.ops[0] !== "is") return false;
  const { left, rights } = loop.test;
  const [right] = rights;
  return (
    left.kind === "Name" &&
    right?.kind === "Const" &&
    right.value === null &&
    loop.body.some(
      (one) => one.kind === "Assign" && one.targets.some((to) => to.kind === "Name" && to.id === left.id),
    )
  );
}

/** In a loop that comes to no second turn, and in none that does. */
export function isTriedOnce(node: Node): boolean {
  const fn = functionOf(node);
  return (
    loopsAround(node).length === 0 &&
    ancestors(node).some(
      (at) => (at.kind === "For" || at.kind === "While") && !isRepeated(at) && functionOf(at) === fn,
    )
  );
}

/** The loop whose every turn takes this step; `for opt in optimizers: opt.step()` goes through one step, not many. */
export function loopOfSteps(call: Node): Loop | null {
  const [inner, outer] = loopsAround(call);
  return inner && isOverOptimizers(inner, call) ? (outer ?? null) : (inner ?? null);
}

function isOverOptimizers(loop: Loop, call: Node): boolean {
  if (loop.kind !== "For" || call.kind !== "Call" || call.func.kind !== "Attribute") return false;
  if (!/^(?:step|zero_grad)$/.test(call.func.attr)) return false;
  let receiver = call.func.value;
  // `scaler.step(opt)`
  const given = call.func.attr === "step" && /scaler/i.test(lastWord(receiver)) ? call.args[0]?.value : null;
  if (given) receiver = given;
  if (receiver.kind === "Subscript") receiver = receiver.index;
  if (receiver.kind !== "Name") return false;
  const { id } = receiver;
  const bound = loop.target.kind === "Tuple" ? loop.target.items : [loop.target];
  return bound.some((item) => item.kind === "Name" && item.id === id);
}

/** A child of a loop that runs in each of its turns: not what it goes over, and not its `else`. */
function isTurn(loop: Loop, child: Node): boolean {
  return isStatement(child) ? !loop.orelse.includes(child) : loop.kind === "While" && loop.test === child;
}

/** More than a trial of the code takes, less than a training does. */
const FEW_STEPS = 16;

/** `for step in range(10)` that no longer loop repeats: a smoke test, whatever it costs. */
function isShort(loop: Loop, file: PythonFile): boolean {
  const fn = functionOf(loop);
  // A function with a few turns may be called in every turn of something longer.
  if (fn && !(fn.kind === "FunctionDef" && /^_*(?:main|test|demo|smoke)/.test(fn.name))) return false;
  let turns = 1;
  for (const around of [loop, ...loopsAround(loop)]) {
    if (around.kind !== "For") return false;
    const { iter } = around;
    const end =
      iter.kind === "Call" && file.dotted(iter.func) === "builtins.range" ? positional(iter, 0) : null;
    if (iter.kind !== "Call" || iter.args.length !== 1 || !end) return false;
    const count = end.kind === "Name" ? file.scopes.onlyValue(end) : null;
    // A number in the call itself is as often the example of a page as the size of a trial.
    if (count?.kind !== "Num" || /epoch/i.test(file.textOf(around.target) + file.textOf(end))) return false;
    turns *= Number(count.text);
  }
  return turns <= FEW_STEPS;
}

/** Under `if profile:`. */
function isProfiled(loop: Loop): boolean {
  for (let child: Node = loop, at = loop.parent; at; child = at, at = at.parent)
    if (at.kind === "If" && at.body.includes(child as never) && at.test.kind === "Name")
      if (/^(?:profil|bench|smoke|dry_run)/i.test(at.test.id)) return true;
  return false;
}

/** Under `if __name__ == "__main__":` of a file that never steps: differentiates, to compare or to time layers. */
function isSelfTest(loop: Loop, file: PythonFile): boolean {
  if (functionOf(loop) || file.callsNamed("step").length > 0) return false;
  let outer: Node = loop;
  while (outer.parent && outer.parent.kind !== "Module") outer = outer.parent;
  return (
    isMain(outer) &&
    file.callsNamed("backward").some((call) => contains(loop, call)) &&
    // A step by hand.
    !file.all("Attribute").some(({ attr }) => attr === "grad")
  );
}

/** `gradients = x.grad.cpu()` of a file that never steps: differentiates by what it looks at. */
function isOfInputs(loop: Loop, file: PythonFile): boolean {
  return (
    file.callsNamed("step").length === 0 &&
    !file.mentions("optim") &&
    file
      .all("Assign")
      .some(
        ({ value, start, end }) =>
          loop.start <= start && end <= loop.end && /\.grad(?:\.\w+\(\))*$/.test(file.textOf(value)),
      )
  );
}

/**
 * Whether each turn of the loop makes the network that it trains: a search over settings, not a training. Nor are a few
 * turns one.
 */
export function isTrial(loop: Loop, file: PythonFile): boolean {
  if (isShort(loop, file) || isProfiled(loop) || isSelfTest(loop, file) || isOfInputs(loop, file))
    return true;
  for (const statement of file.all("Assign")) {
    if (!contains(loop, statement) || loopsAround(statement)[0] !== loop) continue;
    // Under a test it is made now and then, for a validation.
    if (ancestorsBelow(statement, loop).some((at) => at.kind === "If" || at.kind === "Handler")) continue;
    const [target] = statement.targets;
    if (target?.kind !== "Name" || statement.value.kind !== "Call") continue;
    if (!makesNetwork(statement.value, file)) continue;
    if (
      file.scopes
        .uses(file.scopes.definitionAt(target)!)
        .some((use) => use.parent?.kind === "Call" && use.parent.func === use)
    )
      return true;
  }
  return false;
}

/**
 * `Net(...)`, `Net(...).to(device)`, `Net.from_pretrained(...)`: an instance of a class that is no loss, nor made to change its
 * input alone: a step that makes a `torchaudio.transforms.MelSpectrogram` anew is one all the same.
 */
function makesNetwork(call: Call, file: PythonFile): boolean {
  let made: Call = call;
  while (made.func.kind === "Attribute" && made.func.value.kind === "Call") made = made.func.value;
  const name = file.dotted(made.func) ?? "";
  if (name.endsWith(".from_pretrained")) return /Model|For[A-Z]/.test(name);
  return (
    /(?:^|\.)[A-Z]\w*$/.test(name) &&
    !/Loss$|Criterion$|^builtins\.|^torch\.nn\.(?!Sequential)|Metric|Meter|Writer|\btransforms?\.|Transforms?$|^kornia\.augmentation\./.test(
      name,
    )
  );
}

function ancestorsBelow(node: Node, top: Node): Node[] {
  const found: Node[] = [];
  for (const at of ancestors(node)) {
    if (at === top) break;
    found.push(at);
  }
  return found;
}
