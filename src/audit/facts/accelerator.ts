import { keyword, positional } from "../../python/file.ts";
import type { PythonFile } from "../../python/file.ts";
import { classOf, functionOf } from "../../python/nodes.ts";
import type { Call, Expr, Name, Node } from "../../python/tree.ts";
import { attributesOf, selfAttribute } from "./classes.ts";
import { parametersOf } from "./optimised.ts";
import { loopsAround } from "./training.ts";

/** What says that a program runs on one, or leaves it to a library that does. */
const ACCELERATORS =
  /\.cuda\(|cuda\.amp|\.cpu\(|to_device|["']cuda|device_map|accelerat|Trainer(?:\((?<=(?<!\w)(?:SFT|DPO|PPO|KTO|ORPO|GRPO|Reward|Seq2Seq)?Trainer\()|[,)](?<=\(\w*Trainer.))|deepspeed|fabric|lightning|local_rank/gi;

const OPTIMIZERS = /^(?:Adam\w*|SGD|RMSprop|Adagrad|LBFGS)$/;

/** A file "uses" one that it sends something to, or names; sends only to what it is "handed"; or only "speaks" of devices. */
export type Accelerator = "uses" | "handed" | "speaks";

export function acceleratorOf(file: PythonFile): Accelerator | undefined {
  const trains = file.callsNamed("backward").length > 0;
  let handed = false;
  const mayBe = (device: Expr): boolean => {
    const one = device.kind === "Name" ? (file.scopes.onlyValue(device) ?? device) : device;
    const named =
      one.kind === "Call" && file.dotted(one.func) === "torch.device" ? (one.args[0]?.value ?? one) : one;
    if (named.kind === "Str" && named.value === "cpu") return false;
    // A program that sends nothing but to where something else is stays where it began.
    const follows = isPlaceOfTensor(named, file);
    if (!follows && !isHanded(named, file)) return true;
    handed ||= !(follows && trains);
    return false;
  };
  // One that may be one says it all.
  if (
    file.callsNamed("to").some((call) => !isCast(call, file) && mayBe(call.args[0]?.value ?? call)) ||
    file.calls.given(["device"]).some((call) => mayBe(keyword(call, "device")!.value))
  )
    return "uses";
  const named = namedIn(file, trains);
  if (named === "uses") return named;
  if (named || (handed && !choosesHost(file))) return "handed";
  return /device|gpu/i.test(file.text) ? "speaks" : undefined;
}

/** `torch.device("cpu")`, which it hands to its own functions, and no other. */
function choosesHost(file: PythonFile): boolean {
  const chosen = file.callsNamed("device").filter(({ func }) => file.dotted(func) === "torch.device");
  return (
    chosen.length > 0 &&
    chosen.every(({ args: [first] }) => first?.value.kind === "Str" && first.value.value === "cpu")
  );
}

/** `x.device`, but not `args.device`. */
function isPlaceOfTensor(device: Expr, file: PythonFile): boolean {
  return (
    device.kind === "Attribute" &&
    device.attr === "device" &&
    !/^(?:self|cls)$|arg|opt|cfg|conf|param|flag|fabric|accel|trainer/i.test(file.textOf(device.value))
  );
}

/** By what the code says. What is only asked back, `x.cpu()`, was somewhere for whoever handed it in. */
function namedIn(file: PythonFile, trains: boolean): "uses" | "handed" | null {
  // Whoever makes the optimizer and differentiates would have sent the network there: that something is asked back is habit.
  const makesOptimizer = trains && file.calls.matching(OPTIMIZERS).length > 0;
  let asksBack = false;
  for (const [said] of file.bare.matchAll(ACCELERATORS)) {
    if (said !== ".cpu(") return "uses";
    asksBack ||= !makesOptimizer;
  }
  return asksBack ? "handed" : null;
}

/** `def loss(x, device)`, `self.device` of a constructor that is given it. */
function isHanded(device: Expr, file: PythonFile): boolean {
  const isParam = (expr: Expr | null): boolean => {
    const [one, ...more] = expr?.kind === "Name" ? file.scopes.reaching(expr) : [];
    return one?.node.kind === "Param" && !one.node.default && more.length === 0;
  };
  const own = selfAttribute(device);
  const cls = own === null ? null : classOf(device);
  const writes = cls ? (attributesOf(cls, file).get(own!)?.writes ?? []) : [];
  return isParam(device) || (writes.length > 0 && writes.every(({ value }) => isParam(value)));
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
    if (sends && (maker === "torch.load" || mayMove(network, file) || gathers(made as Call, network, file)))
      return undefined;
    makers.push(maker);
  }
  return makers.length > 0 ? makers : undefined;
}

/** `trained = nn.ModuleList([net])`, `trained.append(net)`: each of those in it is where it was sent itself. */
function gathers(made: Call, network: Name, file: PythonFile): boolean {
  if (!/^torch\.nn\.(?:ModuleList|ModuleDict|Sequential)$/.test(file.dotted(made.func) ?? "")) return false;
  const isOther = (value: Expr): boolean =>
    value.kind === "List" || value.kind === "Tuple"
      ? value.items.some(isOther)
      : value.kind === "Dict"
        ? value.values.some(isOther)
        : value.kind === "Name" || value.kind === "Attribute";
  return (
    made.args.some(({ star, value }) => star === 0 && isOther(value)) ||
    file.scopes
      .reaching(network)
      .flatMap((definition) => file.scopes.uses(definition))
      .some(
        ({ parent }) =>
          parent?.kind === "Attribute" &&
          /^(?:append|extend|insert|update|add_module)$/.test(parent.attr) &&
          parent.parent?.kind === "Call" &&
          parent.parent.args.some(({ value }) => isOther(value)),
      )
  );
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

/** `net = Net(10)` of a class of this file that nothing here sends anywhere, whatever happens to the file's other networks. */
export function isLeftOnHost(network: Name, file: PythonFile): boolean {
  const made = file.scopes.onlyValue(network);
  const makers = made?.kind === "Call" && made.func.kind === "Name" ? file.scopes.reaching(made.func) : [];
  return (
    makers.length > 0 &&
    makers.every(({ node }) => node.kind === "ClassDef" && !SENDS.test(file.textOf(node))) &&
    file.callsNamed("set_default_device", "set_default_tensor_type").length === 0 &&
    !mayMove(network, file)
  );
}

const SENDS = /\.to\(|\.cuda\(|device/;

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

/** `torch.set_default_tensor_type("torch.cuda.FloatTensor")`, `torch.set_default_device(device)` */
export function defaultsToDevice(file: PythonFile): boolean {
  return file
    .callsNamed("set_default_tensor_type", "set_default_device")
    .some(({ args: [given] }) => given !== undefined && /cuda|device$/.test(file.textOf(given.value)));
}
