import { argument } from "../../python/file.ts";
import { classOf } from "../../python/nodes.ts";
import type { Expr, Name } from "../../python/tree.ts";
import type { Facts } from "../facts/facts.ts";
import { isOnlyMadeBy, selfAttribute } from "../facts/classes.ts";
import type { Rule } from "../rule.ts";

export const rule: Rule = {
  meta: {
    code: "PLM036",
    name: "parameter-moved-every-forward",
    summary: "A module's own parameter is sent `.to()` its input's device in every forward",
    severity: "note",
    fix: "none",
    patterns: [36],
  },
  *check(facts) {
    for (const call of facts.file.callsNamed("to", "cuda", "type_as")) {
      if (call.func.kind !== "Attribute" || !/^(?:to|cuda|type_as)$/.test(call.func.attr)) continue;
      if (!isOwn(call.func.value, facts)) continue;
      const device = call.func.attr === "to" ? argument(call, "device", 0) : null;
      const moves =
        call.func.attr !== "to" ||
        (device?.kind === "Attribute" && device.attr === "device") ||
        (device?.kind === "Name" && !/dtype/.test(device.id) && isGiven(device, facts));
      if (!moves) continue;
      const cls = classOf(call);
      if (!cls || !/^(?:module|lightning)$/.test(facts.role(cls))) continue;
      const hot = facts.hot(call) ?? (takesTensor(call, facts) ? { within: call } : null);
      if (hot)
        yield {
          at: call,
          message:
            "The module moves its own parameter in every forward: free when it is there already, a copy each time when it is not; move the module once",
        };
    }
  },
};

/** Handed in: `weight.to(x)`, `weight.to(device)`. */
function isGiven(name: Name, facts: Facts): boolean {
  const { what } = facts.value(name);
  return (
    what === "tensor" || what === "output" || facts.isAccelerator(facts.device(name)) || name.id === "device"
  );
}

/** `self.weight`, or `params.weight` with `params` taken from the module. */
function isOwn(expr: Expr, facts: Facts, depth = 0): boolean {
  if (depth > 4) return false;
  // `self.gamma.to(x.dtype).to(x.device)`
  if (expr.kind === "Call")
    return (
      expr.func.kind === "Attribute" &&
      /^(?:to|type|float|half)$/.test(expr.func.attr) &&
      isOwn(expr.func.value, facts, depth)
    );
  if (selfAttribute(expr) !== null)
    return (
      depth > 0 ||
      isParameterOrModule(expr, facts) ||
      /^(?:weight|bias|sigma|scale|scaling|gamma|beta|alpha|lora_\w+|\w*_weight|\w*_bias)$/.test(
        selfAttribute(expr)!,
      )
    );
  if (expr.kind === "Attribute")
    return (
      /^(?:weight|bias|sigma|scale|gamma|beta|alpha)$/.test(expr.attr) && isOwn(expr.value, facts, depth + 1)
    );
  if (expr.kind === "Subscript")
    return depth > 0 ? isOwn(expr.value, facts, depth + 1) : isParameterOrModule(expr.value, facts);
  if (expr.kind !== "Name" || depth === 0) return false;
  const definitions = facts.file.scopes.reaching(expr);
  return (
    definitions.length === 1 &&
    definitions[0]!.how === "assign" &&
    definitions[0]!.value !== null &&
    isOwn(definitions[0]!.value, facts, depth + 1)
  );
}

/** Written as `nn.Parameter(…)` or a layer: it moves with the module. */
function isParameterOrModule(expr: Expr, facts: Facts): boolean {
  return isOnlyMadeBy(
    expr,
    facts.file,
    (made) =>
      /^torch\.nn\.(?:parameter\.)?Parameter$/.test(facts.file.dotted(made.func) ?? "") ||
      facts.value(made).what === "module",
  );
}

/** A method that is given tensors is part of the forward, whoever calls it. */
function takesTensor(call: Expr, facts: Facts): boolean {
  const device = (call.kind === "Call" && argument(call, "device", 0)) || null;
  return (
    device?.kind === "Attribute" &&
    device.value.kind === "Name" &&
    facts.file.scopes.reaching(device.value).some((one) => one.how === "param") &&
    facts.value(device.value).what === "tensor"
  );
}
