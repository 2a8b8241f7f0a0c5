import { isMain } from "../facts/summary.ts";
import { argument, importsFrom, keyword } from "../../python/file.ts";
import type { PythonFile } from "../../python/file.ts";
import { ancestors, classOf, contains, functionOf, lastWord, statementOf } from "../../python/nodes.ts";
import type { Assign, Call, Expr, Node } from "../../python/tree.ts";
import { isModuleRole } from "../facts/classes.ts";
import type { Facts } from "../facts/facts.ts";
import {
  drivers,
  givesIndices,
  isAllocatedOn,
  isOnlyCounted,
  mayGiveOwn,
  openedAtImport,
} from "../facts/ranks.ts";
import { callsOf } from "../facts/returns.ts";
import type { Finding, Rule } from "../rule.ts";

export const rule: Rule = {
  meta: {
    code: "PLM082",
    name: "all-ranks-on-first-device",
    summary: "A distributed program allocates on the first device from every rank",
    severity: "error",
    fix: "none",
    patterns: [82],
  },
  *check(facts) {
    const { file } = facts;
    yield* mapped(facts);
    const loaded = [...whereLoaded(facts)];
    yield* loaded;
    yield* calledEarly(facts);
    if (file.callsNamed("init_process_group", "DistributedDataParallel").length === 0) {
      yield* atImport(facts);
      yield* beforeSetUp(facts);
      yield* whereBuilt(facts);
      yield* aboveDriver(facts);
      return;
    }
    const inits = file
      .callsNamed("init_process_group")
      .filter((call) =>
        /^torch\.distributed\.(?:distributed_c10d\.)?init_process_group$/.test(file.dotted(call.func) ?? ""),
      );
    const wraps = file
      .callsNamed("DistributedDataParallel")
      .filter((call) => (file.dotted(call.func) ?? "").endsWith(".DistributedDataParallel"));
    // Started by something else that gives each rank its own device, or no device at all.
    if ((inits.length === 0 && wraps.length === 0) || seesOwn(file) || isPlaced(file)) return;
    const sets = file
      .callsNamed("set_device", "set_device_index")
      .filter((call) =>
        /^torch\.(?:cuda|xpu|npu|accelerator)\.set_device(?:_index)?$/.test(file.dotted(call.func) ?? ""),
      );
    // `ddp_setup(rank)`, a function of this file that does it, is the choice of who calls it.
    const chooses = [
      ...sets,
      ...sets.flatMap((call) => (isConditional(call) ? [] : helperCalls(call, facts))),
    ];
    const own =
      chooses.length === 0 &&
      /local_rank|LOCAL_RANK|cuda:\{|"cuda:" ?\+|torch\.device\(\s*["']cuda["']\s*,|get_rank|device_id\b|cuda\(\s*\w/i.test(
        file.text,
      ) &&
      (wraps.length === 0 || mayGiveOwn(file));
    for (const call of wraps) {
      const ids = keyword(call, "device_ids")?.value;
      if (ids?.kind === "List" && ids.items.length === 1 && isZero(ids.items[0]!))
        yield { at: ids, message: MESSAGE };
    }
    if ((chooses.length === 0 && own) || inits.length === 0) yield* atImport(facts);
    if (inits.length === 0) yield* beforeSetUp(facts);
    // Where the ranks are set up elsewhere, they may have chosen there: only what names the first device is sure.
    for (const finding of inits.length > 0 ? literals(own, chooses, facts) : literals(true, [], facts, true))
      if (!loaded.some(({ at }) => contains(finding.at as Node, at as Node))) yield finding;
  },
};

const MESSAGE =
  "Every rank of this program means the first device by this: it holds one copy for each process, and the others stay empty";

const UNLESS =
  "Unless each rank sees a device of its own, all of them mean the first one by this: it holds one copy for each process, and the others stay empty";

const BEFORE_CHOICE =
  "Made before the rank has chosen its device: where ranks share a machine, every process opens the first device for it";

/** `CUDA_VISIBLE_DEVICES=0,3 torchrun …`, written down for whoever starts it: every rank sees both. */
const SHOWS_SEVERAL = /CUDA_VISIBLE_DEVICES["'\]\s=,(]*\d+\s*,\s*\d/;

/** Set or read in another way. */
const SHOWS_OTHERS = /CUDA_VISIBLE_DEVICES(?:["']|\s*=)(?!["'\]\s=,(]*\d+\s*,\s*\d)/;

/** Whether each rank may have been shown a device of its own. */
function seesOwn(file: PythonFile): boolean {
  if (!file.text.includes("CUDA_VISIBLE_DEVICES")) return false;
  const text = file.code;
  return (
    text.includes("CUDA_VISIBLE_DEVICES") &&
    !isOnlyCounted(file) &&
    (!SHOWS_SEVERAL.test(text) || SHOWS_OTHERS.test(text)) &&
    !file.all("Assign").some((one) => showsSeveral(one, file))
  );
}

/** `os.environ["CUDA_VISIBLE_DEVICES"] = gpus`, which is "0,1,2,3" for all. */
function showsSeveral({ targets: [target], value }: Assign, file: PythonFile): boolean {
  if (target?.kind !== "Subscript" || target.index.kind !== "Str") return false;
  if (target.index.value !== "CUDA_VISIBLE_DEVICES") return false;
  // `args.gpus`, of which there are several: `len(args.gpus.split(","))` processes are started.
  if (value.kind === "Attribute")
    return file
      .callsNamed("split")
      .some(({ func }) => func.kind === "Attribute" && file.textOf(func.value) === file.textOf(value));
  if (value.kind !== "Name") return false;
  const shown = file.scopes.onlyValue(value);
  return shown?.kind === "Str" && /^\d+(?:\s*,\s*\d+)+$/.test(shown.value ?? "");
}

/** What only a file that works with its ranks calls. */
const RANKED = [
  "all_reduce",
  "get_rank",
  "get_world_size",
  "barrier",
  "FullyShardedDataParallel",
  "DistributedDataParallel",
  "init_process_group",
];

/** `device_map={"": 0}` in a program that knows of its ranks. */
function* mapped(facts: Facts): Generator<Finding> {
  const { file } = facts;
  const calls = file.calls.given(["device_map"]);
  if (calls.length === 0 || !file.says(/LOCAL_RANK|WORLD_SIZE|local_rank/)) return;
  const seen = new Set<Node>();
  for (const call of calls) {
    const given = keyword(call, "device_map")!.value;
    const maps =
      given.kind === "Name" ? file.scopes.reaching(given).flatMap(({ value }) => value ?? []) : [given];
    // Where it is chosen by rank as well, this one is for a single process.
    if (maps.length > 1 && maps.some((one) => /rank/i.test(file.textOf(one)))) continue;
    for (const map of maps) {
      const [device] = map.kind === "Dict" && map.values.length === 1 ? map.values : [];
      if (
        seen.has(map) ||
        !device ||
        !(isZero(device) || (device.kind === "Str" && device.value === "cuda:0"))
      )
        continue;
      seen.add(map);
      yield { at: map, severity: "note", message: UNLESS };
    }
  }
}

/** `sys.path.append("../")` above its imports: a script beside the package that it stands in, which nothing imports. */
const isStartedAlone = (file: PythonFile): boolean =>
  file
    .callsNamed("append", "insert")
    .some(
      (call) =>
        call.func.kind === "Attribute" &&
        file.dotted(call.func.value) === "sys.path" &&
        statementOf(call)?.parent?.kind === "Module",
    );

/** It works with its ranks, or is imported by a program of them before any has chosen its device. */
function isRanked({ file, project }: Facts): boolean {
  // Its driver chooses the device when it is made, which is later.
  if (file.callsNamed("Accelerator").some((call) => file.dotted(call.func) === "accelerate.Accelerator"))
    return !seesOwn(file) && !importsFrom(file, RAY);
  return (
    (file
      .callsNamed(...RANKED)
      .some((call) => /^torch\.(?:distributed|nn\.parallel)\./.test(file.dotted(call.func) ?? "")) ||
      (project.ranked.has(file.module) && !isStartedAlone(file))) &&
    !seesOwn(file) &&
    !isPlaced(file)
  );
}

/** Its workers see one device each. */
const RAY = /^ray(?:\.|$)/;

/** By a library that gives each rank its device; or there is none to give. */
function isPlaced(file: PythonFile): boolean {
  return (
    (file.says(/gloo/i) && !file.says(/nccl/i) && !givesIndices(file)) ||
    file.callsNamed("Accelerator").length > 0 ||
    importsFrom(file, RAY) ||
    file.says(/\baccelerate\b|deepspeed|FakeTensorMode|(?:backend\s*=|group\()\s*["']fake["']/i)
  );
}

const SETS_UP = /init|setup|distrib/i;

/** `WEIGHTS = torch.ones(10).cuda()` outside of any function of a file that works with its ranks: none has chosen yet. */
function* atImport(facts: Facts): Generator<Finding> {
  const { file } = facts;
  const moved = new Set([
    ...openedAtImport(file),
    // `WEIGHTS = make_weights()`, of a function that returns such a tensor.
    ...facts
      .callsTo("makes")
      .filter((call) => functionOf(call) === null && facts.callee(call)?.makes === "sent"),
  ]);
  if (
    moved.size === 0 ||
    file.callsNamed("set_device", "set_device_index").some((call) => functionOf(call) === null) ||
    !isRanked(facts)
  )
    return;
  // A script without functions sets its ranks up above: `device = compute_init()`, `accelerator = Accelerator()`.
  const setUp = [...file.calls.matching(SETS_UP), ...file.callsNamed("Accelerator")].filter(
    (call) => functionOf(call) === null,
  );
  for (const call of moved)
    if (
      !setUp.some((one) => one.start < call.start) &&
      !isStartedItself(call) &&
      !isConditional(call) &&
      // `torch.zeros(1).cuda()` by itself opens the device as well.
      /^(?:Assign|ExprStmt)$/.test(statementOf(call)?.kind ?? "")
    )
      yield { at: call, severity: "note", message: BEFORE_CHOICE };
}

const SETS_UP_RANKS = /^(?:init|setup|initialize)_(?:distributed|dist|ddp)(?:_\w+)?$/;

/** `net.cuda()` above `init_distributed(rank)` of another file, which is where a rank chooses; in a function or under `if __name__ …`. */
function* beforeSetUp(facts: Facts): Generator<Finding> {
  const { file } = facts;
  const setUps = file.calls.matching(SETS_UP_RANKS).filter((call) => {
    const name = file.dotted(call.func);
    const isRun = functionOf(call) !== null || isStartedItself(call);
    return isRun && name !== null && !name.startsWith(`${file.module}.`);
  });
  if (
    setUps.length === 0 ||
    seesOwn(file) ||
    importsFrom(file, RAY) ||
    file.says(/set_device|gloo|accelerat|deepspeed/i)
  )
    return;
  for (const call of file.callsNamed("cuda"))
    if (
      call.func.kind === "Attribute" &&
      file.dotted(call.func) === null &&
      call.args.length === 0 &&
      !isConditional(call) &&
      (functionOf(call) !== null || isStartedItself(call)) &&
      setUps.some((setUp) => functionOf(setUp) === functionOf(call) && call.start < setUp.start)
    )
      yield { at: call, severity: "note", message: BEFORE_CHOICE };
}

/** `net.cuda()` above `accelerator = Accelerator()`, which is where a rank chooses, or in a module of Lightning, made before it does. */
function* aboveDriver(facts: Facts): Generator<Finding> {
  const { file, project } = facts;
  const made = drivers(file).filter((call) => !isConditional(call));
  const ranked = made.length > 0 || project.ranked.has(file.module);
  if (!ranked || seesOwn(file) || importsFrom(file, RAY)) return;
  const isAbove = (call: Call): boolean => {
    const fn = functionOf(call);
    const beside = fn === null ? [] : made.filter((one) => functionOf(one) === fn);
    return beside.length > 0 && beside.every((one) => call.end < one.start);
  };
  for (const call of file.callsNamed("cuda", "to"))
    if (
      (isAbove(call) || isMadeByLightning(call, facts)) &&
      !isConditional(call) &&
      firstDevice(call, facts) &&
      !file.callsNamed("set_device").some((one) => functionOf(one) === functionOf(call))
    )
      yield { at: call, severity: "note", message: BEFORE_CHOICE };
}

/** In the constructor of a module of Lightning: what trains it moves it to the rank's device later. */
function isMadeByLightning(call: Call, facts: Facts): boolean {
  const fn = functionOf(call);
  return (
    fn?.kind === "FunctionDef" &&
    fn.name === "__init__" &&
    fn.parent?.kind === "ClassDef" &&
    facts.role(fn.parent) === "lightning"
  );
}

const BUILDS = /^(?:__init__|(?:build|make|create|get)_\w*(?:model|net|network|encoder|decoder|backbone))$/;

/** `self.table = positions(n).cuda()` in a network of a program whose ranks each build it, and none of which ever chooses a device. */
function* whereBuilt(facts: Facts): Generator<Finding> {
  const { file, project } = facts;
  if (!project.ranked.has(file.module) || project.placed.has(file.module)) return;
  for (const call of file.all("Call")) {
    const fn = functionOf(call);
    if (
      fn?.kind !== "FunctionDef" ||
      !(BUILDS.test(fn.name) || (facts.guesses && !BY_ONE.test(`${fn.name} ${file.path}`))) ||
      (fn.parent?.kind === "ClassDef" && !isModuleRole(facts.role(fn.parent))) ||
      isConditional(call) ||
      file.dotted(call.func) === "torch.device" ||
      !firstDevice(call, facts)
    )
      continue;
    yield { at: call, severity: "note", message: UNLESS };
    // One stands for all of them.
    return;
  }
}

/** `net = Net().cuda()` in a function that a program of ranks calls above its `torch.cuda.set_device(local_rank)`. */
function* calledEarly(facts: Facts): Generator<Finding> {
  const { file, project } = facts;
  const early =
    project.early.size === 0
      ? []
      : file.all("FunctionDef").filter((fn) => project.early.has(file.qualified(fn)));
  if (early.length === 0 || seesOwn(file) || importsFrom(file, RAY)) return;
  for (const call of file.all("Call")) {
    const fn = functionOf(call);
    if (fn?.kind !== "FunctionDef" || !early.includes(fn) || isConditional(call)) continue;
    const chooses = file.callsNamed("set_device", "set_device_index").some((one) => functionOf(one) === fn);
    if (chooses || file.dotted(call.func) === "torch.device" || !firstDevice(call, facts)) continue;
    yield { at: call, severity: "note", message: BEFORE_CHOICE };
  }
}

/** A branch of one rank, or of a run without ranks. */
const OF_ONE = /rank|main_process|master|distrib|ddp|world_size|ngpus|\b(?:eval|test)/i;

/** What one process does by itself, before or after the ranks are there. */
const BY_ONE = /infer|eval|valid|test|demo|sampl|predict|generat|convert|merge|export|publish|visual/i;

/**
 * `torch.load(path, map_location="cuda:0")` in a module that a program of ranks loads its weights by: whichever device a rank
 * has chosen, its copy of the file goes to the first.
 */
function* whereLoaded(facts: Facts): Generator<Finding> {
  const { file, project } = facts;
  const loads = file.callsNamed("load", "load_state_dict_from_url");
  if (loads.length === 0) return;
  const starts =
    file
      .callsNamed("init_process_group")
      .some((call) => (file.dotted(call.func) ?? "").startsWith("torch.distributed.")) ||
    (facts.guesses && file.callsNamed("DistributedDataParallel").length > 0);
  if (!starts && !project.ranked.has(file.module)) return;
  if (seesOwn(file) || importsFrom(file, RAY) || BY_ONE.test(file.path)) return;
  for (const call of loads) {
    const isLoad = /^torch\.(?:load|hub\.load_state_dict_from_url)$/.test(file.dotted(call.func) ?? "");
    const to = isLoad ? argument(call, "map_location", 1) : null;
    const fn = functionOf(call);
    if (
      to !== null &&
      isNamedZero(to, file) &&
      (fn?.kind === "FunctionDef" ? !BY_ONE.test(`${fn.name} ${classOf(call)?.name ?? ""}`) : starts) &&
      !ancestors(call).some((at) => at.kind === "If" && OF_ONE.test(file.textOf(at.test)))
    )
      yield { at: to, severity: "note", message: UNLESS };
  }
}

/** `"cuda:0"`, `torch.device("cuda:0")`, `torch.device("cuda", 0)`, also under a name or by a function. */
function isNamedZero(expr: Expr, file: PythonFile): boolean {
  if (expr.kind === "Name") {
    const value = file.scopes.onlyValue(expr);
    return value !== null && value.kind !== "Name" && isNamedZero(value, file);
  }
  if (expr.kind === "Call" && file.dotted(expr.func) === "torch.device") {
    const [device, index] = expr.args;
    return index ? isZero(index.value) : device !== undefined && isNamedZero(device.value, file);
  }
  // `lambda storage, location: storage.cuda(0)`
  if (expr.kind === "Lambda")
    return (
      expr.body.kind === "Call" &&
      lastWord(expr.body.func) === "cuda" &&
      isZero(expr.body.args[0]?.value ?? null)
    );
  return expr.kind === "Str" && expr.value === "cuda:0";
}

/** Places that mean the first device: `.cuda()`, "cuda", "cuda:0". */
function* literals(
  own: boolean,
  chooses: readonly Call[],
  facts: Facts,
  onlyNamed = false,
): Generator<Finding> {
  const { file } = facts;
  let told = false;
  for (const call of file.all("Call")) {
    const given = firstDevice(call, facts);
    // A device as the default of a parameter allocates nothing.
    const isDefault = call.parent?.kind === "Param" && file.dotted(call.func) === "torch.device";
    if (!given || (isConditional(call) && !isEitherWay(call, facts)) || isDefault) continue;
    const said = given.kind === "IfExp" ? given.body : given;
    const named = isZero(said) || (said.kind === "Str" && said.value === "cuda:0");
    if ((onlyNamed || told) && !named) continue;
    if (chooses.length > 0) {
      // Once a rank has chosen, "cuda" is its own; at import time, or above the choice, it has not.
      const early =
        functionOf(call) === null &&
        !isStartedItself(call) &&
        !chooses.some(
          (choice) =>
            functionOf(choice) === null &&
            choice.start < call.start &&
            // Under the test for several ranks, beside their setup, it is as good.
            (!isConditional(choice) || isBesideSetup(choice, file)),
        );
      const isAbove = (at: Call): boolean =>
        !chooses.some(
          (choice) =>
            functionOf(choice) === functionOf(at) && choice.start < at.start && !isConditional(choice),
        ) &&
        chooses.some(
          (choice) =>
            functionOf(choice) === functionOf(at) &&
            at.start < choice.start &&
            (!isConditional(choice) || (isBesideSetup(choice, file) && !mayHaveChosen(at, chooses, file))),
        );
      // `torch.device("cuda")` opens nothing, and means the device that is chosen by the time something is put there.
      const opens = file.dotted(call.func) !== "torch.device";
      if (named || (opens && (early || isAbove(call) || helperCalls(call, facts).some(isAbove))))
        yield { at: call, severity: "note", message: named ? UNLESS : BEFORE_CHOICE };
    } else if (
      named ||
      !own ||
      isDeviceOnly(call, facts) ||
      isBesideInit(call, file) ||
      isBelowSetUp(call, facts) ||
      file.dotted(call.func) === "torch.load"
    ) {
      yield { at: call, severity: "note", message: UNLESS };
      // One of the others stands for all of them.
      if (!named) told = true;
    }
  }
}

/** `if pretrained: net = Net(weights).cuda()`, `else: net = Net().cuda()`: whichever branch is taken. */
function isEitherWay(call: Call, facts: Facts): boolean {
  const branch = ancestors(call).find((at) => at.kind === "If");
  if (!branch || branch.orelse.length === 0 || isConditional(branch)) return false;
  const means = facts.file.callsNamed(lastWord(call.func)).filter((one) => firstDevice(one, facts) !== null);
  return [branch.body, branch.orelse].every((arm) =>
    means.some((one) => arm.some((statement) => contains(statement, one))),
  );
}

/** Where the function of this file that a call is in is called, when nothing is asked before. */
function helperCalls(call: Call, { file }: Facts): readonly Call[] {
  const fn = functionOf(call);
  if (fn?.kind !== "FunctionDef" || !/^(?:Module|ClassDef)$/.test(fn.parent?.kind ?? "")) return [];
  return callsOf(fn, file).filter((one) => !isConditional(one));
}

/** `if distributed: set_device(…); init_process_group(…)`, or the wrapping in `DistributedDataParallel`: each rank comes there. */
function isBesideSetup(choice: Call, file: PythonFile): boolean {
  const branch = ancestors(choice).find((at) => at.kind === "If");
  return (
    branch !== undefined &&
    file.callsNamed("init_process_group", "DistributedDataParallel").some((setUp) => contains(branch, setUp))
  );
}

/** Above it a device is chosen as well, or something is called that may do it: `setup(rank)`. */
function mayHaveChosen(at: Call, chooses: readonly Call[], file: PythonFile): boolean {
  const around = functionOf(at);
  const isEarlier = (one: Call): boolean => functionOf(one) === around && one.start < at.start;
  return (
    chooses.some(isEarlier) ||
    file.calls
      .matching(SETS_UP)
      .some((one) => isEarlier(one) && !(file.dotted(one.func) ?? "").startsWith("torch."))
  );
}

/** The device a call allocates on or names, when that is the first one for every process. */
function firstDevice(call: Call, facts: Facts): Expr | null {
  const isFirst = (expr: Expr | null): boolean => {
    if (expr?.kind === "Name") {
      const value = facts.file.scopes.onlyValue(expr);
      return value?.kind === "Str" && isFirst(value);
    }
    // `"cuda:0" if torch.cuda.is_available() else "cpu"`
    if (expr?.kind === "IfExp" && facts.file.textOf(expr.test).endsWith("is_available()"))
      return isFirst(expr.body);
    return expr?.kind === "Str" && (expr.value === "cuda" || expr.value === "cuda:0");
  };
  // `ZERO = make_zero()` at import, of a function that returns what it sends.
  if (functionOf(call) === null && facts.callee(call)?.makes === "sent") return call.func;
  const name = facts.file.dotted(call.func);
  const first = call.args[0]?.value ?? null;
  // At import it opens the first device in every process, and what is made before a rank chooses stays there.
  if (name === "torch.set_default_tensor_type")
    return first !== null &&
      functionOf(call) === null &&
      /torch\.cuda\./.test(first.kind === "Str" ? (first.value ?? "") : (facts.file.dotted(first) ?? ""))
      ? first
      : null;
  if (name === "torch.device") {
    const index = call.args[1]?.value;
    return isFirst(first) && (!index || isZero(index)) ? (index ?? first) : null;
  }
  if (/^torch\.cuda\.set_device$/.test(name ?? "")) return isZero(first) ? first : null;
  const device = keyword(call, name === "torch.load" ? "map_location" : "device");
  // Said by number, or where a file is loaded: one rank alone may be meant, except where the ranks are set up.
  const shared = (): boolean => setsUpRanks(functionOf(call) ?? facts.file.tree.module, facts.file);
  if (name === "torch.load" && !shared()) return null;
  if (name?.startsWith("torch.") === true) return device && isFirst(device.value) ? device.value : null;
  // `noise((4, 64), device="cuda")`, a function of this file that makes something there.
  const handed = call.args.find((arg) => isFirst(arg.value) && isAllocatedOn(call, arg, facts.file));
  if (handed) return handed.value;
  if (name !== null) return null;
  if (call.func.kind !== "Attribute") return null;
  if (call.func.attr === "cuda")
    return call.args.length === 0
      ? call.func.value
      : isZero(first) && isShared(call, shared, facts)
        ? first
        : null;
  if (call.func.attr !== "to") return null;
  const to = device?.value ?? first;
  return isFirst(to) || (isZero(to) && isShared(call, shared, facts)) ? to : null;
}

function setsUpRanks(node: Node, file: PythonFile): boolean {
  return /init_process_group|DistributedDataParallel\(|DDP\(/.test(file.textOf(node));
}

/** In what sets up the ranks, or in a function that is called below a set-up: `ddp_setup()`, then `model = build(config)`. */
function isShared(call: Call, here: () => boolean, facts: Facts): boolean {
  if (here()) return true;
  const { file } = facts;
  return helperCalls(call, facts).some((one) => {
    const caller = functionOf(one);
    return (
      caller !== null &&
      (setsUpRanks(caller, file) ||
        file.callsNamed("init_process_group").some((init) => {
          const setUp = functionOf(init);
          return (
            setUp?.kind === "FunctionDef" &&
            file
              .callsNamed(setUp.name)
              .some((made) => functionOf(made) === caller && made.start < one.start && !isConditional(made))
          );
        }))
    );
  });
}

function isZero(expr: Expr | null): boolean {
  return expr?.kind === "Num" && expr.text === "0";
}

/** `device = torch.device("cuda")`, and no rank ever chooses one. */
function isDeviceOnly(call: Call, facts: Facts): boolean {
  return facts.file.dotted(call.func) === "torch.device" && statementOf(call)?.kind === "Assign";
}

/** `net.cuda()` below `init_process_group("nccl")`: whatever is done with the rank's own device, this is not on it. */
function isBesideInit(call: Call, file: PythonFile): boolean {
  return (
    call.func.kind === "Attribute" &&
    call.func.attr === "cuda" &&
    file
      .callsNamed("init_process_group")
      .some((init) => functionOf(init) === functionOf(call) && init.start < call.start)
  );
}

/**
 * What is made below `setup(rank, size)` of this file, which starts the ranks and chooses none: whatever is put on the
 * rank's own device by its number, this is on the first. One that another file sets up may have chosen there, and what is moved may be moved again.
 */
function isBelowSetUp(call: Call, facts: Facts): boolean {
  const { file } = facts;
  const around = functionOf(call);
  const name = file.dotted(call.func);
  if (around === null || name === "torch.device" || name === "torch.load") return false;
  if (/^(?:to|cuda)$/.test(lastWord(call.func)) || file.mentions("cuda.device(")) return false;
  const isEarlier = (one: Call): boolean => functionOf(one) === around && one.start < call.start;
  return (
    file
      .callsNamed("init_process_group")
      .some((init) => !keyword(init, "device_id") && [init, ...helperCalls(init, facts)].some(isEarlier)) &&
    !file.calls.matching(SETS_UP).some((one) => {
      const from = file.dotted(one.func) ?? "";
      return isEarlier(one) && !/^(?:torch|builtins)\./.test(from) && !from.startsWith(`${file.module}.`);
    })
  );
}

function isConditional(node: Node): boolean {
  for (const at of ancestors(node)) {
    if (at.kind === "IfExp") return true;
    if (at.kind === "If" && !isMain(at)) return true;
    if (at.kind === "FunctionDef") return false;
  }
  return false;
}

function isStartedItself(node: Node): boolean {
  for (const at of ancestors(node)) if (at.kind === "If" && isMain(at)) return true;
  return false;
}
