import type { PythonFile } from "../../python/file.ts";
import type { Dict, Expr, Node } from "../../python/tree.ts";
import { isSelf } from "./classes.ts";
import { UNTOLD, holdsOptions } from "./options.ts";
import type { Default } from "./options.ts";
import type { FileSummary } from "./summary.ts";
import { isCapital } from "./torch-names.ts";

/** A part of a file that may run only where an option is this, or is not. */
interface Arm {
  readonly start: number;
  readonly end: number;
  /** What decides. */
  readonly by: Expr;
  readonly value: string;
  readonly holds: boolean;
  /** "+" where it has to be on, ">" and the like where it has to be more or less; "=" where nothing is said. */
  readonly mark?: string;
  /** "loss=lsgan", "loss!lsgan", "ema+", "ema-", "weight>0", or "" where no option decides; found when somebody asks. */
  when: string | null;
}

/** What every run sets anew, whatever option is called that; and what may be anybody's. */
const ANYBODYS =
  /^(?:is_)?(?:train|training|eval|evaluate|test|val|valid|mode|split|phase|stage|name|type|kind|key|which)$/;
/** Whoever trains asks for that: `if args.mode == "train":`. */
const TRAINING = /train|fit|learn|tun/i;

/** The name of an option: of `args.loss`, `config["loss"]`, `loss = args.loss`, and a parameter that is called like one. */
export function optionNamed(expr: Expr, file: PythonFile): string | null {
  if (expr.kind === "Attribute") return holdsOptions(expr.value) && !isSelf(expr.value) ? expr.attr : null;
  if (expr.kind === "Subscript")
    return expr.index.kind === "Str" && holdsOptions(expr.value) && !isSelf(expr.value)
      ? expr.index.value
      : null;
  if (expr.kind !== "Name") return null;
  const from = file.scopes.reaching(expr);
  if (from.length !== 1) return null;
  const { how, value, node } = from[0]!;
  if (how === "assign" && (value?.kind === "Attribute" || value?.kind === "Subscript"))
    return optionNamed(value, file);
  return how === "param" && node.kind === "Param" && node.star === 0 && !ANYBODYS.test(expr.id)
    ? expr.id
    : null;
}

/** `if args.loss == "lsgan":`, and tables by the choices of an option. Most files have none. */
export function armsOf(file: PythonFile): readonly Arm[] {
  const arms: Arm[] = [];
  const put = (node: { start: number; end: number }, by: Expr, value: string, holds: boolean): void => {
    arms.push({ start: node.start, end: node.end, by, value, holds, when: null });
  };
  for (const { test, body, orelse } of file.all("If")) {
    for (const one of switched(test)) {
      arms.push({ ...span(body), ...one, value: one.value, when: null });
      if (orelse.length > 0 && one.by === test)
        arms.push({ ...span(orelse), ...one, holds: false, when: null });
    }
    if (test.kind !== "Compare" || test.ops.length !== 1 || test.ops[0] !== "==") continue;
    const [right] = test.rights;
    if (right?.kind !== "Str" || !right.value || !mayBeOption(test.left)) continue;
    put(span(body), test.left, right.value, true);
    if (orelse.length > 0) put(span(orelse), test.left, right.value, false);
  }
  for (const table of file.all("Dict")) {
    const { keys, values } = table;
    if (keys.length < 2 || keys[0]?.kind !== "Str" || !isClass(values[0]!)) continue;
    const by = chosenBy(table, file);
    if (by && mayBeOption(by))
      for (const [at, key] of keys.entries())
        if (key?.kind === "Str" && key.value) put(values[at]!, by, key.value, true);
  }
  return arms;
}

/** `args.ema` and `args.weight > 0` of a test that holds only where they do. */
function switched(test: Expr): readonly Pick<Arm, "by" | "value" | "holds" | "mark">[] {
  if (test.kind === "Bool") return test.op === "and" ? test.values.flatMap(switched) : [];
  if (test.kind === "Attribute")
    return isSwitch(test) ? [{ by: test, value: "", holds: true, mark: "+" }] : [];
  const [right, ...more] = test.kind === "Compare" ? test.rights : [];
  if (test.kind !== "Compare" || right?.kind !== "Num" || more.length > 0) return [];
  const [op] = test.ops;
  return isSwitch(test.left) && (op === ">" || op === ">=")
    ? [{ by: test.left, value: right.text, holds: true, mark: op }]
    : [];
}

const isSwitch = (expr: Expr): boolean =>
  expr.kind === "Attribute" &&
  !isSelf(expr.value) &&
  holdsOptions(expr.value) &&
  !ANYBODYS.test(expr.attr) &&
  !TRAINING.test(expr.attr);

/** Before anybody asks where a name comes from. */
const mayBeOption = (expr: Expr): boolean =>
  expr.kind === "Name" || (expr.kind === "Attribute" && !isSelf(expr.value));

/** As classes are written: `Encoder`, `nets.Encoder`. */
function isClass(expr: Expr): boolean {
  const name = expr.kind === "Name" ? expr.id : expr.kind === "Attribute" ? expr.attr : "";
  return isCapital(name);
}

function whenOf(arm: Arm, file: PythonFile): string {
  if (arm.when === null) {
    const { by, value, holds, mark } = arm;
    if (mark !== undefined) {
      const option = optionNamed(by, file);
      arm.when = option === null || (!holds && mark !== "+") ? "" : `${option}${holds ? mark : "-"}${value}`;
      return arm.when;
    }
    const isKnown = !TRAINING.test(value) && !(holds && isByDefault(by, value, file));
    const option = isKnown ? optionNamed(by, file) : null;
    arm.when = option === null ? "" : `${option}${holds ? "=" : "!"}${value}`;
  }
  return arm.when;
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
  // What stands in a class is asked of its instances, by whoever has one.
  if (direct || table.parent?.kind !== "Assign" || table.parent.parent?.kind === "ClassDef") return direct;
  const [target, ...more] = table.parent.targets;
  // Looking for its uses takes long: first, whether the text has one.
  if (target?.kind !== "Name" || more.length > 0 || !file.text.includes(`${target.id}[`)) return null;
  const definition = file.scopes.definitionAt(target);
  const uses = definition ? file.scopes.uses(definition) : [];
  const indices = uses.map(indexOf);
  const [first] = indices;
  return first && indices.every((one) => one !== null && file.textOf(one) === file.textOf(first))
    ? first
    : null;
}

/** When a node runs: "loss=lsgan&size!small"; "" where no choice decides. */
export function whenRun({ start }: Node, arms: readonly Arm[], file: PythonFile): string {
  let when = "";
  for (const arm of arms) {
    if (start < arm.start || arm.end <= start) continue;
    const one = whenOf(arm, file);
    if (one !== "") when += when === "" ? one : `&${one}`;
  }
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

/** Off where it has to be on, or no more than it has to be more than. */
function isOtherwise(given: Default, mark: string, value: number): boolean {
  if (mark === "+") return given === null || given === false || given === 0;
  if (mark === "-") return given === true;
  return typeof given === "number" && !(mark === ">" ? given > value : given >= value);
}

/** The option that has to be another one than by default for something to be so; null where it may be so. */
export function otherOption(when: string, choices: Choices): string | null {
  for (const one of when === "" ? [] : when.split("&")) {
    const [, option, mark, value] = /^(\w+)([=!+-]|>=?)(.*)$/.exec(one) ?? [];
    const known = choices.get(option ?? "");
    if (known && mark !== "=" && mark !== "!") {
      if ([...known].every((given) => isOtherwise(given, mark!, Number(value)))) return option!;
      continue;
    }
    if (!known || ![...known].every((given) => typeof given === "string" && given !== "" && given !== UNTOLD))
      continue;
    if (mark === "=" ? !known.has(value!) : known.size === 1 && known.has(value!)) return option!;
  }
  return null;
}
