import type { PythonFile } from "../../python/file.ts";
import type { Definition } from "../../python/scopes.ts";
import type { Call, Name } from "../../python/tree.ts";
import type { Names } from "./names.ts";
import { bareCall } from "./summary.ts";
import type { FileSummary } from "./summary.ts";
import { isCapital, last } from "./torch-names.ts";

/**
 * Networks that a file makes, only ever evaluates and freezes nowhere, by what they are handed to: constructors of other
 * files, with the place or the name of the argument. `teacher.eval()` and `Distillation(teacher)` give
 * "losses.Distillation.__init__,0".
 */
export function handedTeachers(file: PythonFile): readonly string[] | undefined {
  const found = new Set<string>();
  for (const call of file.callsNamed("eval")) {
    const net = call.func.kind === "Attribute" ? call.func.value : null;
    if (net?.kind !== "Name" || !/teacher/i.test(net.id)) continue;
    const definitions = file.scopes.lookup(net)?.definitions ?? [];
    if (definitions.length === 0 || !definitions.every((one) => isMade(one, file))) continue;
    // Whatever has to do with its gradients or parameters may freeze it, or train it.
    if (
      new RegExp(
        `(?:freeze|grad)\\w*\\([^)]*\\b${net.id}\\b|\\b${net.id}\\.(?!eval\\b|to\\b|cuda\\b|load_state_dict\\b)`,
      ).test(file.text)
    )
      continue;
    for (const one of definitions) for (const use of file.scopes.uses(one)) add(use, file, found);
  }
  return found.size > 0 ? [...found] : undefined;
}

/** By a class or a function that is named for it, sent to a device, or not at all. */
function isMade({ how, value, name }: Definition, file: PythonFile): boolean {
  if (how === "assign" && value?.kind === "Const") return value.value === null;
  if (how !== "assign" || value?.kind !== "Call") return false;
  const { func } = value;
  if (func.kind === "Attribute" && func.value.kind === "Name" && func.value.id === name) return true;
  const maker = last(file.dotted(bareCall(value).func) ?? "");
  return isCapital(maker) || /^(?:load|create|build|get|make)_|^convert_sync_batchnorm$/.test(maker);
}

function add(use: Name, file: PythonFile, found: Set<string>): void {
  const arg = use.parent;
  const call = arg?.kind === "Arg" && arg.star === 0 ? (arg.parent as Call) : null;
  const cls = call?.kind === "Call" ? file.dotted(call.func) : null;
  if (arg?.kind !== "Arg" || cls === null || !isCapital(last(cls)) || cls.startsWith("torch.")) return;
  found.add(`${cls}.__init__,${arg.name ?? call!.args.indexOf(arg)}`);
}

/** The same of a whole tree, by the constructors' own names. */
export function teachersHanded(
  summaries: readonly FileSummary[],
  names: Names,
  functions: ReadonlyMap<string, unknown>,
): ReadonlySet<string> {
  const found = new Set<string>();
  for (const { teachers } of summaries)
    for (const one of teachers ?? []) {
      const cut = one.lastIndexOf(",");
      const init = one.slice(0, cut);
      found.add(`${names.resolve(init, functions) ?? init}${one.slice(cut)}`);
    }
  return found;
}
