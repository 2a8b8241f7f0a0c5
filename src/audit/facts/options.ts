import { isNone, isTrue, keyword, positional } from "../../python/file.ts";
import type { PythonFile } from "../../python/file.ts";
import type { Call, Expr, Node } from "../../python/tree.ts";
import { isSelf } from "./classes.ts";

/** What an option is unless somebody says otherwise: None, a truth, a number, or a short text. */
export type Default = number | boolean | null | string;

/** Stands for what nobody can tell: no option is that by default. */
export const UNTOLD = "\0";

/** `args`, `cfg.train`, `self.opt`: what holds the options of a run. */
const HOLDERS =
  /^(?:args?|opts?|options|cfg|conf|configs?|hparams|flags|FLAGS|params|settings|hps?|\w+_(?:args|cfg|config))$/;

export function holdsOptions(expr: Expr): boolean {
  if (isSelf(expr)) return true;
  if (expr.kind === "Name") return HOLDERS.test(expr.id);
  // `config.logging.use_wandb`, but not `self.model.training`.
  return (
    expr.kind === "Attribute" &&
    (HOLDERS.test(expr.attr) || (!isSelf(expr.value) && holdsOptions(expr.value)))
  );
}

/** "cpu", "0,1", "regression": what is longer is a path or a sentence. */
const LONGEST_TEXT = 24;

/** By name. */
export type Options = ReadonlyMap<string, Default>;

/** What a file tells the others of its options. */
export function sharedOptions(file: PythonFile): Readonly<Record<string, Default>> | undefined {
  const own = [...file.once(said)];
  return own.length === 0
    ? undefined
    : Object.fromEntries(own.map(([name, value]) => [name, value === undefined ? UNTOLD : value]));
}

/** Of all files: what they agree on. */
export function joinedOptions(files: Iterable<Readonly<Record<string, Default>> | undefined>): Options {
  const found = new Map<string, Default>();
  for (const options of files)
    for (const [name, value] of Object.entries(options ?? {}))
      found.set(name, found.has(name) && found.get(name) !== value ? UNTOLD : value);
  for (const [name, value] of found) if (value === UNTOLD) found.delete(name);
  return found;
}

const LOOK_UPS = /^get(?:_\w+)?$/;

/** Its own, and as "self.…" what an object looks up when it is made. */
export function defaults(file: PythonFile): Options {
  const found = new Map(file.once(said));
  for (const call of file.calls.matching(LOOK_UPS)) {
    const target = call.parent?.kind === "Assign" ? call.parent.targets[0] : null;
    // `self.weight = config.get("weight", 0)`
    if (target?.kind !== "Attribute" || !isSelf(target.value) || positional(call, 0)?.kind !== "Str")
      continue;
    const given = positional(call, 1);
    put(found, `self.${target.attr}`, given ? literal(given) : undefined);
  }
  return new Map([...found].flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])));
}

/** Said twice, it may be either. */
function put(found: Map<string, Default | undefined>, name: string, value: Default | undefined): void {
  found.set(name, found.has(name) && found.get(name) !== value ? undefined : value);
}

/** What keeps the settings of a run by name, as it is given them: `HParams(epochs=500, seed=1)`. */
const KEEPERS = [
  "HParams",
  "ConfigDict",
  "CfgNode",
  "EasyDict",
  "edict",
  "AttrDict",
  "AttributeDict",
  "Munch",
];

/** What keeps anything by name, the settings of a run where it is called so: `config = SimpleNamespace(epochs=3)`. */
const NAMESPACES = ["SimpleNamespace", "Namespace"];

/** Files whose own names are the settings of a run. */
const SETTINGS_FILES =
  /(?:^|\.)(?:config|configs|configuration|cfg|hparams?|hyper_?params?|hyper_?parameters|settings)$/;

/** By name, what its options are by default; undefined of one that is none of those. */
export function said(file: PythonFile): ReadonlyMap<string, Default | undefined> {
  const found = new Map<string, Default | undefined>();
  for (const call of file.callsNamed("add_argument")) {
    const name = optionName(call);
    if (name !== null) put(found, name, parsedDefault(call));
  }
  // `cudnn_benchmark = True` in `config/hparams.py`, and `hparams.cudnn_benchmark` elsewhere.
  if (SETTINGS_FILES.test(file.module))
    for (const one of file.tree.module.body)
      if (one.kind === "Assign" && one.targets[0]?.kind === "Name" && one.value.kind === "Const")
        put(found, one.targets[0].id, literal(one.value));
  for (const call of file.callsNamed("set_defaults"))
    // It has the last word, whatever the arguments say.
    for (const arg of call.args) if (arg.name !== null) found.set(arg.name, literal(arg.value));
  const named = file.callsNamed(...NAMESPACES).filter(({ parent }) => {
    const target = parent?.kind === "Assign" ? parent.targets[0] : undefined;
    return target !== undefined && holdsOptions(target);
  });
  for (const call of [...file.callsNamed(...KEEPERS), ...named])
    for (const { name, value } of call.args) if (name !== null) put(found, name, literal(value));
  // `config = ConfigDict()`, and `config.nesterov = True` below, in the same function.
  for (const call of file.callsNamed(...KEEPERS)) {
    const [target] = call.parent?.kind === "Assign" ? call.parent.targets : [];
    if (target?.kind !== "Name" || call.args.length > 0) continue;
    const kept = file.scopes.definitionAt(target);
    const isOfFiles = /(?:^|\.)CfgNode$/.test(file.dotted(call.func) ?? "");
    for (const use of kept ? file.scopes.uses(kept) : []) {
      let set = use.parent?.kind === "Attribute" ? use.parent : null;
      // `config.data.workers = 4`
      while (set?.parent?.kind === "Attribute") set = set.parent;
      if (set?.parent?.kind !== "Assign" || set.parent.targets[0] !== set || !isUntested(set.parent))
        continue;
      const value = literal(set.parent.value);
      // What a file of settings chooses from, `cfg.optim = "adam"`, is another for each run that a CfgNode is made for.
      if (!(isOfFiles && typeof value === "string")) put(found, set.attr, value);
    }
  }
  for (const cls of file.all("ClassDef")) {
    const holds =
      /(?:Config|Args|Arguments|Options|Settings)$/.test(cls.name) ||
      cls.decorators.some((one) => file.textOf(one).includes("dataclass"));
    if (!holds) continue;
    for (const one of cls.body) {
      if (one.kind === "Assign" && one.annotation && one.targets[0]?.kind === "Name")
        put(found, one.targets[0].id, literal(one.value));
      // `def __init__(self, prefix_length=None, …)` of a configuration.
      if (one.kind === "FunctionDef" && one.name === "__init__")
        for (const { name, default: given } of one.params) if (given) put(found, name, literal(given));
    }
  }
  // `{"learning_rate": 3e-5, "dataloader_num_workers": 8}`, of which a Trainer's settings are made wherever they are.
  if (file.mentions(OF_TRAINER))
    for (const { keys, values } of file.all("Dict"))
      for (const [at, key] of keys.entries())
        if (key?.kind === "Str" && key.value === OF_TRAINER && values[at])
          put(found, OF_TRAINER, literal(values[at]));
  return found;
}

const isUntested = ({ parent }: Node): boolean => parent?.kind === "FunctionDef" || parent?.kind === "Module";

/** A word of transformers alone. */
const OF_TRAINER = "dataloader_num_workers";

/** `add_argument("-n", "--n-iters", dest=…)`; null for what must be given. */
function optionName(call: Call): string | null {
  const dest = keyword(call, "dest")?.value;
  if (dest?.kind === "Str") return dest.value;
  const flags = call.args.flatMap(({ name, value }) =>
    name === null && value.kind === "Str" && value.value?.startsWith("-") ? [value.value] : [],
  );
  // `-per` too: the long one counts where there is one.
  const flag = flags.find((one) => one.startsWith("--")) ?? flags[0];
  return flag === undefined ? null : flag.replace(/^-+/, "").replaceAll("-", "_");
}

/** What a switch is when nobody turns it. */
const SWITCHES: ReadonlyMap<string, boolean> = new Map([
  ["store_true", false],
  ["store_false", true],
]);

function parsedDefault(call: Call): Default | undefined {
  const given = keyword(call, "default")?.value;
  const action = keyword(call, "action")?.value;
  // A switch that is nothing unless it is turned leaves what is written elsewhere.
  if (given) return action && isNone(given) ? undefined : literal(given);
  if (action) return action.kind === "Str" ? SWITCHES.get(action.value ?? "") : undefined;
  return isTrue(keyword(call, "required")?.value ?? null) ? undefined : null;
}

export function literal(expr: Expr): Default | undefined {
  // `field(default=False)`, `DefaultVal(False)`
  if (expr.kind === "Call") {
    const [only, ...more] = expr.args;
    const wraps = expr.func.kind === "Name" && /default|field|option/i.test(expr.func.id);
    const given = keyword(expr, "default")?.value ?? (more.length === 0 && wraps ? only?.value : null);
    return given ? literal(given) : undefined;
  }
  if (expr.kind === "Num") return Number(expr.text);
  if (expr.kind === "Str")
    return expr.value !== null && expr.value.length < LONGEST_TEXT ? expr.value : undefined;
  if (expr.kind !== "Const") return undefined;
  return typeof expr.value === "boolean" || expr.value === null ? expr.value : undefined;
}
