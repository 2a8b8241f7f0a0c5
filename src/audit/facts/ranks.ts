import { importsFrom } from "../../python/file.ts";
import type { PythonFile } from "../../python/file.ts";

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
