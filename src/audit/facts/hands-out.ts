import { keyword } from "../../python/file.ts";
import type { PythonFile } from "../../python/file.ts";
import { functionOf, lastWord } from "../../python/nodes.ts";
import type { Call, Expr, FunctionDef } from "../../python/tree.ts";

/** What a function makes anew for whoever calls it: a tensor on the device that is the current one, a compiled network, a scaler. */
export type HandedOut = "sent" | "compiled" | "scaler";

/** The functions of a file that return one of these, and nothing else. */
export function handsOut(file: PythonFile): ReadonlyMap<FunctionDef, HandedOut> {
  const found = new Map<FunctionDef, HandedOut>();
  const others = new Set<FunctionDef>();
  for (const statement of file.all("Return")) {
    const fn = functionOf(statement);
    if (fn?.kind !== "FunctionDef") continue;
    const made = statement.value && kindOf(statement.value, file);
    if (made === null || (found.has(fn) && found.get(fn) !== made)) others.add(fn);
    else found.set(fn, made);
  }
  for (const fn of others) found.delete(fn);
  return found;
}

function kindOf(value: Expr, file: PythonFile): HandedOut | null {
  if (value.kind !== "Call") return null;
  switch (lastWord(value.func)) {
    case "cuda":
      return value.func.kind === "Attribute" && value.args.length === 0 ? "sent" : null;
    case "compile":
      return file.dotted(value.func) === "torch.compile" ? "compiled" : null;
    case "GradScaler":
      // Whoever says when it is on has thought of the type.
      return isTorchScaler(value, file) && !keyword(value, "enabled") ? "scaler" : null;
    default:
      return isMadeOnDevice(value, file) ? "sent" : null;
  }
}

/** `torch.ones(3, device="cuda")` */
function isMadeOnDevice(call: Call, file: PythonFile): boolean {
  const device = keyword(call, "device")?.value;
  return (
    device?.kind === "Str" &&
    /^cuda(?::0)?$/.test(device.value ?? "") &&
    (file.dotted(call.func) ?? "").startsWith("torch.")
  );
}

export function isTorchScaler({ func }: Call, file: PythonFile): boolean {
  return /^torch\.(?:(?:cuda\.|cpu\.)?amp\.(?:grad_scaler\.)?)?GradScaler$/.test(file.dotted(func) ?? "");
}
