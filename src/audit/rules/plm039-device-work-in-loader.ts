import { keyword } from "../../python/file.ts";
import { classOf, functionOf } from "../../python/nodes.ts";
import type { Call } from "../../python/tree.ts";
import type { Facts } from "../facts/facts.ts";
import { FACTORIES, last } from "../facts/torch-names.ts";
import type { Rule } from "../rule.ts";

export const rule: Rule = {
  meta: {
    code: "PLM039",
    name: "device-work-in-loader",
    summary: "A Dataset or collate function puts each example on the device",
    severity: "warning",
    fix: "none",
    patterns: [39],
  },
  *check(facts) {
    const loads =
      facts.file.calls.given(["collate_fn"]).length > 0 ||
      facts.file.all("ClassDef").some((cls) => facts.role(cls) === "dataset");
    if (!loads) return;
    for (const call of facts.file.callsNamed("to", "cuda", ...FACTORIES))
      if (sends(call, facts) && isInLoader(call, facts))
        yield {
          at: call,
          message:
            "Examples go to the device one by one, inside the loader: no pinning, no overlap, and with workers each needs a CUDA context of its own or fails",
        };
  },
};

function sends(call: Call, facts: Facts): boolean {
  const name = facts.file.dotted(call.func) ?? "";
  const device = keyword(call, "device");
  if (name === `torch.${last(name)}` && FACTORIES.has(last(name)))
    return device !== null && facts.isAccelerator(facts.device(device.value));
  if (call.func.kind !== "Attribute") return false;
  if (call.func.attr === "cuda") return true;
  const to = call.func.attr === "to" ? (device?.value ?? call.args[0]?.value ?? null) : null;
  return to !== null && facts.isAccelerator(facts.device(to));
}

function isInLoader(call: Call, facts: Facts): boolean {
  const fn = functionOf(call);
  if (fn?.kind === "Lambda") return fn.parent?.kind === "Arg" && fn.parent.name === "collate_fn";
  if (fn?.kind !== "FunctionDef") return false;
  const cls = classOf(fn);
  // An instance of it is what a DataLoader collates with.
  if (cls && fn.parent === cls && fn.name === "__call__")
    return facts.file
      .all("Arg")
      .some(
        ({ name, value }) =>
          name === "collate_fn" &&
          value.kind === "Call" &&
          facts.file.dotted(value.func) === facts.file.qualified(cls),
      );
  if (cls && fn.parent === cls)
    return /^__(?:getitem|getitems|iter)__$/.test(fn.name) && facts.role(cls) === "dataset";
  // A function that a DataLoader of this file collates with.
  return facts.file
    .all("Arg")
    .some((arg) => arg.name === "collate_fn" && arg.value.kind === "Name" && arg.value.id === fn.name);
}
