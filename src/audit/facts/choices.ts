import type { PythonFile } from "../../python/file.ts";
import type { Dict, Expr, Node } from "../../python/tree.ts";
import { isSelf } from "./classes.ts";
import { UNTOLD, holdsOptions } from "./options.ts";
import type { Default } from "./options.ts";
import type { FileSummary } from "./summary.ts";

/** A part of a file that runs only where an option is this ("loss=lsgan"), or is not ("loss!lsgan"). */
interface Arm {
  readonly start: number;
  readonly end: number;
  readonly when: string;
}

/** What every run sets anew, whatever option is called that; and what may be anybody's. */
const ANYBODYS =
  /^(?:is_)?(?:train|training|eval|evaluate|test|val|valid|mode|split|phase|stage|name|type|kind|key|which)$/;
/** Whoever trains asks for that: `if args.mode == "train":`. */
const TRAINING = /train|fit|learn|tun/i;

/** The name of an option: of `args.loss`, of `loss = args.loss`, and of a parameter that is called like one. */
export function optionNamed(expr: Expr, file: PythonFile): string | null {
  if (expr.kind === "Attribute") return holdsOptions(expr.value) && !isSelf(expr.value) ? expr.attr : null;
  if (expr.kind !== "Name") return null;
  const from = file.scopes.reaching(expr);
  if (from.length !== 1) return null;
  const { how, value, node } = from[0]!;
  if (how === "assign" && value?.kind === "Attribute") return optionNamed(value, file);
  return how === "param" && node.kind === "Param" && node.star === 0 && !ANYBODYS.test(expr.id)
    ? expr.id
    : null;
}

/** `if args.loss == "lsgan":`, and tables by the choices of an option. Most files have none. */
export function armsOf(file: PythonFile): readonly Arm[] {
  const arms: Arm[] = [];
  for (const at of file.all("If")) {
    const { test, body, orelse } = at;
    if (test.kind !== "Compare" || test.ops.length !== 1 || test.ops[0] !== "==") continue;
    const [right] = test.rights;
    if (right?.kind !== "Str" || !right.value || TRAINING.test(right.value)) continue;
    const option = optionNamed(test.left, file);
    if (option === null) continue;
    if (!isByDefault(test.left, right.value, file))
      arms.push({ ...span(body), when: `${option}=${right.value}` });
    if (orelse.length > 0) arms.push({ ...span(orelse), when: `${option}!${right.value}` });
  }
  for (const table of file.all("Dict")) {
    if (table.values[0]?.kind !== "Name" && table.values[0]?.kind !== "Attribute") continue;
    const chosen = table.keys.length > 1 ? chosenBy(table, file) : null;
    const option = chosen && optionNamed(chosen, file);
    if (!option) continue;
    for (const [at, key] of table.keys.entries())
      if (key?.kind === "Str" && key.value && !isByDefault(chosen, key.value, file)) {
        const { start, end } = table.values[at]!;
        arms.push({ start, end, when: `${option}=${key.value}` });
      }
  }
  return arms;
}

const span = (block: readonly Node[]): { start: number; end: number } => ({
  start: block[0]!.start,
  end: block.at(-1)!.end,
});

/** The choice that a parameter's own default makes. */
function isByDefault(name: Expr, value: string, file: PythonFile): boolean {
  const [one] = name.kind === "Name" ? file.scopes.reaching(name) : [];
  const given = one?.node.kind === "Param" ? one.node.default : null;
  return given?.kind === "Str" && given.value === value;
}

/** `args.model` of `{"a": A, "b": B}[args.model]`, also where the table has a name that nothing else is done with. */
function chosenBy(table: Dict, file: PythonFile): Expr | null {
  const indexOf = (use: Expr): Expr | null =>
    use.parent?.kind === "Subscript" && use.parent.value === use ? use.parent.index : null;
  const direct = indexOf(table);
  if (direct || table.parent?.kind !== "Assign") return direct;
  const [target, ...more] = table.parent.targets;
  const definition = target?.kind === "Name" && more.length === 0 ? file.scopes.definitionAt(target) : null;
  const uses = definition ? file.scopes.uses(definition) : [];
  const indices = uses.map(indexOf);
  const [first] = indices;
  return first && indices.every((one) => one !== null && file.textOf(one) === file.textOf(first))
    ? first
    : null;
}

/** When a node runs: "loss=lsgan&size!small"; "" where no choice decides. */
export function whenRun({ start }: Node, arms: readonly Arm[]): string {
  let when = "";
  for (const arm of arms)
    if (arm.start <= start && start < arm.end) when += when === "" ? arm.when : `&${arm.when}`;
  return when;
}

/** What an option may be unless somebody says otherwise, over all programs of a tree. */
type Choices = ReadonlyMap<string, ReadonlySet<Default>>;

export function choicesOf(summaries: readonly FileSummary[]): Choices {
  const found = new Map<string, Set<Default>>();
  for (const { options } of summaries)
    for (const [name, value] of Object.entries(options ?? {})) {
      const known = found.get(name);
      if (known) known.add(value);
      else found.set(name, new Set([value]));
    }
  return found;
}

/** The option that has to be another one than by default for something to be so; null where it may be so. */
export function otherOption(when: string, choices: Choices): string | null {
  for (const one of when === "" ? [] : when.split("&")) {
    const [, option, mark, value] = /^(\w+)([=!])(.*)$/.exec(one) ?? [];
    const known = choices.get(option ?? "");
    if (!known || ![...known].every((given) => typeof given === "string" && given !== "" && given !== UNTOLD))
      continue;
    if (mark === "=" ? !known.has(value!) : known.size === 1 && known.has(value!)) return option!;
  }
  return null;
}
