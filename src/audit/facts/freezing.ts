import type { PythonFile } from "../../python/file.ts";
import type { ClassDef } from "../../python/tree.ts";
import type { Facts } from "./facts.ts";

/** The file without its other classes, which freeze what is theirs, and without what is switched on; or without the class too. */
export function besideOthers(cls: ClassDef, { file }: Facts, withItself = true): string {
  let text = "";
  let from = 0;
  for (const other of file.tree.module.body)
    if (other.kind === "ClassDef" && (other === cls ? !withItself : !file.textOf(other).includes(cls.name))) {
      text += file.code.slice(from, other.start);
      from = other.end;
    }
  return (text + file.code.slice(from)).replaceAll(/requires_grad_?(?:\s*=\s*True|\(\s*(?:True)?\s*\))/g, "");
}

/** Handed to something that may freeze it: `freeze(vgg)`, an optimizer, a wrapper. */
export function namedIn(name: string, facts: Facts): boolean {
  const escaped = name.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
  return new RegExp(
    `\\b${escaped}\\.(?:requires_grad_|parameters|named_parameters|\\w*freeze\\w*)\\(|(?:freeze|requires_grad)\\w*\\([^()\\n]*(?<![\\w.])${escaped}\\b`,
  ).test(facts.file.code);
}

/** `for net in (vae, encoder): net.requires_grad_(False)`, or of a list of them that has a name. */
export function isFrozenInTurn(name: string, { file }: Facts): boolean {
  return file.all("For").some(({ iter, body }) => {
    const all = (iter.kind === "Name" ? file.scopes.onlyValue(iter) : null) ?? iter;
    const listed = all.kind === "Tuple" || all.kind === "List" ? all.items : [];
    return (
      listed.some((item) => file.textOf(item) === name) &&
      body.some((statement) => /requires_grad|freeze/.test(file.textOf(statement)))
    );
  });
}

/** Switched off, or by a flag: to switch on is no freezing. */
export const FREEZES =
  /toggle_(?:optimizer|grad)|freeze|requires_grad_?\((?!\s*(?:True)?\s*\))|requires_grad\s*=\s*(?!\s*True)/;

/** What is switched off, put under adapters, or taken in later: who does so has thought of it. To ask who requires gradients switches nothing off. */
const SWITCHES = /requires_grad_\(|requires_grad\s*=(?!=)|freeze|\bfrozen\w*\s*=|add_param_group|peft|lora/i;

const IMPORTS = /^[ \t]*(?:from[ \t]+\S+[ \t]+)?import[ \t]+(?:\([^)]*\)|[^\n]*)/gm;

/** Whether a file does any of that; `from tools import freeze`, of what nobody calls, freezes nothing. */
export function switches(file: PythonFile): boolean {
  return file.says(SWITCHES) && (file.says(/peft|lora/i) || SWITCHES.test(file.code.replaceAll(IMPORTS, "")));
}

/** `Variable(torch.ones(8, 1), requires_grad=False)` is about data. */
const DATA =
  /\b(?:Variable|\w*Tensor|tensor|zeros|ones|full|(?:zeros|ones|full)_like|randn?)\([^\n]*?requires_grad\s*=\s*False/g;

/** `for p in self.net_d.parameters(): p.requires_grad = False`, also of a list of them. */
const OVER_PARAMETERS =
  /\bfor\s+(\w+)\s+in\s+(?:list\(\s*)?([\w.]+)\.parameters\(\)\s*\)?\s*:\s*\1\.requires_grad(?:\s*=\s*(\w+)|_\(\s*(\w*)\s*\))/g;

/** Of two networks that take turns, freezing the other one does nothing for this. */
export function freezes(code: string, network: string): boolean {
  if (!FREEZES.test(code)) return false;
  const others = code
    .replaceAll(DATA, "")
    .replaceAll(OVER_PARAMETERS, (all, _each, of, flag, given) =>
      !isOfSame(of, network) || (flag ?? (given || "True")) === "True" ? "" : all,
    )
    .replaceAll(
      /(?:requires|toggle)_grad\w*\(\s*([\w.]+)\s*,\s*(?:\w+\s*=\s*)?(\w+)\s*\)/g,
      (all, of, flag) => (of !== network || flag === "True" ? "" : all),
    )
    .replaceAll(/([\w.]+)\.requires_grad_\(\s*(\w*)\s*\)/g, (all, of, flag) =>
      of !== network || flag === "True" ? "" : all,
    );
  return FREEZES.test(others);
}

/** One is the other, or a part of it: `net.body` of `net`. */
function isOfSame(one: string, other: string): boolean {
  return one === other || one.startsWith(`${other}.`) || other.startsWith(`${one}.`);
}
