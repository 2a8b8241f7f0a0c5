import { positional } from "../../python/file.ts";
import { functionOf } from "../../python/nodes.ts";
import type { Call, Expr, FunctionDef } from "../../python/tree.ts";
import type { Facts } from "./facts.ts";
import { returnsByName } from "./returns.ts";
import { callTarget } from "./summary.ts";
import { sendsBatch } from "./transfers.ts";

/** Whether a function hands back a tensor that it, or what it calls for that, has put on a device. */
export function returnsDeviceTensor(fn: FunctionDef, facts: Facts): boolean {
  return facts.file
    .all("Return")
    .some(
      ({ value, parent }) =>
        value !== null &&
        parent !== null &&
        functionOf(value) === fn &&
        (value.kind === "Tuple" ? value.items : [value]).some((one) => isOnDevice(one, facts)),
    );
}

/** How far it is followed through helpers that call one another. */
const DEEPEST = 3;

/** Also `x` after `if torch.cuda.is_available(): x = x.cuda()`, and what a helper of the file makes of it, `self.to_var(x)`. */
function isOnDevice(expr: Expr, facts: Facts, depth = 0): boolean {
  if (facts.onAccelerator(expr) || isRunOnDevice(expr, facts)) return true;
  if (depth > DEEPEST) return false;
  if (expr.kind === "Name") {
    const found = facts.file.scopes.reaching(expr);
    return found.some(
      ({ how, value }) => how === "assign" && value?.kind === "Call" && isMadeThere(value, facts, depth),
    );
  }
  return expr.kind === "Call" && isMadeThere(expr, facts, depth);
}

function isMadeThere(call: Call, facts: Facts, depth: number): boolean {
  const { file } = facts;
  if (isSent(call, facts) || sendsBatch(call, file)) return true;
  const [first] = call.args;
  // `Variable(x.cuda())`: the same tensor.
  if (file.dotted(call.func) === "torch.autograd.Variable")
    return first !== undefined && isOnDevice(first.value, facts, depth + 1);
  if (facts.callee(call)?.makes === "sent") return true;
  const target = callTarget(call, file);
  const back = target === null ? undefined : file.once(returnsByName).get(target);
  return back !== undefined && back.every((one) => isOnDevice(one, facts, depth + 1));
}

/** `encoder(input_ids=tokens).last_hidden_state[0]`, of `tokens` that were sent to a device here. */
function isRunOnDevice(expr: Expr, facts: Facts): boolean {
  let at = expr;
  while (at.kind === "Subscript" || at.kind === "Attribute") at = at.value;
  return (
    at.kind === "Call" &&
    facts.file.dotted(at.func) === null &&
    (at.func.kind === "Name" || at.func.kind === "Attribute") &&
    at.args.some(({ value }) => {
      const sent = value.kind === "Name" ? facts.file.scopes.onlyValue(value) : value;
      return sent?.kind === "Call" && isSent(sent, facts);
    })
  );
}

function isSent(call: Call, facts: Facts): boolean {
  if (call.func.kind !== "Attribute" || facts.file.dotted(call.func) !== null) return false;
  return (
    call.func.attr === "cuda" ||
    (call.func.attr === "to" && facts.isAccelerator(facts.device(positional(call, 0))))
  );
}
