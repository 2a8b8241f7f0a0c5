import { keyword, positional } from "../../python/file.ts";
import type { PythonFile } from "../../python/file.ts";
import { contains, functionOf, lastWord } from "../../python/nodes.ts";
import type { Definition } from "../../python/scopes.ts";
import type { Call, Expr, FunctionDef } from "../../python/tree.ts";

/** Whether `.to(…)` or `.cuda(…)` says, or may say, that the host need not wait. */
export function mayOverlap(call: Call): boolean {
  const flag = overlapFlag(call);
  return flag !== null && !(flag.kind === "Const" && flag.value === false);
}

/** What stands for `non_blocking`. */
export function overlapFlag(call: Call): Expr | null {
  const at = call.func.kind === "Attribute" && call.func.attr === "to" ? 2 : 1;
  return keyword(call, "non_blocking")?.value ?? positional(call, at);
}

/** `pack_padded_sequence(x, lengths.cpu())` with lengths it was handed: whoever sent them to the device waits here for all of the batch. */
export function packsByFetched(file: PythonFile): boolean {
  return file.callsNamed("pack_padded_sequence").some((call) => {
    const lengths = keyword(call, "lengths")?.value ?? positional(call, 1);
    return (
      lengths?.kind === "Call" &&
      lengths.func.kind === "Attribute" &&
      /^(?:cpu|tolist|to)$/.test(lengths.func.attr) &&
      lengths.func.value.kind === "Name" &&
      file.scopes.reaching(lengths.func.value).some(({ how }) => how === "param")
    );
  });
}

/** What people call a function that sends a batch, whatever it is made of, to the device: `to_device(batch, device)`. */
export const SENDS =
  /(?:^|_)(?:to|for|on)_(?:device|cuda|gpu)$|^_?(?:move|send|put)_(?:\w+_)?(?:to|on)_\w*(?:device|cuda|gpu)\w*$/i;

/** `samples = prepare_sample(samples, cuda_enabled=…)`: made ready for the network under its own name. */
const PREPARES = /^_?prepare_(?:samples?|batch|inputs?)$/;

/** Whether a call sends the first of its arguments to the device, and hands it back or changes it in place. */
export function sendsBatch({ func, args, parent }: Call, file: PythonFile): boolean {
  const name = lastWord(func);
  const [first] = args;
  if (!first) return false;
  if (PREPARES.test(name)) {
    // `x, y = prepare_batch(batch, device)`
    if (args.slice(1).some(({ value }) => /(?:^|\.)device$/.test(file.textOf(value)))) return true;
    const [target] = parent?.kind === "Assign" ? parent.targets : [];
    return target?.kind === "Name" && first.value.kind === "Name" && target.id === first.value.id;
  }
  // `x, y = to_torch((x, y), device)`
  if (/^to_(?:torch|tensors?)$/.test(name))
    return args.slice(1).some(({ value }) => /(?:^|\.)device$/.test(file.textOf(value)));
  return SENDS.test(name) && !args.some(({ value }) => /cpu|model|net\b/i.test(file.textOf(value)));
}

/** Definitions whose value, or a part of it, is read by `.numpy()` as it is: they are on the host. */
export function readByNumpy(file: PythonFile): ReadonlySet<Definition> {
  const found = new Set<Definition>();
  for (const call of file.callsNamed("numpy")) {
    let at: Expr | null = call.func.kind === "Attribute" && call.args.length === 0 ? call.func.value : null;
    while (at && at.kind !== "Name")
      if (at.kind === "Subscript" || (at.kind === "Attribute" && at.attr === "data")) at = at.value;
      else if (
        at.kind === "Call" &&
        at.func.kind === "Attribute" &&
        /^(?:detach|squeeze|mean)$/.test(at.func.attr)
      )
        at = at.func.value;
      else at = null;
    const [one, ...more] = at ? file.scopes.reaching(at) : [];
    if (one && more.length === 0) found.add(one);
  }
  return found;
}

/** Functions that send one of their parameters, or its parts, to a device and wait for it. */
export function waitingCopies(file: PythonFile): ReadonlyMap<FunctionDef, ReadonlySet<string>> {
  const found = new Map<FunctionDef, Set<string>>();
  for (const call of file.callsNamed("to", "cuda")) {
    const fn = functionOf(call);
    // What runs a network is given what has been moved.
    if (fn?.kind !== "FunctionDef" || fn.name === "forward" || fn.params.length === 0) continue;
    if (call.func.kind !== "Attribute" || mayOverlap(call) || !namesDevice(call, file)) continue;
    const param = paramBehind(call.func.value, fn, file);
    if (param === null) continue;
    const params = found.get(fn);
    if (params) params.add(param);
    else found.set(fn, new Set([param]));
  }
  return found;
}

function namesDevice(call: Call, file: PythonFile): boolean {
  if (call.func.kind === "Attribute" && call.func.attr === "cuda") return true;
  const device = keyword(call, "device")?.value ?? positional(call, 0);
  return device !== null && /device|cuda|gpu|\bdev\b/i.test(file.textOf(device).slice(0, 60));
}

/** The parameter that a moved expression is, or is a part of. */
export function paramBehind(expr: Expr, fn: FunctionDef, file: PythonFile, depth = 0): string | null {
  if (depth > 4) return null;
  if (expr.kind === "Subscript" || expr.kind === "Attribute")
    return paramBehind(expr.value, fn, file, depth + 1);
  const same = expr.kind === "Call" ? sameOf(expr, file) : null;
  if (same) return paramBehind(same, fn, file, depth + 1);
  if (expr.kind !== "Name") return null;
  let only: string | null = null;
  for (const one of file.scopes.reaching(expr)) {
    const param = paramOf(one, fn, file, depth);
    if (param === null || (only !== null && param !== only)) return null;
    only = param;
  }
  return only;
}

function paramOf(
  { how, name, node, value }: Definition,
  fn: FunctionDef,
  file: PythonFile,
  depth: number,
): string | null {
  if (how === "param") return contains(fn, node) ? name : null;
  const isPart = how === "iterate" || how === "unpack" || how === "assign";
  return isPart && value ? paramBehind(underItems(value), fn, file, depth + 1) : null;
}

/** `data` of `torch.from_numpy(data)`, `data.detach()` and `data.contiguous()`: the same bytes. */
function sameOf(call: Call, file: PythonFile): Expr | null {
  const { func, args } = call;
  if (/^torch\.(?:from_numpy|as_tensor)$/.test(file.dotted(func) ?? ""))
    return args.length === 1 ? positional(call, 0) : null;
  return func.kind === "Attribute" && /^(?:detach|contiguous)$/.test(func.attr) && args.length === 0
    ? func.value
    : null;
}

/** `batch` of `batch.items()`. */
function underItems(expr: Expr): Expr {
  return expr.kind === "Call" && expr.func.kind === "Attribute" && /^(?:items|values)$/.test(expr.func.attr)
    ? expr.func.value
    : expr;
}
