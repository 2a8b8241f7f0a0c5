import { contains, statementOf, walk } from "../../python/nodes.ts";
import type { Call, Expr } from "../../python/tree.ts";
import { indentAt } from "../edits.ts";
import type { Facts } from "../facts/facts.ts";
import { isNetwork } from "../facts/networks.ts";
import { localName } from "../imports.ts";
import type { Fix, Rule } from "../rule.ts";

export const rule: Rule = {
  meta: {
    code: "PLM020",
    name: "teacher-records-gradients",
    summary: "A network that is never trained runs in the step with gradients recorded",
    severity: "warning",
    fix: "unsafe",
    patterns: [20],
  },
  *check(facts) {
    if (facts.backwards.length === 0) return;
    const { file } = facts;
    for (const call of file.all("Call")) {
      const loop = facts.stepLoop(call);
      if (
        !loop ||
        call.func.kind !== "Name" ||
        facts.gradMode(call) === "off" ||
        !isNetwork(call.func, facts)
      )
        continue;
      if (!isNeverTrained(call.func.id, call, facts) || !takesData(call, loop, facts)) continue;
      const fix = wrap(call, facts);
      yield {
        at: call,
        message: `\`${call.func.id}\` is in eval mode and no optimizer has its parameters, yet its graph and activations are kept for backward, which then computes gradients for it`,
        ...(fix ? { fix } : {}),
      };
    }
  },
};

/** Only ever in eval mode, not frozen by flags (those record nothing), and in no optimizer. */
function isNeverTrained(id: string, call: Call, facts: Facts): boolean {
  const { file } = facts;
  const scope = file.scopes.lookup(call.func as Expr & { kind: "Name" });
  const mentions = file
    .all("Attribute")
    .filter(
      (node) =>
        node.value.kind === "Name" &&
        node.value.id === id &&
        file.scopes.lookup(node.value)?.definitions === scope?.definitions,
    );
  const uses = new Set(mentions.map((node) => node.attr));
  if (
    !uses.has("eval") ||
    ["train", "parameters", "named_parameters", "requires_grad_", "zero_grad", "state_dict"].some((attr) =>
      uses.has(attr),
    )
  )
    return false;
  // Handed as a whole to something that may freeze, wrap or train it.
  return !file
    .all("Name")
    .some(
      (name) =>
        name.id === id &&
        name.parent?.kind === "Arg" &&
        file.scopes.lookup(name)?.definitions === scope?.definitions,
    );
}

/** Its inputs are the batch itself: nothing that gradients must pass through. */
function takesData(call: Call, loop: { start: number; end: number }, facts: Facts): boolean {
  let data = call.args.length > 0;
  for (const arg of call.args)
    walk(arg.value, (node) => {
      if (
        node.kind === "Call" &&
        !(node.func.kind === "Attribute" && /^(?:to|cuda|detach|long|float)$/.test(node.func.attr))
      )
        data = false;
      if (
        node.kind === "Name" &&
        !facts.file.scopes.binds(node) &&
        !(node.parent?.kind === "Arg" && node.parent.parent !== call)
      ) {
        for (const one of facts.file.scopes.reaching(node))
          if (
            one.how !== "iterate" &&
            !(
              one.value?.kind === "Call" &&
              one.value.func.kind === "Attribute" &&
              /^(?:to|cuda)$/.test(one.value.func.attr)
            ) &&
            contains(loop as never, one.node)
          )
            data = false;
      }
    });
  return data;
}

function wrap(call: Call, facts: Facts): Fix | null {
  const { file } = facts;
  const statement = statementOf(call);
  if (statement?.kind !== "Assign" || statement.value !== call || file.textOf(statement).includes("\n"))
    return null;
  const indent = indentAt(file, statement.start);
  if (file.text.slice(file.lines.start(file.lines.line(statement.start)), statement.start) !== indent)
    return null;
  const torch = localName(file, "torch");
  const ending = file.text.includes("\r\n") ? "\r\n" : "\n";
  return {
    grade: "unsafe",
    title: "Run it under no_grad",
    edits: [
      {
        start: statement.start,
        end: statement.start,
        text: `with ${torch ?? "torch"}.no_grad():${ending}${indent}    `,
      },
    ],
    ...(torch === null ? { imports: ["import torch"] } : {}),
  };
}
