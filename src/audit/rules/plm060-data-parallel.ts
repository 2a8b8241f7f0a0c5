import { keyword, positional } from "../../python/file.ts";
import type { PythonFile } from "../../python/file.ts";
import { contains, functionOf, lastWord, statementOf } from "../../python/nodes.ts";
import type { Call, Expr, Node } from "../../python/tree.ts";
import type { Facts } from "../facts/facts.ts";
import { defaultOf } from "../facts/behind-options.ts";
import type { Finding, Rule } from "../rule.ts";

const NAMES = /^torch\.nn\.(?:parallel\.(?:data_parallel\.)?)?(?:DataParallel|data_parallel)$/;
const MESSAGE =
  "`DataParallel` copies the model to all devices in every forward, in one process, and gathers outputs and gradients on the first; use DistributedDataParallel";

const EVALUATED =
  "`DataParallel` copies the model to all devices in every forward, in one process, and gathers the outputs on the first; a process for each device does neither";

export const rule: Rule = {
  meta: {
    code: "PLM060",
    name: "data-parallel",
    summary:
      "`nn.DataParallel` copies the model to every device on every forward and gathers outputs on the first",
    severity: "warning",
    fix: "none",
    patterns: [60],
  },
  *check(facts) {
    const { file } = facts;
    for (const call of file.calls.given(["strategy", "accelerator", "distributed_backend"]))
      if (lastWord(call.func) === "Trainer")
        for (const { name, value } of call.args)
          if (/^(?:strategy|accelerator|distributed_backend)$/.test(name ?? "") && isDp(value))
            yield { at: value, severity: "note", message: MESSAGE };
    if (!file.mentions("DataParallel") && !file.mentions("data_parallel")) return;
    if (facts.guesses) yield* likely(facts);
    for (const call of file.callsNamed("DataParallel", "data_parallel"))
      if (
        NAMES.test(file.dotted(call.func) ?? "") &&
        !isWithoutDevice(call, file) &&
        !isOnOne(call, facts) &&
        !isOfTransform(call, file) &&
        !isUnwrapped(call, file)
      )
        yield asksForMore(call, facts)
          ? { at: call.func, severity: "note", message: `${MESSAGE} (one device by default)` }
          : isEvaluated(facts) ||
              isOfChops(call) ||
              isOfTeacher(call) ||
              isEvaluatedHere(call, facts) ||
              isOnlyRun(call, facts)
            ? { at: call.func, severity: "note", message: EVALUATED }
            : { at: call.func, message: MESSAGE };
    for (const call of file.callsNamed("partial"))
      if (
        file.dotted(call.func) === "functools.partial" &&
        call.args[0] &&
        NAMES.test(file.dotted(call.args[0].value) ?? "")
      )
        yield { at: call.args[0], message: MESSAGE };
    // `wrapper = nn.DataParallel if count > 1 else nn.Identity`, and a model is handed to that.
    for (const choice of file.all("IfExp"))
      for (const branch of [choice.body, choice.orelse])
        if (
          (branch.kind === "Attribute" || branch.kind === "Name") &&
          NAMES.test(file.dotted(branch) ?? "") &&
          [choice, ...usesOf(choice, file)].some(
            (one) => one.parent?.kind === "Call" && one.parent.func === one,
          )
        )
          yield isEvaluated(facts)
            ? { at: branch, severity: "note", message: EVALUATED }
            : { at: branch, message: MESSAGE };
    for (const { args } of file.all("ClassDef"))
      for (const { value } of args)
        // A class made of it may be nobody's.
        if (NAMES.test(file.dotted(value) ?? "")) yield { at: value, severity: "note", message: MESSAGE };
  },
  *checkConfig(config) {
    for (const setting of config.settings)
      if (
        setting.value === "dp" &&
        /^(?:strategy|accelerator|distributed_backend)$/.test(setting.key) &&
        config.besides(setting, /^(?:devices|gpus|(?:max_)?epochs|max_steps|precision)$/)
      )
        yield { at: setting.valueAt, severity: "note", message: MESSAGE };
  },
};

const isDp = (value: Expr): boolean => value.kind === "Str" && value.value === "dp";

/**
 * The class as a value, which somebody calls: `wrapper = nn.DataParallel`, `map(nn.DataParallel, nets)`, `{"dp": nn.DataParallel}`,
 * `getattr(nn, "DataParallel")`. To ask whether a network is wrapped, it is named as well.
 */
function* likely({ file }: Facts): Generator<Finding> {
  for (const one of [...file.all("Attribute"), ...file.all("Name")]) {
    if (
      !NAMES.test(/^(?:DataParallel|data_parallel|DP)$/.test(lastWord(one)) ? (file.dotted(one) ?? "") : "")
    )
      continue;
    const at = one.parent;
    const taker = at?.kind === "Arg" && at.parent?.kind === "Call" ? at.parent : null;
    const isTaken =
      taker !== null &&
      !/isinstance|issubclass|hasattr|unwrap|partial|regist|^type$/.test(lastWord(taker.func));
    const isKept =
      (at?.kind === "Assign" && at.value === one) || at?.kind === "Return" || at?.kind === "Dict";
    if (isTaken || isKept) yield { at: one, message: MESSAGE };
  }
  for (const call of file.callsNamed("getattr"))
    if (
      call.args[1]?.value.kind === "Str" &&
      call.args[1].value.value === "DataParallel" &&
      file.dotted(call.args[0]!.value) === "torch.nn"
    )
      yield { at: call, message: MESSAGE };
  // Of another library, which does the same: `torch_geometric.nn.DataParallel`.
  for (const call of file.callsNamed("DataParallel"))
    if (
      /^(?:torch_geometric|encoding|lib|utils)\b/.test(file.dotted(call.func) ?? "") &&
      call.args.length > 0
    )
      yield { at: call.func, message: MESSAGE };
}

/** Wrapped as it was saved; it gets no gradients. */
function isOfTeacher({ args }: Call): boolean {
  const [net] = args;
  return net !== undefined && /(?:^|_)teacher(?:_|$)/i.test(lastWord(net.value));
}

/** `def forward_chop(…):` goes through a large picture piece by piece, which is done to look at the result. */
function isOfChops(call: Call): boolean {
  const fn = functionOf(call);
  return fn?.kind === "FunctionDef" && /chop|tile|infer|predict|eval|valid/i.test(fn.name);
}

/** In a function, or under a test, where nothing is trained, and where the model is put in eval mode or stays. */
function isEvaluatedHere(call: Call, facts: Facts): boolean {
  const { file } = facts;
  const evals = file.callsNamed("eval");
  for (let at: Node | null = call.parent; at; at = at.parent) {
    const around = at;
    if (around.kind !== "FunctionDef" && !(around.kind === "If" && around.parent?.kind === "Module"))
      continue;
    const within = (one: Call): boolean => contains(around, one);
    return (
      (evals.some(within) || (around.kind === "FunctionDef" && staysHere(call, file))) &&
      !file.callsNamed("train", "backward", "step", "fit").some(within) &&
      !file.all("Call").some((one) => within(one) && trains(facts)(one))
    );
  }
  return false;
}

/** Kept under a name of the function that nobody gets from it. */
function staysHere(call: Call, file: PythonFile): boolean {
  const uses = usesOf(call, file);
  return uses.length > 0 && !uses.some((use) => statementOf(use)?.kind === "Return");
}

/** Where the name is used that `model = DataParallel(model)` gives it. */
function usesOf({ parent }: Node, file: PythonFile): readonly Node[] {
  const target = parent?.kind === "Assign" ? parent.targets[0] : null;
  const made = target?.kind === "Name" ? file.scopes.definitionAt(target) : null;
  return made ? file.scopes.uses(made) : [];
}

/** A program that never trains; of a file of definitions its callers know. */
function isEvaluated(facts: Facts): boolean {
  const { file } = facts;
  if (file.callsNamed("backward", "step", "fit").length > 0) return false;
  return (
    file.callsNamed("eval").length > 0 || (file.once(isProgram) && !file.all("Call").some(trains(facts)))
  );
}

const trains =
  (facts: Facts) =>
  (call: Call): boolean =>
    facts.callee(call)?.reachesBackward === true ||
    (/(?:^|_)(?:train|fit|learn)|Train|Learner|Engine|Solver|Runner|optim/i.test(lastWord(call.func)) &&
      // `get_train_dataset(…)`
      !/data|loader|transform|augment|set$/i.test(lastWord(call.func)));

/** Nothing in it is for others: what it makes, it uses. */
function isProgram(file: PythonFile): boolean {
  return !file.tree.module.body.some(
    (one) => (one.kind === "FunctionDef" && one.name !== "main") || one.kind === "ClassDef",
  );
}

/** `model = DataParallel(model)`, loaded and handed to what does not train. */
function isOnlyRun(call: Call, facts: Facts): boolean {
  const uses = usesOf(call, facts.file);
  const isRun = ({ parent: at }: Node): boolean => {
    if (at?.kind === "Attribute") return /^(?:module|state_dict|load_state_dict|eval)$/.test(at.attr);
    const given = at?.kind === "Arg" && at.parent?.kind === "Call" ? at.parent : null;
    const runs = given !== null && /valid|eval|test|predict|infer/i.test(lastWord(given.func));
    return runs && !trains(facts)(given);
  };
  return uses.length > 0 && uses.every(isRun);
}

/** `model = DataParallel(model)`, and afterwards only what is inside, or its names in a file: it never runs. */
function isUnwrapped(call: Call, file: PythonFile): boolean {
  const uses = usesOf(call, file);
  return (
    uses.length > 0 &&
    uses.every(
      ({ parent: at }) => at?.kind === "Attribute" && /^(?:module|state_dict|load_state_dict)$/.test(at.attr),
    )
  );
}

/** `DataParallel(model, device_ids=[0])` only passes the call on, as under `if n_gpu == 1:`. */
function isOnOne(call: Call, { file }: Facts): boolean {
  const given = keyword(call, "device_ids")?.value ?? positional(call, 1);
  const ids = given?.kind === "Name" ? file.scopes.onlyValue(given) : given;
  if (ids?.kind === "List" && ids.items.length === 1 && ids.items[0]!.kind !== "Starred") return true;
  for (let child: Node = call, at = call.parent; at; child = at, at = at.parent)
    if (
      at.kind === "If" &&
      at.body.includes(child as never) &&
      at.test.kind === "Compare" &&
      at.test.ops[0] === "==" &&
      isOne(at.test.rights[0]!) &&
      /gpu|device/i.test(file.textOf(at.test.left))
    )
      return true;
  return false;
}

function isOne(expr: Expr): boolean {
  return expr.kind === "Num" && expr.text === "1";
}

/** `device_ids=args.gpu_ids`, or `list(range(args.ngpu))`, of an option that is one device by default. */
function asksForMore(call: Call, { file, project }: Facts): boolean {
  let ids = keyword(call, "device_ids")?.value ?? positional(call, 1);
  if (ids?.kind === "Name") ids = file.scopes.onlyValue(ids);
  let counted = false;
  while (ids?.kind === "Call" && /^(?:list|range)$/.test(lastWord(ids.func))) {
    counted ||= lastWord(ids.func) === "range";
    ids = positional(ids, 0);
  }
  const given = ids ? defaultOf(ids, file, project) : undefined;
  return counted ? given === 1 : typeof given === "string" && /^\d$/.test(given);
}

/** `DataParallel(FastTransform())`: there is next to nothing to copy. */
function isOfTransform(call: Call, file: PythonFile): boolean {
  const given = call.args[0]?.value;
  return given?.kind === "Call" && /Transforms?$/.test(file.textOf(given.func));
}

/** In the `else` of `if torch.cuda.is_available():`, where it only passes the call on. */
function isWithoutDevice(node: Node, file: PythonFile): boolean {
  for (let child = node, at = node.parent; at; child = at, at = at.parent)
    if (
      at.kind === "If" &&
      at.orelse.includes(child as never) &&
      at.test.kind === "Call" &&
      file.dotted(at.test.func) === "torch.cuda.is_available"
    )
      return true;
  return false;
}
