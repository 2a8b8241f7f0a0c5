import { keyword, positional } from "../../python/file.ts";
import { classOf, functionOf, walk } from "../../python/nodes.ts";
import type { Call, Expr, FunctionDef } from "../../python/tree.ts";
import { methodsOf, selfAttribute } from "../facts/classes.ts";
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
    for (const call of facts.file.callsNamed("to", "cuda", "load", ...FACTORIES))
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
  if (name === "torch.load")
    return facts.isAccelerator(facts.device(keyword(call, "map_location")?.value ?? positional(call, 1)));
  if (call.func.kind !== "Attribute") return false;
  if (call.func.attr === "cuda") return true;
  const to = call.func.attr === "to" ? (device?.value ?? call.args[0]?.value ?? null) : null;
  return to !== null && facts.isAccelerator(facts.device(to));
}

const HANDS_OUT = /^__(?:getitem|getitems|iter|next)__$/;

/** `self.read(path)` somewhere in the method. */
function callsOwn(method: FunctionDef, name: string): boolean {
  let found = false;
  walk(method, (node) => {
    if (node.kind === "Call" && selfAttribute(node.func) === name) found = true;
    return !found;
  });
  return found;
}

function isInLoader(call: Call, facts: Facts): boolean {
  let fn = functionOf(call);
  if (fn?.kind === "Lambda" && fn.parent?.kind === "Arg" && fn.parent.name === "collate_fn") return true;
  while (fn?.kind === "Lambda") fn = functionOf(fn);
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
  // `collate_fn=maker.collate`
  const handed = facts.file
    .all("Arg")
    .some(({ name, value }) => name === "collate_fn" && value.kind === "Attribute" && value.attr === fn.name);
  if (cls && fn.parent === cls && handed) return true;
  if (cls && fn.parent === cls)
    return (
      facts.role(cls) === "dataset" &&
      (HANDS_OUT.test(fn.name) ||
        methodsOf(cls).some((method) => HANDS_OUT.test(method.name) && callsOwn(method, fn.name)))
    );
  // A function that a DataLoader of this file collates with.
  return facts.file
    .all("Arg")
    .some(({ name, value }) => name === "collate_fn" && collatesWith(value, fn, facts));
}

/** The function itself, or `partial(collate, …)` of it. */
function collatesWith(value: Expr, fn: FunctionDef, facts: Facts): boolean {
  const first =
    value.kind === "Call" && facts.file.dotted(value.func) === "functools.partial"
      ? positional(value, 0)
      : value;
  return first?.kind === "Name" && first.id === fn.name;
}
