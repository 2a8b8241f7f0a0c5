import { positional } from "../../python/file.ts";
import type { PythonFile } from "../../python/file.ts";
import { ancestors, classOf, contains, functionOf, lastWord, statementOf } from "../../python/nodes.ts";
import type { Call } from "../../python/tree.ts";
import type { Expr } from "../../python/tree.ts";
import { selfAttribute } from "../facts/classes.ts";
import type { Facts } from "../facts/facts.ts";
import type { Finding, Rule } from "../rule.ts";

export const rule: Rule = {
  meta: {
    code: "PLM015",
    name: "state-dict-copied-on-device",
    summary: "`deepcopy(model.state_dict())` keeps a second copy of all weights on the device",
    severity: "warning",
    fix: "unsafe",
    patterns: [15],
  },
  *check(facts) {
    const { file } = facts;
    if (file.callsNamed("deepcopy", "clone").length === 0) return;
    // In tests the model is on the host.
    if (!facts.accelerator || /(?:^|\/)tests?\/|(?:^|\/)test_[^/]*$/.test(file.path)) return;
    yield* clones(facts);
    yield* clonedInLoops(facts);
    const mentioned = /cuda|device|accelerat/i.test(file.text);
    for (const call of file.callsNamed("deepcopy")) {
      if (file.dotted(call.func) !== "copy.deepcopy" || call.args.length !== 1) continue;
      // Copied into other weights, or written out: then it is gone.
      const taker = call.parent?.kind === "Arg" ? call.parent.parent : null;
      if (taker?.kind === "Call" && /\b(?:load_state_dict|save)$/.test(file.textOf(taker.func))) continue;
      const given = positional(call, 0);
      const whole = given?.kind === "Name" ? file.scopes.onlyValue(given) : given;
      // `net.module.state_dict() if parallel else net.state_dict()`
      const state = whole?.kind === "IfExp" ? whole.orelse : whole;
      if (
        state?.kind !== "Call" ||
        state.func.kind !== "Attribute" ||
        state.func.attr !== "state_dict" ||
        state.args.length > 0
      )
        continue;
      const receiver = state.func.value;
      const text = file.textOf(receiver);
      // An optimizer's state holds more than tensors; a model moved to the host is copied there.
      if (
        /optim|sched|scaler|\bopt(?:_|$)/i.test(text) ||
        (receiver.kind === "Call" && receiver.func.kind === "Attribute" && receiver.func.attr === "cpu")
      )
        continue;
      if (isDeleted(call, file) || isComputedWith(call, file)) continue;
      const often = facts.functionFacts(call).reachesBackward || facts.everyEpoch(call);
      // A module that copies a part of itself does so when it is made, on the host; one with a `fit` of its own does so in the run.
      const cls = often ? null : classOf(call);
      if (cls && facts.role(cls) === "module") continue;
      yield {
        at: call,
        // Where nothing trains, or no device is mentioned, the model may be on the host still.
        ...(mentioned && (often || facts.hot(call)) ? {} : { severity: "note" as const }),
        message: `A second copy of every weight of \`${text.length > 40 ? "the model" : text}\` stays on the device; on the host it costs nothing there`,
        fix: {
          grade: "unsafe",
          title: "Copy to the host",
          edits: [
            {
              start: call.start,
              end: call.end,
              text: `{k: v.detach().to("cpu", copy=True) for k, v in ${whole === state ? file.textOf(state) : `(${file.textOf(whole!)})`}.items()}`,
            },
          ],
        },
      };
    }
  },
};

/**
 * `before[name] + beta * (after[name] - before[name])`, `for kept, p in zip(self.average.values(), net.parameters()):
 * kept.lerp_(p, 0.1)`: it is where the model is for a reason.
 */
function isComputedWith(copy: Expr, file: PythonFile): boolean {
  const statement = statementOf(copy);
  const [target] = statement?.kind === "Assign" && statement.value === copy ? statement.targets : [];
  if (!target) return false;
  const own = selfAttribute(target);
  const made = target.kind === "Name" ? file.scopes.definitionAt(target) : null;
  const reads: readonly Expr[] =
    own === null
      ? made
        ? file.scopes.uses(made)
        : []
      : file.all("Attribute").filter((one) => one !== target && selfAttribute(one) === own);
  return reads.some((read) => {
    const at = read.parent;
    if (at?.kind === "Subscript") return isOperand(at);
    // `for kept, p in zip(average.values(), net.parameters()):`
    if (at?.kind !== "Attribute" || !/^(?:values|items)$/.test(at.attr)) return false;
    const loop = [...ancestors(at)].find(({ kind }) => kind === "For" || kind === "Comp");
    return (
      loop !== undefined &&
      !(loop.kind === "For" && loop.body.some((one) => contains(one, at))) &&
      (file.all("Binary").some((one) => contains(loop, one)) ||
        file.all("AugAssign").some((one) => contains(loop, one)) ||
        file.callsNamed(...COMPUTES).some((one) => contains(loop, one)))
    );
  });
}

/** Of a tensor's methods those that want both in one place; `copy_` takes from anywhere. */
const COMPUTES = [
  "lerp",
  "lerp_",
  "add",
  "add_",
  "sub",
  "sub_",
  "mul",
  "mul_",
  "addcmul_",
  "addcdiv_",
  "div_",
];

/** `kept[k] * decay`, `kept[k].mul_(decay)`, `p.sub(kept[k])`, `kept[k] += p`. */
function isOperand({ parent }: Expr): boolean {
  const call = parent?.kind === "Arg" ? parent.parent : null;
  return (
    parent?.kind === "Binary" ||
    parent?.kind === "AugAssign" ||
    (parent?.kind === "Attribute" && COMPUTES.includes(parent.attr)) ||
    (call?.kind === "Call" && COMPUTES.includes(lastWord(call.func)))
  );
}

/** `initial = dict(model=deepcopy(…))` … `del initial`: taken for a while, as around a warm-up. */
function isDeleted(call: Call, file: PythonFile): boolean {
  const statement = statementOf(call);
  const target = statement?.kind === "Assign" ? statement.targets[0] : null;
  return (
    target?.kind === "Name" &&
    file
      .all("Delete")
      .some(
        (one) =>
          one.start > call.start &&
          functionOf(one) === functionOf(call) &&
          one.targets.some((gone) => gone.kind === "Name" && gone.id === target.id),
      )
  );
}

/** `{k: v.clone() for k, v in model.state_dict().items()}`. */
function* clones(facts: Facts): Generator<Finding> {
  const { file } = facts;
  for (const comp of file.all("Comp")) {
    const [clause] = comp.clauses;
    // A dict's value, or the second of a pair.
    const copied =
      comp.value ?? (comp.element.kind === "Tuple" ? (comp.element.items[1] ?? comp.element) : comp.element);
    if (
      !clause ||
      (comp.value === null &&
        comp.element.kind !== "Tuple" &&
        !file.textOf(clause.iter).endsWith("parameters()")) ||
      !/\.clone\(\)$|^(?:copy\.)?deepcopy\(/.test(file.textOf(copied)) ||
      /cpu/.test(file.textOf(copied))
    )
      continue;
    const over = overState(clause.iter, file);
    if (!/\.(?:state_dict\(\)\.items|(?:named_)?parameters)\(\)$/.test(over) || /optim|sched/i.test(over))
      continue;
    if (isComputedWith(comp, file)) continue;
    yield {
      at: comp,
      severity: "note",
      message: "A second copy of every weight stays on the device; on the host it costs nothing there",
      ...(file.textOf(copied).endsWith(".clone()")
        ? {
            fix: {
              grade: "unsafe" as const,
              title: "Copy to the host",
              edits: [
                { start: copied.end - ".clone()".length, end: copied.end, text: '.to("cpu", copy=True)' },
              ],
            },
          }
        : {}),
    };
  }
}

/** `for k, v in model.state_dict().items(): weights[k] = v.clone()`. */
function* clonedInLoops({ file }: Facts): Generator<Finding> {
  for (const call of file.callsNamed("clone")) {
    const { parent } = call;
    const [target] = parent?.kind === "Assign" && parent.value === call ? parent.targets : [];
    const loop = parent?.parent;
    if (target?.kind !== "Subscript" || loop?.kind !== "For" || loop.target.kind !== "Tuple") continue;
    const [key, weight] = loop.target.items;
    if (key?.kind !== "Name" || target.index.kind !== "Name" || target.index.id !== key.id) continue;
    if (weight?.kind !== "Name" || rootName(call) !== weight.id || /cpu/.test(file.textOf(call))) continue;
    const over = overState(loop.iter, file);
    if (!over.endsWith(".state_dict().items()") || /optim|sched|scaler/i.test(over)) continue;
    yield {
      at: call,
      severity: "note",
      message: "A second copy of every weight stays on the device; on the host it costs nothing there",
      fix: {
        grade: "unsafe",
        title: "Copy to the host",
        edits: [{ start: call.end - ".clone()".length, end: call.end, text: '.to("cpu", copy=True)' }],
      },
    };
  }
}

/** `v` of `v.detach().clone()` and of `v.data.clone()`. */
function rootName(expr: Expr): string | null {
  let at = expr;
  for (;;) {
    if (at.kind === "Name") return at.id;
    if (at.kind === "Attribute" && at.attr === "data") at = at.value;
    else if (
      at.kind === "Call" &&
      at.args.length === 0 &&
      at.func.kind === "Attribute" &&
      /^(?:clone|detach)$/.test(at.func.attr)
    )
      at = at.func.value;
    else return null;
  }
}

/** `model.state_dict().items()`, also of a state that has a name. */
function overState(iter: Expr, file: PythonFile): string {
  if (iter.kind !== "Call" || iter.func.kind !== "Attribute" || iter.func.value.kind !== "Name")
    return file.textOf(iter);
  const state = file.scopes.onlyValue(iter.func.value);
  return state?.kind === "Call" ? `${file.textOf(state)}.${iter.func.attr}()` : file.textOf(iter);
}
