export type Tri = "yes" | "no" | "unknown";
/** "network": wherever the network that computed it lives. */
export type Device = "cpu" | "accelerator" | "network" | "unknown";

/** What is known about an expression's value. */
export interface Value {
  /** "output": what a network returned: a tensor, or a structure of tensors with one history. */
  readonly what:
    | "tensor"
    | "output"
    | "number"
    | "string"
    | "container"
    | "module"
    | "optimizer"
    | "other"
    | "unknown";
  readonly device: Device;
  /** Whether the value keeps an autograd graph alive. */
  readonly graph: Tri;
}

export const UNKNOWN: Value = { what: "unknown", device: "unknown", graph: "unknown" };
export const NUMBER: Value = { what: "number", device: "cpu", graph: "no" };
export const OTHER: Value = { what: "other", device: "cpu", graph: "no" };
export const plain = (what: Value["what"]): Value => ({ what, device: "cpu", graph: "no" });
export const STRING: Value = plain("string");
export const MODULE: Value = { what: "module", device: "unknown", graph: "unknown" };

const same = <T>(one: T, other: T, otherwise: T): T => (one === other ? one : otherwise);

/** The accelerator, and where the training runs, is where the training runs. */
function eitherDevice(one: Device, other: Device): Device {
  const runs = (device: Device): boolean => device === "accelerator" || device === "network";
  return one === other ? one : runs(one) && runs(other) ? "network" : "unknown";
}

/** What holds of both: two values a name or a branch may have. Unknown where they are of different kinds. */
export function either(one: Value, other: Value): Value {
  if (one.what !== other.what) return UNKNOWN;
  return {
    what: one.what,
    device: eitherDevice(one.device, other.device),
    graph: same(one.graph, other.graph, "unknown"),
  };
}

/** The value of an operation on these: a tensor if one is; a graph if one has it. */
export function combineOperands(operands: readonly Value[]): Value {
  // Asked for nearly every expression: gone through once, and no lists made.
  let graph: Tri = "no";
  let device: Device | null = null;
  let onlyNumbers = true;
  let onlyPlain = true;
  let isOneDevice = true;
  for (const operand of operands) {
    const { what } = operand;
    if (what === "tensor" || what === "output") {
      if (operand.graph === "yes" || graph === "no") graph = operand.graph;
      if (device === null) device = operand.device;
      else if (device !== operand.device) isOneDevice = false;
    } else if (what === "unknown") {
      if (graph === "no") graph = "unknown";
      onlyPlain = false;
    } else if (what !== "number" && what !== "other") onlyPlain = false;
    if (what !== "number") onlyNumbers = false;
  }
  // `2 / (1 + np.exp(-p)) - 1`: what numbers make of an array is one of the host.
  if (device === null) return operands.length === 0 || !onlyPlain ? UNKNOWN : onlyNumbers ? NUMBER : OTHER;
  return { what: "tensor", device: isOneDevice ? device : deviceOfSeveral(operands), graph };
}

function deviceOfSeveral(operands: readonly Value[]): Device {
  const tensors = operands.filter(isTensorLike);
  if (tensors.some(({ device }) => device === "accelerator")) return "accelerator";
  // `criterion(net(x).cpu(), y)`: what was brought to the host is computed with there.
  if (tensors.some(({ device, graph }) => device === "cpu" && graph === "yes")) return "cpu";
  return tensors.some(({ device }) => device === "network") ? "network" : "unknown";
}

export function isTensorLike({ what }: Value): boolean {
  return what === "tensor" || what === "output";
}

/** Where the training runs. */
export function isOnDevice(value: Value): boolean {
  return isTensorLike(value) && value.device !== "cpu" && value.device !== "unknown";
}
