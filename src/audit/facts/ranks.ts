import { importsFrom, keyword } from "../../python/file.ts";
import type { PythonFile } from "../../python/file.ts";
import { ancestors, contains, functionOf, statementOf } from "../../python/nodes.ts";
import type { Arg, Call, Expr, FunctionDef } from "../../python/tree.ts";
import { callsOf, paramGiven } from "./returns.ts";

/** One process a device: by torch itself, by accelerate, or by Lightning. */
export function setsUpRanks(file: PythonFile): boolean {
  return (
    file
      .callsNamed("init_process_group", "DistributedDataParallel")
      .some((call) => (file.dotted(call.func) ?? "").startsWith("torch.")) ||
    file.callsNamed("Accelerator").some((call) => file.dotted(call.func) === "accelerate.Accelerator") ||
    file.calls
      .given(["strategy"])
      .some((call) =>
        /^(?:pytorch_)?lightning\.(?:\w+\.)*(?:Trainer|Fabric)$|^hydra\.utils\.instantiate$/.test(
          file.dotted(call.func) ?? "",
        ),
      )
  );
}

/** `torch.cuda.set_device(rank)`, `with torch.cuda.device(rank):`, or what does so for its users. */
export function choosesDevice(file: PythonFile): boolean {
  return (
    file.callsNamed("set_device", "set_device_index", "set_default_device").length > 0 ||
    importsFrom(file, /^(?:accelerate|deepspeed|(?:pytorch_)?lightning|ray|horovod)(?:\.|$)/) ||
    file.mentions("CUDA_VISIBLE_DEVICES") ||
    file.mentions("cuda.device(")
  );
}

/** What may choose the device itself: `setup(rank)`, `init_distributed()`. */
const SETS_UP = /init|setup|distrib|launch/i;

/**
 * Functions of other files that a rank calls before it chooses its device: `net = load_net(config)` above
 * `torch.cuda.set_device(local_rank)`.
 */
export function calledBeforeChoice(file: PythonFile): readonly string[] | undefined {
  const choices = file
    .callsNamed("set_device", "set_device_index")
    .filter((call) => /^torch\.(?:cuda|xpu|npu|accelerator)\./.test(file.dotted(call.func) ?? ""));
  if (choices.length === 0 || file.mentions("CUDA_VISIBLE_DEVICES") || !file.says(/LOCAL_RANK|local_rank/))
    return undefined;
  const found = new Set<string>();
  for (const call of file.all("Call")) {
    const around = functionOf(call);
    const name = file.dotted(call.func);
    if (around === null || name === null || /^(?:torch|builtins)\./.test(name)) continue;
    if (name.startsWith(`${file.module}.`) || isAsked(call)) continue;
    const isEarlier = (one: Call): boolean => functionOf(one) === around && one.end < call.start;
    const isLater = (one: Call): boolean => functionOf(one) === around && one.start > call.end;
    if (!choices.some(isLater) || choices.some(isEarlier)) continue;
    // One that sets the ranks up may have chosen.
    if (!file.calls.matching(SETS_UP).some(isEarlier)) found.add(name);
  }
  return found.size > 0 ? [...found] : undefined;
}

/** In a branch: of one rank, or of a run without ranks. */
function isAsked(call: Call): boolean {
  return ancestors(call).some(
    (at) =>
      (at.kind === "If" && !contains(at.test, call) && functionOf(at) === functionOf(call)) ||
      at.kind === "IfExp",
  );
}

/** `DistributedDataParallel(net, device_ids=[rank])`: its ranks have devices, whatever they talk through. */
export function givesIndices(file: PythonFile): boolean {
  return file.callsNamed("DistributedDataParallel").some((call) => {
    const ids = keyword(call, "device_ids")?.value;
    return ids?.kind === "List" && ids.items.length > 0;
  });
}

const VISIBLE = "CUDA_VISIBLE_DEVICES";

/** What sets it, for this process or for one that is started, or may: `env["CUDA_VISIBLE_DEVICES"] = gpu`, `dict(env, CUDA_VISIBLE_DEVICES=gpu)`. */
const SETS_VISIBLE =
  /CUDA_VISIBLE_DEVICES["']?\]?\s*(?:=(?!=)|:)|(?:setdefault|putenv|setenv|update|pop|=)\s*\(?\s*["']CUDA_VISIBLE_DEVICES/;

/** `len(os.environ["CUDA_VISIBLE_DEVICES"].split(","))` processes, and nobody sets it: each of them sees them all. */
export function isOnlyCounted(file: PythonFile): boolean {
  if (SETS_VISIBLE.test(file.code)) return false;
  return file.callsNamed("split").some((call) => {
    if (call.func.kind !== "Attribute") return false;
    const { value } = call.func;
    const read = value.kind === "Name" ? file.scopes.onlyValue(value) : value;
    return read !== null && file.textOf(read).includes(VISIBLE) && isCounted(call, file);
  });
}

/** `len(gpus)`, also where it has got a name first. */
function isCounted(expr: Expr, file: PythonFile): boolean {
  const { parent } = expr;
  if (parent?.kind === "Arg")
    return parent.parent?.kind === "Call" && file.dotted(parent.parent.func) === "builtins.len";
  const [target] = parent?.kind === "Assign" && expr.kind === "Call" ? parent.targets : [];
  const made = target?.kind === "Name" ? file.scopes.definitionAt(target) : null;
  return made !== null && file.scopes.uses(made).some((use) => isCounted(use, file));
}

/** Whether a function of this file makes something on the device that it is handed: `torch.randn(shape, device=device)`. */
export function isAllocatedOn(call: Call, arg: Arg, file: PythonFile): boolean {
  const param = paramGiven(call, arg, file);
  const made = param ? file.scopes.definitionAt(param) : null;
  return (
    made !== null &&
    file.scopes.uses(made).some(({ parent }) => {
      if (parent?.kind !== "Arg" || parent.name !== "device" || parent.parent?.kind !== "Call") return false;
      return (file.dotted(parent.parent.func) ?? "").startsWith("torch.");
    })
  );
}

/** Where a device may be said by number. */
const DEVICE_KEYWORDS = ["device", "device_id", "device_ids", "device_map"] as const;

/**
 * Whether a rank may be given a device of its own, by whatever name: `net.to(self.gpu)`, `device_ids=[gpu]`, a function of another
 * file that sets it up. Where it is not, the rank is read to print it, or to choose who saves.
 */
export function mayGiveOwn(file: PythonFile): boolean {
  if (file.mentions("cuda.device(")) return true;
  const isSaid = (value: Expr | null): boolean => value !== null && !isWritten(value, file);
  return (
    file.callsNamed("cuda", "to", "device").some(({ args, func }) => {
      const isDevice = func.kind === "Attribute" || file.dotted(func) === "torch.device";
      return isDevice && args.some(({ value, name }) => name !== "non_blocking" && isSaid(value));
    }) ||
    file.calls
      .given(DEVICE_KEYWORDS)
      .some((call) => DEVICE_KEYWORDS.some((name) => isSaid(keyword(call, name)?.value ?? null))) ||
    file.calls.matching(SETS_UP).some((call) => {
      const name = file.dotted(call.func);
      return name !== null && !name.startsWith(`${file.module}.`) && !/^(?:torch|builtins)\./.test(name);
    })
  );
}

/** "cuda", a type, a flag: no number of a rank, unlike `f"cuda:{rank}"`. Also by a name that is always that. */
function isWritten(expr: Expr, file: PythonFile): boolean {
  if (expr.kind === "Name") {
    const value = file.scopes.onlyValue(expr);
    return value !== null && value.kind !== "Name" && isWritten(value, file);
  }
  if (expr.kind === "IfExp") return isWritten(expr.body, file) && isWritten(expr.orelse, file);
  if (expr.kind === "Call")
    return (
      file.dotted(expr.func) === "torch.device" && expr.args.every(({ value }) => isWritten(value, file))
    );
  return (
    (expr.kind === "Str" && expr.value !== null) ||
    expr.kind === "Const" ||
    (expr.kind === "Attribute" && (file.dotted(expr) ?? "").startsWith("torch."))
  );
}

const SEVERAL = /ddp|fsdp|deepspeed|parallel/i;

/** What makes of a program one of many ranks, and chooses the device of each when it is made, or begins: accelerate's, Lightning's, and the arguments of a Trainer. */
export function drivers(file: PythonFile): readonly Call[] {
  return [
    ...file
      .callsNamed("TrainingArguments", "Seq2SeqTrainingArguments")
      .filter(
        (call) =>
          (file.dotted(call.func) ?? "").startsWith("transformers.") &&
          file.says(/["']LOCAL_RANK["']|ddp_find_unused_parameters|--local_rank/),
      ),
    ...file.callsNamed("Accelerator").filter((call) => file.dotted(call.func) === "accelerate.Accelerator"),
    ...file
      .callsNamed("Trainer", "Fabric")
      .filter(
        (call) =>
          /^(?:pytorch_)?lightning\.(?:\w+\.)*(?:Trainer|Fabric)$/.test(file.dotted(call.func) ?? "") &&
          isOfSeveral(call, file),
      ),
  ];
}

/** `Trainer(strategy="ddp", devices=4)` */
function isOfSeveral(call: Call, file: PythonFile): boolean {
  const strategy = keyword(call, "strategy")?.value;
  const devices = (keyword(call, "devices") ?? keyword(call, "gpus"))?.value;
  if (devices?.kind === "Num") return Number(devices.text) > 1;
  return (strategy !== undefined && SEVERAL.test(file.textOf(strategy))) || devices?.kind === "Unary";
}

/**
 * What opens the first device while a file is imported: `torch.ones(10).cuda()` outside of any function, or the call there of one of
 * this file that does it each time, `KERNEL = make_kernel()`.
 */
export function openedAtImport(file: PythonFile): readonly Call[] {
  const opens = [
    ...file.callsNamed("cuda").filter((call) => call.args.length === 0),
    // `torch.hann_window(1024, device="cuda")`
    ...file.calls.given(["device"]).filter((call) => {
      const isTorch = (file.dotted(call.func) ?? "").startsWith("torch.");
      return isTorch && isFirst(keyword(call, "device")!.value, file);
    }),
    // `kernel.to(device)`, which is "cuda" for all.
    ...file.callsNamed("to").filter(({ args: [first], func }) => {
      const isMethod = func.kind === "Attribute" && file.dotted(func) === null;
      return isMethod && first?.star === 0 && first.name === null && isFirst(first.value, file);
    }),
  ];
  const makers = new Set<FunctionDef>();
  const found = opens.filter((call) => {
    const fn = functionOf(call);
    const isPlain = fn?.kind === "FunctionDef" && fn.parent?.kind === "Module" && fn.decorators.length === 0;
    if (isPlain && fn.body.includes(statementOf(call) as never)) makers.add(fn);
    return fn === null;
  });
  const made = [...makers].flatMap((fn) => callsOf(fn, file).filter((call) => functionOf(call) === null));
  return [...found, ...made];
}

/** "cuda", or what it was called: the first device until another is chosen. */
function isFirst(device: Expr, file: PythonFile, depth = 0): boolean {
  if (device.kind === "Str") return device.value === "cuda" || device.value === "cuda:0";
  if (depth > 3) return false;
  if (device.kind === "IfExp") return isFirst(device.body, file, depth + 1);
  if (device.kind === "Call")
    return (
      file.dotted(device.func) === "torch.device" &&
      device.args.length === 1 &&
      isFirst(device.args[0]!.value, file, depth + 1)
    );
  const made = device.kind === "Name" ? file.scopes.onlyValue(device) : null;
  return made !== null && isFirst(made, file, depth + 1);
}
