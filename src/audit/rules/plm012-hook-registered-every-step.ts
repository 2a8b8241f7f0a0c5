import type { PythonFile } from "../../python/file.ts";
import { classOf, contains, functionOf, lastWord, namesIn, statementOf } from "../../python/nodes.ts";
import type { Assign, Call, Expr, For, Name, Node } from "../../python/tree.ts";
import { selfAttribute } from "../facts/classes.ts";
import type { Facts } from "../facts/facts.ts";
import { loopsAround } from "../facts/training.ts";
import type { Rule } from "../rule.ts";

const HOOKS = new Set([
  "register_forward_hook",
  "register_forward_pre_hook",
  "register_full_backward_hook",
  "register_full_backward_pre_hook",
  "register_backward_hook",
  "register_state_dict_pre_hook",
  "register_module_forward_hook",
  "register_module_full_backward_hook",
]);
/** Of tensors: they go with the tensor, unless it is a parameter. */
const TENSOR_HOOKS = new Set(["register_hook", "register_post_accumulate_grad_hook"]);

export const rule: Rule = {
  meta: {
    code: "PLM012",
    name: "hook-registered-every-step",
    summary:
      "A hook is registered again on every step or epoch and never removed, or its handle is thrown away",
    severity: "error",
    fix: "none",
    patterns: [12],
  },
  *check(facts) {
    for (const call of facts.file.callsNamed(...HOOKS, ...TENSOR_HOOKS)) {
      if (call.func.kind !== "Attribute") continue;
      const { attr, value: receiver } = call.func;
      if (!HOOKS.has(attr) && !(TENSOR_HOOKS.has(attr) && isParameter(receiver, facts))) continue;
      if (!isLeft(call, facts) && !(facts.guesses && isNeverRemoved(call, facts))) continue;
      // Of some of the parameters, `if "bias" in name:`, it is as often.
      const through = loopsAround(call)[0];
      const over =
        through?.kind === "For" && /(?:parameters|modules|children)\(/.test(goneThrough(through.iter, facts));
      const hot = facts.everyStep(call) ?? (over ? facts.everyStep(through) : null);
      const again = facts.everyEpoch(call) || (over && facts.everyEpoch(through) && !isFresh(through, facts));
      if (!hot && !again) {
        if (isThrownAway(call, facts))
          yield {
            at: call,
            severity: "note",
            message:
              "The hook's handle is thrown away: nothing can remove it, and it runs, and keeps what it captured, for as long as the module lives",
          };
        continue;
      }
      const often = hot
        ? hot.why.startsWith("in ")
          ? "on every step"
          : `on every step (${hot.why})`
        : "in every epoch";
      yield {
        at: call,
        message: `One more hook ${often}, and nothing removes it: all of them run from now on, and keep what they captured`,
      };
    }
  },
};

/** Thrown away, or bound to a name of this function that nobody calls `remove` on. A handle that is kept may be removed elsewhere. */
function isLeft(call: Call, facts: Facts): boolean {
  const statement = statementOf(call);
  // `[m.register_forward_hook(f) for m in model.modules()]`
  const made = call.parent?.kind === "Comp" && call.parent.element === call ? call.parent : call;
  if (statement?.kind === "ExprStmt") return statement.value === made;
  if (statement?.kind === "Return" && statement.value === made) return isDropped(call, facts);
  if (statement?.kind !== "Assign" || statement.value !== made || statement.targets.length !== 1)
    return false;
  const [target] = statement.targets;
  const definition = target?.kind === "Name" ? facts.file.scopes.definitionAt(target) : null;
  return definition !== null && facts.file.scopes.uses(definition).length === 0;
}

/** `self.handles.append(layer.register_forward_hook(f))`, in a file that removes nothing. */
function isNeverRemoved(call: Call, { file }: Facts): boolean {
  const statement = statementOf(call);
  const kept =
    statement?.kind === "Assign" ||
    (call.parent?.kind === "Arg" && lastWord((call.parent.parent as Call).func) === "append");
  return (
    kept && !/\bremove\b/.test(file.text) && (statement?.kind !== "Assign" || !isHandedBack(statement, file))
  );
}

/** `handle = …`, and then `return handle`: who calls may remove it. */
function isHandedBack({ targets: [target] }: Assign, { scopes }: PythonFile): boolean {
  const made = target?.kind === "Name" ? scopes.definitionAt(target) : null;
  return (
    made !== null &&
    scopes.uses(made).some((use) => statementOf(use)?.kind === "Return" || use.parent?.kind === "Arg")
  );
}

/** Handed back to callers who throw it away. */
function isDropped(call: Call, { file }: Facts): boolean {
  const fn = functionOf(call);
  if (fn?.kind !== "FunctionDef") return false;
  const calls = file
    .callsNamed(fn.name)
    .filter((one) => file.dotted(one.func) === file.qualified(fn) || selfAttribute(one.func) === fn.name);
  return calls.length > 0 && calls.every(({ parent }) => parent?.kind === "ExprStmt");
}

/** On another module: what a module registers on itself and its layers belongs to it. */
function isThrownAway(call: Call, facts: Facts): boolean {
  if (call.func.kind !== "Attribute") return false;
  const { attr, value } = call.func;
  // What hands back a changed gradient is part of the training; what only looks was put there for a while.
  if (
    attr === "register_hook"
      ? !onlyLooks(call, facts)
      : !/^register_(?:forward|full_backward|backward)/.test(attr)
  )
    return false;
  if (value.kind === "Name" && (value.id === "self" || facts.file.dotted(value) !== null)) return false;
  const cls = selfAttribute(value) === null ? null : classOf(call);
  if (cls && facts.role(cls) === "module") return false;
  return (
    statementOf(call)?.kind === "ExprStmt" && !/(?:^|\/)tests?\/|(?:^|\/)test_[^/]*$/.test(facts.file.path)
  );
}

/** `lambda g: norms.append(g.norm())`, or a function that returns nothing. */
function onlyLooks(call: Call, { file }: Facts): boolean {
  const hook = call.args[0]?.value;
  if (hook?.kind === "Lambda")
    return (
      hook.body.kind === "Call" &&
      /(?:^|\.)(?:append|update|extend|print|__setitem__|setdefault|add_scalar|log|info)$/.test(
        file.textOf(hook.body.func),
      )
    );
  const [one, ...more] = hook?.kind === "Name" ? file.scopes.reaching(hook) : [];
  const fn = one?.node;
  return (
    more.length === 0 &&
    fn?.kind === "FunctionDef" &&
    !file.all("Return").some((statement) => functionOf(statement) === fn && statement.value !== null)
  );
}

/** What a loop goes through, also under a name: `trainable = [p for p in model.parameters() if p.requires_grad]`. */
function goneThrough(iter: Expr, { file }: Facts): string {
  const made = iter.kind === "Name" ? file.scopes.onlyValue(iter) : null;
  return file.textOf(made ?? iter);
}

/** Methods of a network, or of who holds one, that hand out the one that was there. */
const HANDS_OUT =
  /^(?:get_\w*|unwrap\w*|prepare|to|cuda|train|eval|(?:named_)?(?:parameters|modules|children))$/;

/** Goes through a network that each turn makes anew, as for every fold: `model = build(config)`. */
function isFresh(loop: For, facts: Facts): boolean {
  const { file } = facts;
  const turn = facts.epochLoop(loop) ?? functionOf(loop);
  if (!turn) return false;
  // `self.model = build(config)`
  const text = goneThrough(loop.iter, facts);
  const isGone = (target: Expr): boolean => target.kind === "Attribute" && text.includes(file.textOf(target));
  return (
    file.all("Assign").some((one) => contains(turn, one) && one.targets.some(isGone)) ||
    namesIn(loop.iter).some((name) => isMadeAnew(name, turn, facts))
  );
}

function isMadeAnew(name: Name, turn: Node, facts: Facts, depth = 0): boolean {
  if (depth > 4) return true;
  const { file } = facts;
  const isMade = (value: Expr): boolean =>
    value.kind === "Call" &&
    file.dotted(value.func) !== "builtins.list" &&
    !(value.func.kind === "Attribute" && file.dotted(value.func) === null && HANDS_OUT.test(value.func.attr));
  return file.scopes
    .reaching(name)
    .some(
      ({ how, value, node }) =>
        /^(?:assign|unpack)$/.test(how) &&
        value !== null &&
        contains(turn, node) &&
        (isMade(value) || namesIn(value).some((inner) => isMadeAnew(inner, turn, facts, depth + 1))),
    );
}

/** What a loop over parameters hands out, or a weight of a module. */
function isParameter(expr: Expr, facts: Facts): boolean {
  if (expr.kind === "Attribute")
    return /^(?:weight|bias)$/.test(expr.attr) && (selfAttribute(expr) === null || classOf(expr) !== null);
  // `next(model.parameters())`
  if (expr.kind === "Call")
    return facts.file.dotted(expr.func) === "builtins.next" && /parameters\(/.test(facts.file.textOf(expr));
  if (expr.kind !== "Name") return false;
  const definitions = facts.file.scopes.reaching(expr);
  return (
    definitions.length > 0 &&
    definitions.every(
      ({ how, value, node }) =>
        how === "iterate" &&
        value !== null &&
        /parameters\(/.test(goneThrough(value, facts)) &&
        functionOf(node) === functionOf(expr),
    )
  );
}
