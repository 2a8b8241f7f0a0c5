import { argument, isFalse, isTrue, keyword, positional } from "../../python/file.ts";
import type { PythonFile } from "../../python/file.ts";
import { classOf, contains, lastWord } from "../../python/nodes.ts";
import type { Definition } from "../../python/scopes.ts";
import type { Attribute, Call, Expr } from "../../python/tree.ts";
import { addKeyword, isExplained } from "../edits.ts";
import { entry, settingsOf } from "../facts/arguments.ts";
import { isSelf, methodsOf, selfAttribute } from "../facts/classes.ts";
import type { Facts } from "../facts/facts.ts";
import { handedIn } from "../facts/handed-in.ts";
import { isDataLoader, namesNoDevice } from "../facts/loaders.ts";
import { holdsOptions, literal, said as saidHere } from "../facts/options.ts";
import { callsOf } from "../facts/returns.ts";
import { HELPS, isWithoutBase } from "../facts/worker-data.ts";
import { last } from "../facts/torch-names.ts";
import { mayPinBatches } from "../facts/unpinned-data.ts";
import type { Rule } from "../rule.ts";

const UNPINNED =
  "Batches are copied from pageable memory: the copy goes through a staging buffer and cannot overlap with the device's work";

const IDLE =
  "The training process itself loads every batch, between the steps: with workers it is ready before";

export const rule: Rule = {
  meta: {
    code: "PLM038",
    name: "loader-untuned",
    summary: "A DataLoader of a program that uses an accelerator neither pins its batches nor has workers",
    severity: "note",
    fix: "unsafe",
    patterns: [38],
    inTraining: true,
  },
  *check(facts) {
    const { file } = facts;
    for (const call of file.calls.given(["dataloader_pin_memory"])) {
      const pin = keyword(call, "dataloader_pin_memory")!;
      if (isFalse(pin.value)) yield { at: pin, message: UNPINNED };
    }
    for (const call of file.calls.given(["dataloader_num_workers"])) {
      const workers = keyword(call, "dataloader_num_workers")!;
      if (isZero(workers.value)) yield { at: workers, message: IDLE };
    }
    for (const value of saidFor("dataloader_pin_memory", file))
      if (literal(value) === false) yield { at: value, message: UNPINNED };
    for (const value of saidFor("dataloader_num_workers", file))
      if (literal(value) === 0) yield { at: value, message: IDLE };
    if (!facts.accelerator && !(facts.guesses && facts.project.accelerated.size > 0)) return;
    // `partial(DataLoader, batch_size=32)`, unless some call of it pins.
    for (const call of file.callsNamed("partial")) {
      if (file.mentions("pin_memory")) break;
      const bound = file.dotted(call.func) === "functools.partial" ? positional(call, 0) : null;
      if (bound && isDataLoader(file.dotted(bound))) yield { at: call, message: UNPINNED };
    }
    // What is not torch's pins nothing of its own.
    if (file.says(/^[ \t]*(?:import|from) (?:jax|flax)\b/m) && !file.says(/\.backward\(/)) return;
    for (const call of loaderCalls(file)) {
      const settings = settingsOf(call, file);
      if (!settings || call.args.some(({ star }) => star === 1)) continue;
      if (call.args.filter((arg) => arg.name === null && arg.star === 0).length > 5) continue;
      // A collate function may return tensors that are on the device already; those cannot be pinned.
      const pin = settings.get("pin_memory") ?? null;
      const collate = settings.get("collate_fn") ?? null;
      const unpinned = pin
        ? isBy(false, pin, facts)
        : collate === null || staysOnHost(collate, facts) || mayStay(collate, facts);
      const workers = settings.get("num_workers") ?? null;
      const idle = !workers || isBy(0, workers, facts);
      // `batch_size=len(data)`: all of it at once, for what is made of it before.
      const size = settings.get("batch_size") ?? argument(call, "batch_size", 1);
      if (size?.kind === "Call" && file.dotted(size.func) === "builtins.len") continue;
      const may = unpinned ? mayPinBatches(call, facts) : "no";
      // An option stays one, and is not overwritten by a constant.
      const isAsked = pin !== null && (pin.kind !== "Const" || isExplained(pin, REASONS, file));
      if (may !== "no")
        yield {
          // Where it is said so, that is the place.
          at: pin && contains(call, pin) ? pin : call.func,
          message: idle
            ? "The training process itself loads every batch and copies it from pageable memory: neither overlaps with the device's work"
            : UNPINNED,
          ...(isAsked || may === "unknown"
            ? {}
            : {
                fix: {
                  grade: "unsafe" as const,
                  title: "Pin the batches",
                  edits: pin
                    ? [{ start: pin.start, end: pin.end, text: "True" }]
                    : addKeyword(call, "pin_memory=True", file),
                },
              }),
        };
      else if (!unpinned && idle && (isTrue(pin) || (facts.guesses && pin !== null)))
        yield {
          at: workers && contains(call, workers) ? workers : call.func,
          message: IDLE,
        };
    }
  },
  *checkConfig(config) {
    for (const { value, valueAt } of config.named("dataloader_pin_memory"))
      if (value === false) yield { at: valueAt, message: UNPINNED };
    // Hydra: `_target_: torch.utils.data.DataLoader` and what it is called with beside it.
    const loaders = config
      .named("_target_")
      .flatMap(({ value, path }) =>
        typeof value === "string" && isDataLoader(value) ? [path.slice(0, -"_target_".length)] : [],
      );
    for (const { value, valueAt, path } of loaders.length > 0 ? config.named("pin_memory") : [])
      if (value === false && loaders.includes(path.slice(0, -"pin_memory".length)))
        yield { at: valueAt, message: UNPINNED };
    for (const name of ["dataloader_num_workers", "num_workers", "train_num_workers"])
      for (const { value, valueAt, path } of config.named(name))
        if (value === 0 && !/(?:^|[._])(?:eval|val|test|pred|infer)/i.test(path))
          yield { at: valueAt, message: IDLE };
  },
};

/**
 * What is said for a Trainer's argument besides a call: `training_args.dataloader_pin_memory = False`,
 * `{"dataloader_pin_memory": False}`, and `dataloader_pin_memory: bool = field(default=False)` of the class of a run's arguments.
 */
function saidFor(name: string, file: PythonFile): readonly Expr[] {
  if (!file.mentions(name)) return [];
  const assigned = file.assignsTo(name).map(({ value }) => value);
  const fields = file
    .all("ClassDef")
    .flatMap(({ body }) => body)
    .flatMap((one) =>
      one.kind === "Assign" && one.targets[0]?.kind === "Name" && one.targets[0].id === name
        ? [one.value]
        : [],
    );
  const entries = file.all("Dict").flatMap((dict) => entry(dict, name) ?? []);
  return [...assigned, ...fields, ...entries];
}

/** `pin_memory=False,  # lengths vary` */
const REASONS = /pin|memory|length|ragged|sparse|cuda|gpu|device|worker/i;

/** Of torch's own loader, or of one that is made of it and hands its settings on. */
function loaderCalls(file: PythonFile): readonly Call[] {
  const own = derived(file);
  return file
    .callsNamed("DataLoader", "StreamingDataLoader", "StatefulDataLoader", "ThreadDataLoader", ...own.keys())
    .filter(({ func }) => {
      const name = file.dotted(func);
      return (
        isDataLoader(name) || DERIVED.test(name ?? "") || (name !== null && own.get(last(name)) === name)
      );
    });
}

/** `class Background(DataLoader)` of this file, without a constructor of its own. */
function derived(file: PythonFile): ReadonlyMap<string, string> {
  return new Map(
    file
      .all("ClassDef")
      .filter(
        (cls) =>
          cls.args.some(({ value }) => isDataLoader(file.dotted(value))) &&
          !methodsOf(cls).some(({ name }) => name === "__init__"),
      )
      .map((cls) => [cls.name, file.qualified(cls)]),
  );
}

/** Of other libraries: what streams its examples, and what can go on where it stopped. */
const DERIVED =
  /^(?:litdata\.(?:\w+\.)*StreamingDataLoader|torchdata\.stateful_dataloader\.(?:\w+\.)*StatefulDataLoader|monai\.data\.ThreadDataLoader)$/;

function isZero(expr: Expr): boolean {
  return expr.kind === "Num" && expr.text === "0";
}

/** Said so in place, by a name that is nothing else, or by an option that is so unless somebody asks: `args.pin_memory`. */
function isBy(wanted: false | 0, expr: Expr, { file, guesses, project }: Facts): boolean {
  const said = (expr.kind === "Name" ? file.scopes.onlyValue(expr) : null) ?? expr;
  if (said.kind === "Attribute" && !isSelf(said.value) && holdsOptions(said.value))
    return (
      project.options.get(said.attr) === wanted ||
      (guesses && Number(file.once(saidHere).get(said.attr) ?? -1) === Number(wanted))
    );
  if (literal(said) === wanted) return said.kind === "Const" || said.kind === "Num";
  const [one, ...more] = expr.kind === "Name" ? file.scopes.reaching(expr) : [];
  return one !== undefined && more.length === 0 && isLeftAt(wanted, one, file);
}

/** `def loader(data, workers=0)`, where the file calls it and gives nothing else. */
function isLeftAt(wanted: false | 0, { how, node, name }: Definition, file: PythonFile): boolean {
  const fn = node.parent;
  if (how !== "param" || node.kind !== "Param" || fn?.kind !== "FunctionDef" || !node.default) return false;
  const calls = literal(node.default) === wanted ? callsOf(fn, file) : [];
  const at = fn.params.findIndex((param) => param.name === name);
  return (
    calls.length > 0 &&
    calls.every((call) => {
      const given = keyword(call, name)?.value ?? positional(call, at);
      return call.args.every(({ star }) => star === 0) && (!given || literal(given) === wanted);
    })
  );
}

/** Nobody sees it, and neither its name nor any function that is called so speaks of a device. */
function mayStay(collate: Expr, facts: Facts): boolean {
  const { file, guesses } = facts;
  if (!guesses || !namesNoDevice(collate, file) || file.mentions("jax")) return false;
  const several = mayBe(collate, file);
  if (several.length > 0) return several.every((one) => staysOnHost(one, facts) || mayStay(one, facts));
  const called = lastWord(collate.kind === "Call" ? collate.func : collate);
  return [...file.all("FunctionDef"), ...file.all("ClassDef")].every(
    (one) =>
      one.name !== called ||
      (namesNoDevice(one, file) && /torch|tensor|collate\(|pad/i.test(file.textOf(one))),
  );
}

/** The collator of a library, or a function or class of this tree that names no device. */
function staysOnHost(collate: Expr, facts: Facts, depth = 0): boolean {
  const { file } = facts;
  if (depth > 8) return false;
  // None: torch's own.
  if (collate.kind === "Const") return collate.value === null;
  const several = mayBe(collate, file);
  if (several.length > 0) return several.every((one) => staysOnHost(one, facts, depth + 1));
  if (isForOthersToGive(collate, file)) return facts.once(noneNamesDevice);
  const name = file.dotted(collate.kind === "Call" ? collate.func : collate) ?? "";
  if (/^(?:transformers\.\w*[cC]ollator\w*|torch\.utils\.data\.(?:\w+\.)*default_collate)$/.test(name))
    return true;
  if (collate.kind === "Lambda") return namesNoDevice(collate, file);
  // `Collate(pad)`, `Collate(pad).run`
  const object = collate.kind === "Attribute" && collate.value.kind === "Call" ? collate.value : collate;
  const cls = object.kind === "Call" ? file.dotted(object.func) : null;
  const written =
    cls === null
      ? file.functionNamed(file.dotted(collate))
      : // What it takes from another class is not seen.
        file.all("ClassDef").find((one) => file.qualified(one) === cls && isWithoutBase(one, file));
  if (written) return namesNoDevice(written, file);
  const called = cls ?? methodName(collate, file) ?? file.dotted(collate);
  return (
    called !== null &&
    facts.project.collates.some(
      (one) => one === called || (one.endsWith(`.${called}`) && !one.startsWith(HELPS)),
    )
  );
}

/** `def build(data, collate_fn=None)`, which no call of this file gives one. */
function isForOthersToGive(collate: Expr, file: PythonFile): boolean {
  const [one, ...more] = collate.kind === "Name" ? file.scopes.reaching(collate) : [];
  return one?.how === "param" && one.node.parent?.kind === "FunctionDef" && more.length === 0;
}

/** The tree has something to put batches together with, by its name, and all of that stays on the host: so does what is handed around. */
function noneNamesDevice({ project }: Facts): boolean {
  const host = new Set(
    project.collates.map((one) => (one.startsWith(HELPS) ? one.slice(HELPS.length) : one)),
  );
  const isOnHost = (name: string): boolean => {
    // `data.Collate.__call__`, `data.Speech.collate`, `data.make_collate.inner`
    const words = name.split(".");
    return !/collat/i.test(name) || words.some((_, at) => host.has(words.slice(0, at + 1).join(".")));
  };
  return (
    project.collates.some((one) => !one.startsWith(HELPS)) && [...project.functions.keys()].every(isOnHost)
  );
}

/**
 * What else a collate function may be seen as: those of the branches above, what the calls in this file give for a
 * parameter, and `pad` of `partial(pad, to=8)`. What is bound may be a device as well.
 */
function mayBe(collate: Expr, file: PythonFile): readonly Expr[] {
  if (collate.kind === "Name") {
    const reaching = file.scopes.reaching(collate);
    const [one, ...more] = reaching;
    if (one?.how === "param") return more.length === 0 ? handedIn(one, file, true) : [];
    const values = reaching.flatMap(({ how, value }) => (how === "assign" && value ? [value] : []));
    return values.length === reaching.length ? values : [];
  }
  if (collate.kind === "IfExp") return [collate.body, collate.orelse];
  const bound =
    collate.kind === "Call" && file.dotted(collate.func) === "functools.partial"
      ? positional(collate, 0)
      : null;
  return bound && namesNoDevice(collate, file) ? [bound] : [];
}

/** `data.Speech.collate_fn` of `train_set.collate_fn`, after `train_set = data.Speech(path)`; one of its own class. */
function methodName(collate: Expr, file: PythonFile): string | null {
  const own = selfAttribute(collate);
  const around = own === null ? null : classOf(collate);
  if (around) return `${file.qualified(around)}.${own}`;
  const object = collate.kind === "Attribute" && collate.value.kind === "Name" ? collate.value : null;
  const made = object && file.scopes.onlyValue(object);
  const cls = made?.kind === "Call" ? file.dotted(made.func) : null;
  return cls === null ? null : `${cls}.${(collate as Attribute).attr}`;
}
