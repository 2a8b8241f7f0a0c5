import { contains, functionOf, namesIn, walk } from "../../python/nodes.ts";
import type { PythonFile } from "../../python/file.ts";
import type { Call, FunctionDef } from "../../python/tree.ts";
import { selfAttribute } from "./classes.ts";
import type { Facts } from "./facts.ts";
import { isSetting } from "./own-settings.ts";
import { callTarget } from "./summary.ts";
import { TABLES, isOfGiven, isOfSettings, isPlace } from "./position-tables.ts";

/** Which functions make a table, by what they do or by their names, of what they make it, and which methods hand out what these make. */

/** What others call a function of theirs that makes one. */
export const TABLE_MAKERS =
  /^(?:precompute|compute|build|make|create|generate|get|set)_\w*(?:freqs?(?:_cis)?|rope|rotary\w*|sinusoid\w*|sincos\w*|alibi\w*|filter_?bank|fbanks?|mel_basis|window|grids?|anchors|priors|position(?:al)?_(?:encodings?|table))$/i;

/** Functions of this file that make a table: at the top of it, or methods that are given all they make it of. */
export function tableMakers(file: PythonFile): ReadonlySet<FunctionDef> {
  const makers = new Set<FunctionDef>();
  for (const call of file.callsNamed(...TABLES)) {
    const fn = functionOf(call);
    if (
      fn?.kind === "FunctionDef" &&
      (fn.parent?.kind === "Module" || isOfGiven(fn)) &&
      !/cache/.test(fn.decorators.map((one) => file.textOf(one)).join(" ")) &&
      /^(?:torch|numpy)\.\w+$/.test(file.dotted(call.func) ?? "")
    )
      makers.add(fn);
  }
  return makers;
}

/** By their qualified names methods that ask for settings alone and hand out the table that one of these makes. */
export function handingMethods(
  makers: ReadonlyMap<string, FunctionDef>,
  imported: readonly Call[],
  facts: Facts,
): ReadonlyMap<string, FunctionDef> {
  const { file } = facts;
  const handing = new Map<string, FunctionDef>();
  const asked = new Set<FunctionDef>();
  for (const call of [
    ...file.callsNamed(...new Set([...makers.values()].map(({ name }) => name))),
    ...imported,
  ]) {
    const method = functionOf(call);
    if (method?.kind !== "FunctionDef" || asked.has(method)) continue;
    const name = selfAttribute(call.func) === null ? file.dotted(call.func) : callTarget(call, file);
    const known = makers.has(name ?? "") || imported.includes(call);
    // Where the maker is plainly given settings, that call is told of.
    if (!known || call.args.every(({ value }) => isPlace(value) || isSetting(value, facts))) continue;
    asked.add(method);
    if (isOfSettings(method, facts) && isReturned(call, method) && method.decorators.length === 0)
      handing.set(file.qualified(method), method);
  }
  return handing;
}

/** `create_window(size, channels)` of this file, by its name; one that keeps what it makes may have it already. */
export function namedMaker(
  call: Call,
  name: string | null,
  imported: readonly Call[],
  file: PythonFile,
): FunctionDef | undefined {
  const fn = imported.includes(call) ? file.functionNamed(name) : null;
  return fn?.kind === "FunctionDef" &&
    fn.parent?.kind === "Module" &&
    fn.decorators.length === 0 &&
    !/cache|rand|\bglobal\b/i.test(file.codeOf(fn).replaceAll(fn.name, ""))
    ? fn
    : undefined;
}

/** `def betas(steps): return torch.linspace(1e-4, 0.02, steps)`, also by way of sines or of products: no count of a batch. */
export function isSchedule(maker: FunctionDef, file: PythonFile): boolean {
  return file
    .callsNamed("linspace", "logspace", "cumprod", "cos", "sin", "hann_window", "hamming_window")
    .some((call) => contains(maker, call));
}

/** `def schedule():`, `def schedule(steps=1000):`, which makes it of what is written down. */
export function isOfConstants({ params, parent }: FunctionDef): boolean {
  return (
    parent?.kind === "Module" &&
    params.every((param) => param.default?.kind === "Num" || /^(?:device|dtype)$/.test(param.name))
  );
}

/** `return build(…)`, or of the name that it is given first. */
function isReturned(call: Call, method: FunctionDef): boolean {
  const [target] = call.parent?.kind === "Assign" ? call.parent.targets : [];
  const names = new Set(target ? namesIn(target).map(({ id }) => id) : []);
  let returned = false;
  for (const statement of method.body)
    walk(statement, (node) => {
      if (node.kind === "Return" && node.value)
        returned ||= contains(node, call) || namesIn(node.value).some(({ id }) => names.has(id));
      return !returned;
    });
  return returned;
}
