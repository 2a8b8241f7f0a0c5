import { keyword } from "../../python/file.ts";
import type { PythonFile } from "../../python/file.ts";
import type { Call, Expr } from "../../python/tree.ts";

/** What says that a program runs on one, or leaves it to a library that does. */
const ACCELERATORS =
  /\.cuda\(|cuda\.amp|\.cpu\(|to_device|["']cuda|device_map|accelerat|Trainer(?:\((?<=(?<!\w)(?:SFT|DPO|PPO|KTO|ORPO|GRPO|Reward|Seq2Seq)?Trainer\()|[,)](?<=\(\w*Trainer.))|deepspeed|fabric|lightning|local_rank/gi;

const OPTIMIZERS = /^(?:Adam\w*|SGD|RMSprop|Adagrad|LBFGS)$/;

/** Sends something to a device that may be one, or says so outright. */
export function usesAccelerator(file: PythonFile): boolean {
  const trains = file.callsNamed("backward").length > 0;
  const mayBe = (device: Expr): boolean => {
    const one = device.kind === "Name" ? (file.scopes.onlyValue(device) ?? device) : device;
    const named =
      one.kind === "Call" && file.dotted(one.func) === "torch.device" ? (one.args[0]?.value ?? one) : one;
    if (named.kind === "Str" && named.value === "cpu") return false;
    // A program that sends nothing but to where something else is stays where it began.
    return !(
      trains &&
      named.kind === "Attribute" &&
      named.attr === "device" &&
      named.value.kind === "Name" &&
      !/^(?:self|cls)$|arg|opt|cfg|conf|param|flag|fabric|accel|trainer/i.test(named.value.id)
    );
  };
  if (file.callsNamed("to").some((call) => !isCast(call, file) && mayBe(call.args[0]?.value ?? call)))
    return true;
  if (file.calls.given(["device"]).some((call) => mayBe(keyword(call, "device")!.value))) return true;
  // Whoever makes the optimizer and differentiates would have sent the network there: that something is asked back is habit.
  const makesOptimizer = trains && file.calls.matching(OPTIMIZERS).length > 0;
  for (const { 0: said, index } of file.text.matchAll(ACCELERATORS))
    // "Uncomment this to run on GPU".
    if (
      !(makesOptimizer && said === ".cpu(") &&
      !file.tree.comments.some(({ start, end }) => start <= index && index < end)
    )
      return true;
  return false;
}

/** `x.to(torch.float32)` stays where it is. */
function isCast({ args }: Call, file: PythonFile): boolean {
  return (
    args.length > 0 &&
    args.every(
      ({ name, value }) =>
        name === "dtype" ||
        /^torch\.(?:float|double|half|bfloat16|u?int|short|long|bool|complex)\d*$/.test(
          file.dotted(value) ?? "",
        ),
    )
  );
}
