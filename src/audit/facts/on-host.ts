import { keyword, positional } from "../../python/file.ts";
import type { PythonFile } from "../../python/file.ts";
import { ancestors, classOf, statementOf } from "../../python/nodes.ts";
import type { Expr, Node } from "../../python/tree.ts";
import { entry, literalDict } from "./arguments.ts";
import { defaultOf, optionBehind } from "./behind-options.ts";
import { attributesOf, selfAttribute } from "./classes.ts";
import type { Facts } from "./facts.ts";

/** Why what a file does to a device does not happen as it is shipped; null where nothing says so. */
export function whyOnHost(facts: Facts): string | null {
  return facts.once(onHost);
}

/** What a file says that sends something to a device, or leaves that to a library. */
const SPEAKS = /device|cuda|gpu|accelerat|fabric|lightning|Trainer|rank|\.to\(|prepare|deepspeed/i;

/** Why nobody can tell that what is found costs anything, where it costs only on a device. */
export function whyUntold(
  needs: "file" | "program" | undefined,
  { file, accelerator }: Facts,
): string | null {
  if (needs === "file" && !file.once(speaksOfDevices))
    return "if it is on a device: this file speaks of none";
  return needs === "program" && !accelerator ? "on the CPU, as nothing here is sent to a device" : null;
}

/** Not in a comment alone. */
const speaksOfDevices = (file: PythonFile): boolean => SPEAKS.test(file.code);

/** What hands the choice of a device to somebody else. */
const CHOSEN_ELSEWHERE = /device_map|accelerat|Trainer\(|deepspeed|fabric|lightning|local_rank/i;

/** Nothing in a file leaves the CPU without an option: "args.cuda", or "args.device" that is "cpu" by default. */
function onHost({ file, project }: Facts): string | null {
  if (file.says(/^import intel_extension_for_pytorch\b/m) && !file.says(/xpu|cuda/i))
    return "on the CPU, for which Intel's extension is imported";
  if (file.says(CHOSEN_ELSEWHERE)) return null;
  let why: string | null = null;
  const sends: Node[] = [...file.callsNamed("cuda"), ...file.all("Str").filter(isCudaDevice)];
  for (const node of sends) {
    if (isOverwritten(node, file)) continue;
    const asked = optionBehind(node, file, project);
    if (!asked || !/cuda|gpu|device|cpu/i.test(asked.option)) return null;
    why = `on the CPU ${asked.isOn ? "with" : "without"} \`${asked.option}\`${asked.isOn ? ", as by default" : ""}`;
  }
  const places = [
    ...file.callsNamed("to").map((call) => positional(call, 0)),
    ...file.calls.given(["device"]).map((call) => keyword(call, "device")!.value),
  ];
  for (const place of places) {
    const from = place?.kind === "Name" ? file.scopes.onlyValue(place) : place;
    const device = from && placeOf(from, file);
    if (device && defaultOf(device, file, project) === "cpu")
      why ??= `on the CPU without \`${file.textOf(device)}\``;
    const set = device && settingIn(device, file);
    if (set?.kind === "Str" && set.value === "cpu")
      why ??= `on the CPU, as \`${file.textOf(device!)}\` is set`;
  }
  return why ?? cpuOutright(places, file);
}

/** `"cuda:0"` of `torch.device("cuda:0")`, and of itself. */
function placeOf(device: Expr, file: PythonFile): Expr | null {
  return device.kind === "Call" && file.dotted(device.func) === "torch.device"
    ? positional(device, 0)
    : device;
}

/** "cpu" of `config["training"]["device"]`, where the file says `config = {"training": {"device": "cpu"}}`. */
function settingIn(expr: Expr, file: PythonFile): Expr | null {
  if (expr.kind !== "Subscript" || expr.index.kind !== "Str" || expr.index.value === null) return null;
  const dict = literalDict(settingIn(expr.value, file) ?? expr.value, file);
  return dict && entry(dict, expr.index.value);
}

/** "cuda:0" where something is sent there, and not in `add_argument("--device", choices=["cpu", "cuda"])` or a comparison. */
function isCudaDevice(text: Node): boolean {
  return (
    text.kind === "Str" &&
    text.value?.startsWith("cuda") === true &&
    text.parent?.kind !== "Compare" &&
    !ancestors(text).some(
      (at) => at.kind === "Call" && at.func.kind === "Attribute" && at.func.attr === "add_argument",
    )
  );
}

/** `DEVICE = "cuda"` of an earlier cell, where all that reads it comes after `DEVICE = "cpu"`. */
function isOverwritten(text: Node, file: PythonFile): boolean {
  const statement = statementOf(text);
  if (statement?.kind !== "Assign") return false;
  const { value, targets } = statement;
  const [target] = placeOf(value, file) === text ? targets : [];
  const definition = target?.kind === "Name" ? file.scopes.definitionAt(target) : null;
  return definition !== null && file.scopes.uses(definition).length === 0;
}

/** A program that sends all it sends to "cpu", or to `torch.device("cpu")`, under a name. */
function cpuOutright(places: readonly (Expr | null)[], file: PythonFile): string | null {
  let found: Expr | null = null;
  for (const place of places) {
    if (!place || place.kind === "Str" || (file.dotted(place) ?? "").startsWith("torch.")) continue;
    // What a function is given, it is given by one of the others.
    if (place.kind === "Name" && file.scopes.reaching(place).every(({ how }) => how === "param")) continue;
    const from = place.kind === "Name" ? file.scopes.onlyValue(place) : onlyWrite(place, file);
    const device = from ? placeOf(from, file) : null;
    if (device?.kind !== "Str" || device.value !== "cpu") return null;
    found = place;
  }
  return found && `on the CPU, as \`${file.textOf(found)}\` is set`;
}

/** `torch.device("cpu")` of `self.device`, where the class gives it nothing else. */
function onlyWrite(place: Expr, file: PythonFile): Expr | null {
  const own = selfAttribute(place);
  const cls = own === null ? null : classOf(place);
  const writes = cls ? attributesOf(cls, file).get(own!)?.writes : undefined;
  return writes?.length === 1 ? writes[0]!.value : null;
}
