import { isTrue } from "../../python/file.ts";
import type { PythonFile } from "../../python/file.ts";
import { ancestors, contains, functionOf } from "../../python/nodes.ts";
import type { Comp, Expr, If, Node } from "../../python/tree.ts";
import type { Facts } from "./facts.ts";
import { switches } from "./freezing.ts";
import { torchOptimizers } from "./optimised.ts";

/** Where some parameters of a network are chosen, by their names, to learn, and nothing here freezes the others. */
export interface Chosen {
  readonly at: Node;
  readonly network: string;
}

/** `AdamW([p for n, p in net.named_parameters() if "backbone" not in n])`: the rest is only left out, and nothing here freezes it. */
export function* chosenByName(facts: Facts): Generator<Chosen> {
  const { file } = facts;
  // Who switches anything off, or takes some more in later, has thought of it; adapters freeze what they are put on.
  if (file.callsNamed("named_parameters").length === 0 || switches(file)) return;
  const made = torchOptimizers(file);
  const [optimizer, ...more] = made;
  const given = more.length === 0 ? optimizer?.args[0]?.value : undefined;
  const chosen = given?.kind === "Name" ? file.scopes.onlyValue(given) : given;
  const net = chosen?.kind === "Comp" ? chosenFrom(chosen, file) : null;
  // Chosen from once more, perhaps for the rest.
  if (!chosen || !net || file.callsNamed("named_parameters").length > 1) return;
  yield { at: chosen, network: file.textOf(net) };
}

/** What only some of the parameters are for. */
const ADAPTS = /lora|adapter|\bonly\b|_only|only_/i;

/**
 * `if "lora" in name: p.requires_grad = True` for the parameters of a network, of which nothing here is ever switched off: they all
 * require gradients from the start.
 */
export function* switchedOnOnly({ file }: Facts): Generator<Chosen> {
  // A layer that switches its own adapters off does nothing for the rest.
  const switched = file
    .assignsTo("requires_grad")
    .filter((one) => !/^self\.\w*lora\w*\./i.test(file.textOf(one.targets[0]!)));
  if (switched.length === 0 || !switched.every(({ value }) => isTrue(value))) return;
  if (file.says(/peft|loralib|freeze|frozen/i)) return;
  if (file.callsNamed("requires_grad_").length > 0) return;
  for (const statement of switched) {
    const fn = functionOf(statement);
    const branch = statement.parent?.kind === "If" ? statement.parent : null;
    const loop = branch?.parent?.kind === "For" ? branch.parent : null;
    if (fn?.kind !== "FunctionDef" || !branch || branch.orelse.length > 0 || !loop) continue;
    const iter = loop.iter.kind === "Call" ? loop.iter.func : null;
    if (iter?.kind !== "Attribute" || iter.attr !== "named_parameters") continue;
    if (ADAPTS.test(`${fn.name} ${file.textOf(branch.test)}`))
      yield { at: statement, network: file.textOf(iter.value) };
  }
}

/** What is copied or averaged from the rest gets no gradients, or is in no graph. */
const NOT_DIFFERENTIATED = /teacher|\bema\b|ema_|momentum|target|adapter|prompt/i;

/** `net` of `[p for n, p in net.named_parameters() if "head" in n]`, chosen by nothing but the name. */
function chosenFrom({ clauses: [clause, ...more], element, value }: Comp, file: PythonFile): Expr | null {
  if (!clause || more.length > 0 || value !== null || clause.target.kind !== "Tuple") return null;
  const [name, parameter] = clause.target.items;
  const { iter, tests } = clause;
  if (name?.kind !== "Name" || !parameter || file.textOf(element) !== file.textOf(parameter)) return null;
  if (iter.kind !== "Call" || iter.func.kind !== "Attribute" || iter.func.attr !== "named_parameters")
    return null;
  const asked = tests.map((test) => file.textOf(test));
  const byName = asked.length > 0 && asked.every((text) => new RegExp(`\\b${name.id}\\b`).test(text));
  return byName && !asked.some((text) => NOT_DIFFERENTIATED.test(text)) ? iter.func.value : null;
}

/**
 * `for name, p in net.named_parameters():` with `if name.startswith("stem."): continue`, and the others go into a list for an
 * optimizer: what is passed over by its name is only left out, and nothing here freezes it.
 */
export function* passedOver(facts: Facts): Generator<Chosen> {
  const { file } = facts;
  const [asked, ...more] = file.callsNamed("named_parameters");
  // Gone through once more, perhaps for the rest.
  if (asked?.func.kind !== "Attribute" || more.length > 0) return;
  if (switches(file)) return;
  const loop = ancestors(asked).find((at) => at.kind === "For" && contains(at.iter, asked));
  if (loop?.kind !== "For" || loop.target.kind !== "Tuple") return;
  const [name, parameter] = loop.target.items;
  if (name?.kind !== "Name" || parameter?.kind !== "Name" || !isOptimisedList(loop, parameter.id, facts))
    return;
  const skip = loop.body.find((one) => one.kind === "If" && passesOver(one, name.id, parameter.id, file));
  if (skip?.kind !== "If" || NOT_DIFFERENTIATED.test(file.textOf(skip.test))) return;
  // `if name in seen: continue`
  if (new RegExp(`\\.(?:add|append)\\(\\s*${name.id}\\s*\\)`).test(file.codeOf(loop))) return;
  yield { at: skip.test, network: file.textOf(asked.func.value) };
}

/** Asks for the name alone; one of its branches takes the parameter, or leaves that to what follows, and the other has no use for it. */
function passesOver({ test, body, orelse }: If, name: string, parameter: string, file: PythonFile): boolean {
  const speaksOf = (nodes: readonly Node[], word: string): boolean =>
    nodes.some((node) => new RegExp(`\\b${word}\\b`).test(file.textOf(node)));
  if (!speaksOf([test], name) || speaksOf([test], parameter)) return false;
  if (speaksOf(body, parameter)) return orelse.length === 0 && isLastUse(body, parameter, file);
  return body[body.length - 1]?.kind === "Continue" && orelse.length === 0;
}

/** Below these statements, nothing of the loop speaks of the parameter again. */
function isLastUse(body: readonly Node[], parameter: string, file: PythonFile): boolean {
  const branch = body[0]!.parent;
  const loop = branch?.parent;
  return (
    branch !== null &&
    branch !== undefined &&
    loop?.kind === "For" &&
    loop.body.every((one) => one === branch || !new RegExp(`\\b${parameter}\\b`).test(file.textOf(one)))
  );
}

/** What the loop puts into a list, `params.append(p)` or `params += [{"params": [p]}]`, is what each optimizer of the file gets. */
function isOptimisedList(loop: Node, parameter: string, { file }: Facts): boolean {
  const puts = new RegExp(`\\b(\\w+)(?:\\.(?:append|extend)\\(|\\s*\\+=)[^\\n]*\\b${parameter}\\b`, "g");
  const lists = [...file.codeOf(loop).matchAll(puts)].map(([, list]) => new RegExp(`\\b${list}\\b`));
  const made = torchOptimizers(file);
  // Of another function, or of other parameters, one may have the rest.
  return (
    made.length > 0 &&
    made.every(
      (call) =>
        functionOf(call) === functionOf(loop) &&
        call.start > loop.end &&
        lists.some((list) => list.test(file.textOf(call))),
    )
  );
}
