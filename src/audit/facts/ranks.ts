import { importsFrom } from "../../python/file.ts";
import type { PythonFile } from "../../python/file.ts";
import { ancestors, contains, functionOf } from "../../python/nodes.ts";
import type { Call } from "../../python/tree.ts";

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
