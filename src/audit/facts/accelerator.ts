import { keyword, positional } from "../../python/file.ts";
import type { PythonFile } from "../../python/file.ts";
import { functionOf } from "../../python/nodes.ts";
import type { Call, Expr, Name, Node } from "../../python/tree.ts";
import { parametersOf } from "./optimised.ts";
import { loopsAround } from "./training.ts";

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

/** What made the networks that a file trains, where they stay where they were made: on the host, whatever else its program does. */
export function makersOfTrained(file: PythonFile, sends: boolean): readonly string[] | undefined {
  if (file.callsNamed("backward").length === 0) return undefined;
  const makers: string[] = [];
  for (const optimizer of file.calls.matching(OPTIMIZERS)) {
    const network = parametersOf(positional(optimizer, 0), file);
    if (network?.kind !== "Name") return undefined;
    const made = file.scopes.onlyValue(network);
    const maker = made?.kind === "Call" ? file.dotted(made.func) : null;
    // `DataParallel(net.cuda())` is where its network is.
    if (maker === null || maker.includes("Parallel")) return undefined;
    if (sends && (maker === "torch.load" || mayMove(network, file))) return undefined;
    makers.push(maker);
  }
  return makers.length > 0 ? makers : undefined;
}

/** `net.to(device)`, and `prepare(net)` before the training begins, which may do so. */
function mayMove(network: Name, file: PythonFile): boolean {
  const fn = functionOf(network);
  const begins = file
    .callsNamed("backward")
    .filter((call) => functionOf(call) === fn)
    .map((call) => loopsAround(call).at(-1)?.start ?? call.start);
  return file.scopes
    .reaching(network)
    .flatMap((definition) => file.scopes.uses(definition))
    .some((use) => {
      let whole: Node = use;
      while (whole.parent?.kind === "Attribute") whole = whole.parent;
      return whole.kind === "Attribute"
        ? /^(?:to|cuda)$/.test(whole.attr)
        : use.start < Math.min(...begins) && (use.parent?.kind !== "Call" || use.parent.func !== use);
    });
}

/** Networks made here may be on a device from the beginning: `self.to(device)` in a constructor. */
export function makesOnDevice(file: PythonFile): boolean {
  return [...file.callsNamed("to"), ...file.callsNamed("cuda"), ...file.calls.given(["device"])].some(
    (call) =>
      isConstructor(functionOf(call)) ||
      (call.func.kind === "Attribute" && call.func.value.kind === "Name" && call.func.value.id === "self"),
  );
}

const isConstructor = (fn: Node | null): boolean => fn?.kind === "FunctionDef" && fn.name === "__init__";

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
