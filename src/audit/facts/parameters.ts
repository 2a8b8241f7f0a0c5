import type { PythonFile } from "../../python/file.ts";
import type { Call } from "../../python/tree.ts";
import type { Edges } from "./project.ts";
import type { FunctionSummary } from "./summary.ts";
import type { Value } from "./value.ts";
import { Values } from "./values.ts";
import { lexicalGrad } from "./gradmode.ts";
import { backwardCalls } from "./training.ts";
import { roleOfBase } from "./classes.ts";
import type { Role } from "./classes.ts";

/** Tensors that a call passes, by position ("0") or keyword; what is not one is not listed. */
export type Passed = Readonly<Record<string, Value>>;

/** Looks at the arguments of calls, in files that train: elsewhere nobody asks. */
export function passedBy(file: PythonFile): (call: Call) => Passed | null {
  const trains = backwardCalls(file).length > 0 || /\bdef (?:training_step|compute_loss)\b/.test(file.text);
  if (!trains) return () => null;
  const roles = new Map<string, Role>();
  for (const cls of file.all("ClassDef")) {
    const role = cls.args
      .map((arg) => file.dotted(arg.value))
      .map((base) => (base === null ? null : (roles.get(base) ?? roleOfBase(base))))
      .find((one) => one !== null);
    if (role) roles.set(file.qualified(cls), role);
  }
  const values = new Values(file, {
    gradMode: (node) => lexicalGrad(node, file) ?? "on",
    role: (cls) => roles.get(file.qualified(cls)) ?? "other",
    roleOfName: (dotted) => roles.get(dotted) ?? "other",
    parameter: () => null,
  });
  return (call) => {
    const passed: Record<string, Value> = {};
    let any = false;
    for (const [at, arg] of call.args.entries()) {
      if (arg.star !== 0) return null;
      const value = values.of(arg.value);
      if (value.what !== "tensor" && value.what !== "output") continue;
      passed[arg.name ?? String(at)] = value;
      any = true;
    }
    return any ? passed : null;
  };
}

/** For each function, the parameters that are tensors in every call the tree makes of it. */
export function passedParameters(
  functions: ReadonlyMap<string, FunctionSummary>,
  edges: Edges,
): ReadonlyMap<string, Record<string, Value>> {
  const found = new Map<string, Record<string, Value>>();
  const calls = new Map<string, number>();
  const counts = new Map<string, Map<string, number>>();
  for (const list of edges.values())
    for (const { to, site } of list) {
      calls.set(to, (calls.get(to) ?? 0) + 1);
      const fn = functions.get(to);
      if (!site.passed || !fn) continue;
      // A method is called without its first parameter, unless through its class.
      const shift = fn.params[0] === "self" ? 1 : 0;
      for (const [key, value] of Object.entries(site.passed)) {
        const name = /^\d+$/.test(key) ? fn.params[Number(key) + shift] : key;
        if (name === undefined || !fn.params.includes(name)) continue;
        const known = found.get(to) ?? {};
        found.set(to, known);
        const before = known[name];
        known[name] = before
          ? {
              what: before.what === value.what ? value.what : "output",
              device: before.device === value.device ? value.device : "unknown",
              graph: before.graph === value.graph ? value.graph : "unknown",
            }
          : value;
        const count = counts.get(to) ?? new Map<string, number>();
        counts.set(to, count);
        count.set(name, (count.get(name) ?? 0) + 1);
      }
    }
  for (const [name, known] of found)
    for (const param of Object.keys(known))
      if (counts.get(name)?.get(param) !== calls.get(name)) delete known[param];
  return found;
}
