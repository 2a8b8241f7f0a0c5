import { keyword } from "../../python/file.ts";
import type { Call, Expr, Node } from "../../python/tree.ts";
import { handedIn } from "../facts/handed-in.ts";
import { selfAttribute } from "../facts/classes.ts";
import { isShownAfterRead } from "../facts/echoes.ts";
import { holdsLosses, valuesHandedBack } from "../facts/handed-dicts.ts";
import { everyTurn, ownUpdate } from "../facts/updates.ts";
import type { Facts } from "../facts/facts.ts";
import { classOf, contains, functionOf, lastWord } from "../../python/nodes.ts";
import { callsOf, paramGiven } from "../facts/returns.ts";
import { callTarget } from "../facts/summary.ts";
import { returnedFor } from "../facts/backwarded.ts";
import { mayBeNumber } from "../facts/tensor-use.ts";
import type { ProjectFacts } from "../facts/project.ts";
import { METHODS, last } from "../facts/torch-names.ts";
import type { Finding, Rule } from "../rule.ts";
import { throttle } from "../throttle.ts";

const LOGS =
  /^(?:_?(?:log|record|track|write)(?:_\w+)?|add_scalars?|add_histogram|update|add|push|accumulate|observe|report_scalar|append|scalar)$/;
/** Names of functions and methods of a program's own that log. */
const OWN_LOG = /^_?(?:log|record|track|write)(?:_|$)/;

/** What takes tensors to keep them, and reads only a flag of them. */
const KEEPERS = /(?:Buffer|Memory|Replay|Storage|Queue|Bank|Dataset|Pool|Rollout|Trajector)\w*\.\w+$/;

const INSTEAD = "on every step; log every N steps, or collect on the device";
const MESSAGE = `The logger reads this device tensor on the host, with a wait, ${INSTEAD}`;
const METERED =
  "This meter is handed a device tensor on every step: it reads it, with a wait, or adds it up with all that it was computed from; hand it numbers every N steps, or sum detached tensors on the device";
const AFTER_READ = `The logger reads this device tensor on the host, one more round trip after a read that has waited, ${INSTEAD}`;

export const rule: Rule = {
  meta: {
    code: "PLM069",
    name: "tensor-logged-every-step",
    summary: "Device tensors are handed to a logger or meter on every step, which reads each of them",
    severity: "warning",
    fix: "unsafe",
    patterns: [69],
    onDevice: "file",
    hotOnly: true,
  },
  *check(facts) {
    for (const call of facts.file.calls.matching(LOGS)) {
      const meter = !isLogger(call, facts);
      if (meter && !(facts.guesses && isMeter(call, facts))) continue;
      // The second value of one call finds the queue empty; of one dict, one is enough.
      let waited = false;
      const told = new Set<Expr>();
      for (const { value, at } of handed(call, facts)) {
        const losses = facts.accelerator && holdsLosses(at, facts);
        if ((meter && !losses && !isScalar(value)) || told.has(at)) continue;
        const known = losses || facts.onAccelerator(value);
        if (!known && !(facts.accelerator && isTensorByWord(value, facts))) continue;
        // `if i == 0: …` around a generator's step, in the loop of the discriminator's.
        const own = !everyTurn(call, facts);
        if (own && !ownUpdate(call, facts)) continue;
        // What was put into the dict now and then is there now and then.
        if (!contains(call, value) && (own || !everyTurn(value, facts))) continue;
        const loop = facts.stepLoop(call);
        const shown = contains(call, value) && isShownAfterRead(value, facts);
        // Beside a read that waits in every turn the log would lose values, and the turn no wait.
        const edits =
          loop && contains(call, value) && !shown && !waitsBeside(call, loop, facts)
            ? throttle(call, loop, facts.file)
            : null;
        const echo = waited || shown;
        waited = true;
        told.add(at);
        yield {
          at,
          ...(echo || own || !known || losses || at !== value || mayBeNumber(value, facts)
            ? { severity: "note" as const }
            : {}),
          message: meter ? METERED : echo ? AFTER_READ : MESSAGE,
          ...(edits ? { fix: { grade: "unsafe" as const, title: "Log every 50 steps", edits } } : {}),
        };
      }
    }
    yield* handedOn(facts);
  },
};

/** `total += loss.item()` or `print(loss)` in every turn of the loop. */
function waitsBeside(call: Call, loop: Node, facts: Facts): boolean {
  const isEvery = (one: Call): boolean =>
    contains(loop, one) && !contains(call, one) && facts.frequency(one, loop) === "every";
  const { file } = facts;
  return (
    file
      .callsNamed("item", "tolist", "cpu", "numpy")
      .some((one) => one.func.kind === "Attribute" && isEvery(one) && facts.onAccelerator(one.func.value)) ||
    file
      .callsNamed("print", "float", "int")
      .some((one) => isEvery(one) && one.args.some(({ value }) => facts.onAccelerator(value)))
  );
}

/** What people call a meter, or what keeps a record. */
const METERS =
  /meter|metric|logg?er|track|writer|board|record|monitor|stat|avg|average|smooth|history|experiment|summar|(?:^|_)(?:loss(?:es)?|accs?|accuracy|top\d?|tb)$/i;
const METER_METHODS =
  /^(?:update|add|push|put|store|observe|accumulate|(?:log|record|track|write|add|put)_?(?:scalars?|metrics?|values?|loss(?:es)?|dict|train\w*|step)?)$/;

/** `losses.update(loss, n)`, `self.loss_meter.add(loss)`, `recorder.record("loss", loss)`: no dict, list or metric of torchmetrics. */
function isMeter({ func }: Call, facts: Facts): boolean {
  if (func.kind !== "Attribute" || !METER_METHODS.test(func.attr) || !METERS.test(lastWord(func.value)))
    return false;
  const { what } = facts.value(func.value);
  return (
    facts.file.dotted(func) === null &&
    what !== "container" &&
    !(func.attr === "update" && isDict(func.value, facts)) &&
    // `scores.add(loss)`
    !(what === "tensor" && /^(?:add|put)$/.test(func.attr)) &&
    !facts.file.mentions("torchmetrics") &&
    !KEEPERS.test(callTarget(func.parent as Call, facts.file) ?? "")
  );
}

/** `losses.update(more)` of what is asked for its keys, or read by one, in the same function, or is handed a dict. */
function isDict(of: Expr, { file }: Facts): boolean {
  const call = of.parent?.parent;
  const [only, ...more] = call?.kind === "Call" ? call.args : [];
  if (only && more.length === 0 && only.name === null && only.value.kind === "Dict") return true;
  // `losses = self.compute_losses(boxes)`: meters are made by their class.
  const made = of.kind === "Name" ? file.scopes.reaching(of) : [];
  if (
    made.some(
      ({ how, value }) =>
        how === "assign" &&
        value?.kind === "Call" &&
        /^_?(?!.*(?:meter|track|log|metric))[a-z]/.test(lastWord(value.func)),
    )
  )
    return true;
  const fn = functionOf(of);
  const code = fn ? file.codeOf(fn) : "";
  const name = file.textOf(of).replace(/\W/g, "\\$&");
  return new RegExp(`(?<![\\w.])${name}(?:\\.(?:keys|items|values|get|pop)\\(|\\[['"f])`).test(code);
}

/** `loss`, `errors.mean()`: what is measured, by its name; predictions are judged on the device. */
function isScalar(expr: Expr): boolean {
  if (expr.kind === "Binary") return isScalar(expr.left) || isScalar(expr.right);
  if (expr.kind === "Call" && expr.func.kind === "Attribute")
    return (
      (/^(?:mean|sum|norm|max|min|std)$/.test(expr.func.attr) && expr.args.length === 0) ||
      isScalar(expr.func)
    );
  if (expr.kind === "Attribute" && /^(?:data|detach|clone)$/.test(expr.attr)) return isScalar(expr.value);
  const word =
    expr.kind === "Subscript" && expr.index.kind === "Str" ? (expr.index.value ?? "") : lastWord(expr);
  return /loss|(?:^|_)(?:acc\w*|kl|nll|mse|ce|psnr|ssim|iou|norm|entropy|perplexity|ppl)\d?(?:_\w+)?$/i.test(
    word,
  );
}

/** `write_losses(writer, losses, step)` of this file, which logs each of `losses.items()`. */
function* handedOn(facts: Facts): Generator<Finding> {
  const { file } = facts;
  for (const call of file.callsNamed("add_scalar")) {
    const fn = functionOf(call);
    const given = call.args[1]?.value;
    const [one, ...more] = given?.kind === "Name" ? file.scopes.reaching(given) : [];
    const over = one?.how === "iterate" && more.length === 0 ? one.value : null;
    if (fn?.kind !== "FunctionDef" || over?.kind !== "Call" || over.func.kind !== "Attribute") continue;
    const parts = over.func.attr === "items" ? over.func.value : null;
    const param = fn.params.find(({ name }) => parts?.kind === "Name" && parts.id === name);
    for (const site of param ? callsOf(fn, file) : []) {
      const losses = site.args.find((arg) => paramGiven(site, arg, file) === param)?.value;
      if (losses?.kind === "Name" && facts.onAccelerator(losses) && everyTurn(site, facts))
        yield { at: losses, message: MESSAGE };
    }
  }
}

/**
 * `errors.mean()` of `loss, errors = self.losses(batch)`, where that hands back `errors.detach().abs()`: nothing but a tensor has
 * such a method, and in a step it is where the others are, unless somebody says otherwise.
 */
function isTensorByWord(expr: Expr, facts: Facts, depth = 0): boolean {
  const { device, what } = facts.value(expr);
  if (depth > 6 || device !== "unknown" || isBack(expr)) return false;
  const again = (inner: Expr): boolean => isTensorByWord(inner, facts, depth + 1);
  if (what === "tensor") return true;
  if (what !== "unknown") return false;
  if (expr.kind === "Binary") return again(expr.left) || again(expr.right);
  if (expr.kind === "Call")
    return (
      expr.func.kind === "Attribute" &&
      facts.file.dotted(expr.func) === null &&
      METHODS.has(expr.func.attr) &&
      again(expr.func.value)
    );
  const made = expr.kind === "Name" ? facts.file.scopes.reaching(expr) : [];
  return (
    made.length > 0 &&
    made.every((one) => {
      const handed = returnedFor(one, facts);
      if (handed.length > 0) return handed.every(again);
      return one.how === "assign" && one.value !== null && again(one.value);
    })
  );
}

/** `errors.cpu().detach()` */
function isBack(expr: Expr): boolean {
  return (
    expr.kind === "Call" &&
    expr.func.kind === "Attribute" &&
    (/^(?:cpu|numpy|item|tolist|to)$/.test(expr.func.attr) || isBack(expr.func.value))
  );
}

/** `wandb.init(mode="online" if TRACK else "disabled")` in a script whose TRACK is False: logging does nothing. */
function isDisabled({ file }: Facts): boolean {
  return file.callsNamed("init").some((call) => {
    const mode = keyword(call, "mode")?.value;
    if (mode?.kind === "Str") return mode.value === "disabled";
    if (mode?.kind !== "IfExp") return false;
    const { test } = mode;
    const asked = test.kind === "Unary" && test.op === "not" ? test.operand : test;
    const said = asked.kind === "Name" ? file.scopes.onlyValue(asked) : null;
    if (said?.kind !== "Const" || typeof said.value !== "boolean") return false;
    const chosen = (asked === test) === said.value ? mode.body : mode.orelse;
    return chosen.kind === "Str" && chosen.value === "disabled";
  });
}

function isLogger(call: Call, facts: Facts): boolean {
  const name = facts.file.dotted(call.func) ?? "";
  if (/^(?:tensorflow\.summary\.scalar|tensorboard_logger\.log_value)$/.test(name)) return true;
  if (/^(?:wandb|mlflow|neptune|comet_ml|swanlab|trackio)\.(?:log|log_metric|log_metrics)$/.test(name))
    return !isDisabled(facts);
  // A function of the tree that turns what it is given into numbers.
  if (call.func.kind === "Name" && /^_?(?:log|record|track|write)_?/.test(call.func.id))
    return facts.callee(call)?.reads === true;
  // `utils.log_losses(writer, losses)`
  if (name !== "" && call.func.kind === "Attribute" && OWN_LOG.test(call.func.attr))
    return handsDict(call, facts) && facts.callee(call)?.reads === true;
  if (name !== "" || call.func.kind !== "Attribute") return false;
  return (
    /^(?:add_scalar|add_scalars|add_histogram)$/.test(call.func.attr) ||
    // ClearML, Aim and neptune: `run["train/loss"].append(loss)`.
    (call.func.attr === "report_scalar" && facts.file.mentions("clearml")) ||
    (call.func.attr === "track" && facts.file.mentions("aim")) ||
    (/^(?:append|log)$/.test(call.func.attr) &&
      call.func.value.kind === "Subscript" &&
      call.func.value.index.kind === "Str" &&
      facts.file.mentions("neptune") &&
      /run|exp|neptune/i.test(facts.file.textOf(call.func.value.value))) ||
    (/^log(?:_metrics|_metric|_value|_scalar)?$/.test(call.func.attr) &&
      /wandb|run|tracker|accelerator|fabric|logger|experiment/i.test(facts.file.textOf(call.func.value))) ||
    (facts.guesses && isToldByName(call, facts)) ||
    // The Trainer of transformers hands it to its callbacks, which turn each into a number.
    (call.func.attr === "log" && isTrainer(call, facts)) ||
    // A meter of this tree that turns what it is given into a number.
    (call.func.attr === "update" && facts.callee(call)?.reads === true) ||
    ((/^(?:add|push|record|accumulate|observe)$/.test(call.func.attr) ||
      (OWN_LOG.test(call.func.attr) && handsDict(call, facts))) &&
      !KEEPERS.test(callTarget(call, facts.file) ?? "") &&
      facts.callee(call)?.reads === true)
  );
}

/** `L.log("train/loss", loss, step)` of a parameter, where a logger of this tree reads what it is told under a name. */
function isToldByName(call: Call, facts: Facts): boolean {
  const { func, args } = call;
  if (func.kind !== "Attribute" || func.value.kind !== "Name" || args.length < 2) return false;
  const [key] = args;
  if (key?.value.kind !== "Str" || key.name !== null) return false;
  const made = facts.file.scopes.reaching(func.value);
  return (
    made.length > 0 &&
    made.every(({ how, name }) => how === "param" && name !== "self") &&
    readersOf(facts.project).has(func.attr)
  );
}

const readers = new WeakMap<ProjectFacts, ReadonlySet<string>>();

/** Methods of the tree that are told a value under a name and read it: `def log(self, key, value, step)`. */
function readersOf(project: ProjectFacts): ReadonlySet<string> {
  let found = readers.get(project);
  if (!found) {
    const names = new Set<string>();
    for (const [full, { reads, params }] of project.functions)
      if (reads && params[0] === "self" && params.length > 3 && /^(?:key|name|tag|k)$/.test(params[1]!))
        names.add(last(full));
    readers.set(project, (found = names));
  }
  return found;
}

/** What is handed over by itself is found where it is read; of the values of a dict nothing is known in there. */
function handsDict(call: Call, facts: Facts): boolean {
  return call.args.some(
    ({ value }) =>
      value.kind === "Dict" ||
      (value.kind === "Comp" && value.value !== null) ||
      (value.kind === "Name" && dictOf(value, facts) !== null),
  );
}

function isTrainer(call: Call, facts: Facts): boolean {
  const cls = selfAttribute(call.func) === null ? null : classOf(call);
  return cls !== null && facts.role(cls) === "trainer" && facts.file.mentions("transformers");
}

/** A value that a logger is handed, and where that is told: what another function has put into a dict, where it is logged. */
interface Handed {
  readonly value: Expr;
  readonly at: Expr;
}

function handed(call: Call, facts: Facts): readonly Handed[] {
  return call.args.flatMap(({ value }) => {
    // `{k: v.item() for k, v in metrics.items()}` hands over numbers.
    const whole = value.kind !== "Comp" || value.value?.kind === "Name";
    const each = oneOfEach(value, facts);
    if (each) return each.map((part) => ({ value: part, at: value }));
    return (partsOf(value, facts) ?? [value]).flatMap((at) => {
      const back = whole ? valuesHandedBack(at, facts) : null;
      return back?.map((part) => ({ value: part, at })) ?? [{ value: at, at }];
    });
  });
}

/** What `v` of `for k, v in told.items(): writer.add_scalar(k, v, step)` is in each turn, where the dict is seen and `v` alone says nothing. */
function oneOfEach(value: Expr, facts: Facts): readonly Expr[] | null {
  const [one, ...more] = value.kind === "Name" ? facts.file.scopes.reaching(value) : [];
  const over = one?.how === "iterate" && one.index === 1 && more.length === 0 ? one.value : null;
  if (over?.kind !== "Call" || over.func.kind !== "Attribute" || over.func.attr !== "items") return null;
  if (facts.onAccelerator(value)) return null;
  return dictOf(over.func.value, facts) ?? valuesHandedBack(over.func.value, facts);
}

/** The values of a dict, written there, by name, or one of each of another's; null where it is none that is seen. */
function partsOf(value: Expr, facts: Facts): readonly Expr[] | null {
  if (value.kind === "Dict") return [...value.values];
  if (value.kind === "Call" && facts.file.dotted(value.func) === "builtins.dict")
    return value.args.map((arg) => arg.value);
  // `{k: v for k, v in parts.items()}`: the values of that dict.
  const over = value.kind === "Comp" ? value.clauses[0]?.iter : undefined;
  if (
    over?.kind === "Call" &&
    over.func.kind === "Attribute" &&
    over.func.attr === "items" &&
    (over.func.value.kind === "Name" || selfAttribute(over.func.value) !== null)
  )
    // What a network returned by name, as much as what was written down.
    return dictOf(over.func.value, facts) ?? handedByName(over.func.value, facts) ?? [over.func.value];
  if (value.kind !== "Name" && selfAttribute(value) === null) return null;
  return dictOf(value, facts) ?? handedByName(value, facts);
}

/** The values of a dict that the calls in this file hand to the function around, whole or as `**values`; null where it is none. */
function handedByName(name: Expr, { file }: Facts): Expr[] | null {
  const [made, ...more] = name.kind === "Name" ? file.scopes.reaching(name) : [];
  const param = made && more.length === 0 && made.node.kind === "Param" ? made.node : null;
  const fn = param?.parent;
  if (!param || fn?.kind !== "FunctionDef" || param.star === 1) return null;
  if (param.star === 0) {
    const dicts = handedIn(made!, file, true).flatMap((one) => (one.kind === "Dict" ? [one] : []));
    return dicts.length > 0 ? dicts.flatMap(({ values }) => values) : null;
  }
  return file
    .callsNamed(fn.name)
    .flatMap((call) =>
      callTarget(call, file) === file.qualified(fn)
        ? call.args.flatMap(({ name: key, value }) =>
            key !== null && !fn.params.some((one) => one.name === key) ? [value] : [],
          )
        : [],
    );
}

/** The values of a dict of metrics made before, and of those put into it in the same function: `logs["loss"] = loss`. */
function dictOf(dict: Expr, { file }: Facts): Expr[] | null {
  const made = dict.kind === "Name" ? file.scopes.onlyValue(dict) : null;
  if (dict.kind === "Name" && made?.kind !== "Dict") return null;
  const name = file.textOf(dict);
  const put = file
    .all("Assign")
    .filter(
      ({ targets: [target], end }) =>
        target?.kind === "Subscript" &&
        target.index.kind === "Str" &&
        end < dict.start &&
        file.textOf(target.value) === name &&
        functionOf(target) === functionOf(dict),
    )
    .map(({ value }) => value);
  const values = [...(made?.kind === "Dict" ? made.values : []), ...put];
  return made || values.length > 0 ? values : null;
}
