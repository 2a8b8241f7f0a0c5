import { isTrue, keyword, positional } from "../../python/file.ts";
import type { PythonFile } from "../../python/file.ts";
import { ancestors, contains, functionOf, lastWord, namesIn } from "../../python/nodes.ts";
import type { Assign, Call, Expr, For, Name, Node } from "../../python/tree.ts";
import { entry } from "../facts/arguments.ts";
import { optionBehind } from "../facts/behind-options.ts";
import type { Facts } from "../facts/facts.ts";
import { isNetwork } from "../facts/networks.ts";
import {
  isCutAnywhere,
  isCutToLongest,
  isOfRandomLength,
  isRandomResize,
  resizesIn,
  shapesMayVary,
  shapesVary,
} from "../facts/shapes.ts";
import { loopsAround } from "../facts/training.ts";
import { truth } from "../facts/truth.ts";
import type { Finding, Rule } from "../rule.ts";
import { assignsOfKind } from "../facts/assigns.ts";

export const rule: Rule = {
  meta: {
    code: "PLM064",
    name: "cudnn-benchmark-with-varying-shapes",
    summary: "cuDNN searches for its fastest algorithm, yet the shapes of the batches vary",
    severity: "note",
    fix: "unsafe",
    patterns: [64],
  },
  *check(facts) {
    const { file } = facts;
    const given = file.calls.given(["benchmark"]);
    const unpacked = settingsUnpacked(file);
    const set = assigned(file);
    const pairs = [...setTogether(file), ...setByName(facts)];
    const kept = [...fieldsOfTrainers(file), ...dictsOfTrainers(file)];
    if ([given, unpacked, set, pairs, kept].every(({ length }) => length === 0)) return;
    if (!isVarying(facts)) {
      for (const statement of set)
        if (isSearch(statement, facts) && isForWhole(statement, facts))
          yield report(statement, statement.value, facts);
      return;
    }
    let on = pairs.length > 0;
    for (const value of [...pairs, ...unpacked, ...kept]) yield report(value, value, facts);
    for (const call of given) {
      const flag =
        isLightningTrainer(call, file) || isOfTrainer(keyword(call, TARGET)?.value)
          ? keyword(call, "benchmark")
          : null;
      if (flag && truth(flag.value, facts) === true) yield report(flag, flag.value, facts);
    }
    // `with cudnn.flags(benchmark=True):`
    for (const call of file.callsNamed("flags")) {
      const flag = keyword(call, "benchmark");
      if (flag && isTrue(flag.value) && file.dotted(call.func) === "torch.backends.cudnn.flags")
        yield report(flag, flag.value, facts);
    }
    for (const statement of set) {
      if (!isSearch(statement, facts)) continue;
      on = true;
      yield report(statement, statement.value, facts);
    }
    for (const call of on ? resizesIn(file) : [])
      if (isRandomResize(call, file))
        yield {
          at: call,
          message:
            "Each size that comes out here is a new shape, for which cuDNN, told so in this program, tries all its algorithms",
        };
  },
};

function isLightningTrainer({ func }: Call, file: PythonFile): boolean {
  return /^(?:pytorch_)?lightning\.(?:pytorch\.)?Trainer(?:\.from_argparse_args)?$/.test(
    file.dotted(func) ?? "",
  );
}

/** What Hydra makes of settings, by its name: `_target_: str = "pytorch_lightning.Trainer"`. */
const TARGET = "_target_";

const isOfTrainer = (target: Expr | null | undefined): boolean =>
  target?.kind === "Str" && /^(?:pytorch_)?lightning\.(?:\w+\.)*Trainer$/.test(target.value ?? "");

/** `benchmark: bool = True` of a class of settings that Hydra makes a trainer of. */
function fieldsOfTrainers(file: PythonFile): readonly Expr[] {
  if (!file.mentions(TARGET) || !file.mentions("benchmark")) return [];
  return file.all("ClassDef").flatMap(({ body }) => {
    const field = (name: string): Expr | null => {
      for (const one of body) {
        const [target] = one.kind === "Assign" ? one.targets : [];
        if (one.kind === "Assign" && target?.kind === "Name" && target.id === name)
          return defaultOf(one.value);
      }
      return null;
    };
    const flag = field("benchmark");
    return isOfTrainer(field(TARGET)) && flag && isTrue(flag) ? [flag] : [];
  });
}

/** True of `field(default=True)` */
const defaultOf = (value: Expr): Expr =>
  (value.kind === "Call" ? keyword(value, "default")?.value : null) ?? value;

/** `{"_target_": "pytorch_lightning.Trainer", "benchmark": True}` */
function dictsOfTrainers(file: PythonFile): readonly Expr[] {
  if (!file.mentions(TARGET) || !file.mentions("benchmark")) return [];
  return file.all("Dict").flatMap((dict) => {
    const flag = isOfTrainer(entry(dict, TARGET)) ? entry(dict, "benchmark") : null;
    return flag && isTrue(flag) ? [flag] : [];
  });
}

/** `pl.Trainer(**settings)` of `settings = {"benchmark": True}`, or with `settings["benchmark"] = True` further down. */
function settingsUnpacked(file: PythonFile): readonly Expr[] {
  const names = file
    .callsNamed("Trainer", "from_argparse_args")
    .filter((call) => isLightningTrainer(call, file))
    .flatMap(({ args }) =>
      args.flatMap(({ star, value }) => (star === 2 && value.kind === "Name" ? [value] : [])),
    );
  if (names.length === 0) return [];
  const made = names.flatMap((name) => {
    const dict = file.scopes.onlyValue(name);
    const given = dict?.kind === "Dict" || dict?.kind === "Call" ? entry(dict, "benchmark") : null;
    return given && isTrue(given) ? [given] : [];
  });
  const put = assignsOfKind("Subscript", file).flatMap(({ targets: [target], value }) => {
    const isPut =
      target?.kind === "Subscript" &&
      target.index.kind === "Str" &&
      target.index.value === "benchmark" &&
      target.value.kind === "Name";
    const holder = isPut ? target.value.id : null;
    return isTrue(value) && names.some(({ id }) => id === holder) ? [value] : [];
  });
  return [...new Set([...made, ...put])];
}

/** `cudnn.benchmark, cudnn.deterministic = True, False` */
function setTogether(file: PythonFile): readonly Expr[] {
  return assignsOfKind("Tuple", file).flatMap(({ targets: [target], value }) => {
    if (target?.kind !== "Tuple" || value.kind !== "Tuple") return [];
    const at = target.items.findIndex((item) => file.dotted(item) === "torch.backends.cudnn.benchmark");
    const given = value.items[at];
    return given && isTrue(given) ? [given] : [];
  });
}

/** `cudnn.benchmark = …`, also beside others: `cudnn.enabled = cudnn.benchmark = True`. */
function assigned(file: PythonFile): readonly Assign[] {
  return assignsOfKind("Attribute", file).filter(({ targets }) =>
    targets.some((one) => one.kind === "Attribute" && one.attr === "benchmark"),
  );
}

/** `torch.backends.cudnn.benchmark = True`, also by a setting that is so unless somebody says otherwise. */
function isSearch({ targets, value }: Assign, facts: Facts): boolean {
  return (
    targets.some((target) => facts.file.dotted(target) === "torch.backends.cudnn.benchmark") &&
    truth(value, facts) === true
  );
}

/** `setattr(torch.backends.cudnn, "benchmark", True)` */
function setByName(facts: Facts): readonly Expr[] {
  const { file } = facts;
  return file.callsNamed("setattr").flatMap((call) => {
    const [of, name, value] = [positional(call, 0), positional(call, 1), positional(call, 2)];
    return of &&
      file.dotted(of) === "torch.backends.cudnn" &&
      name?.kind === "Str" &&
      name.value === "benchmark" &&
      value &&
      truth(value, facts) === true
      ? [value]
      : [];
  });
}

/**
 * Before an evaluation of examples at their full length, whose outputs are cut to what each of them has:
 * `vocoder(mel)[..., : wave.size(-1)]`. Those of one length come out as long as they are wanted.
 */
function isForWhole(statement: Assign, facts: Facts): boolean {
  const { file } = facts;
  const fn = functionOf(statement);
  const evaluates =
    fn !== null &&
    file.callsNamed("eval").some((call) => contains(fn, call)) &&
    !file.callsNamed("backward").some((call) => contains(fn, call));
  return (
    evaluates &&
    file.all("Slice").some((slice) => {
      if (slice.start < statement.start || !contains(fn, slice)) return false;
      const like = slice.lower === null && slice.upper ? measured(slice.upper) : null;
      const cut = ancestors(slice).find((at) => at.kind === "Subscript");
      return (
        like !== null &&
        cut?.kind === "Subscript" &&
        facts.value(cut.value).what === "output" &&
        loopsAround(slice).some(
          (loop) => loop.kind === "For" && contains(fn, loop) && isHandedOut(like, loop),
        )
      );
    })
  );
}

/** `wave` of `wave.size(-1)` and `wave.shape[-1]`. */
function measured(expr: Expr): Name | null {
  const of =
    expr.kind === "Call" && lastWord(expr.func) === "size"
      ? expr.func
      : expr.kind === "Subscript" && lastWord(expr.value) === "shape"
        ? expr.value
        : null;
  return of?.kind === "Attribute" && of.value.kind === "Name" ? of.value : null;
}

/** One of what the loop goes over: `for mel, wave in loader:`. */
function isHandedOut({ id }: Name, { target }: For): boolean {
  return namesIn(target).some((name) => name.id === id);
}

/** `if cfg.get("cudnn_benchmark"):` would switch off what it says; a test for a device or a rank is no switch. */
function isSwitched(value: Node, file: PythonFile): boolean {
  for (let child = value, at = value.parent; at; child = at, at = at.parent) {
    if ((at.kind !== "If" && at.kind !== "IfExp") || child === at.test) continue;
    const test = file.textOf(at.test);
    if (/bench|cudnn|determin/i.test(test) || !/is_available|cuda|gpu|device|rank|__name__/i.test(test))
      return true;
  }
  return false;
}

/**
 * Whether the batches of any run of this file vary: by what it says itself, or by a module that it takes something from
 * which no option, off by default, keeps from being used. What is imported over there may be for other runs.
 */
function variesAlways({ file, project }: Facts): boolean {
  return (
    shapesVary(file, (node) => optionBehind(node, file, project) !== null) ||
    file.all("Alias").some((alias) => {
      const name =
        alias.parent?.kind === "Import" ? file.importedModule(alias.name) : file.importedName(alias);
      const from = [name, name.slice(0, name.lastIndexOf("."))];
      if (!from.some((module) => project.varied.has(module))) return false;
      const local = alias.as ?? alias.name;
      return (
        local === "*" ||
        file.all("Name").some((use) => use.id === local && optionBehind(use, file, project) === null)
      );
    })
  );
}

function report(at: Node, value: Expr, facts: Facts): Finding {
  return {
    at,
    message:
      "For every new shape cuDNN tries all its algorithms, with their workspaces, before it runs one; batches of varying size keep bringing new shapes",
    // A setting is switched off where it is kept.
    ...(isTrue(value) && !isSwitched(value, facts.file) && variesAlways(facts)
      ? {
          fix: {
            grade: "unsafe",
            title: "Switch the search off",
            edits: [{ start: value.start, end: value.end, text: "False" }],
          },
        }
      : {}),
  };
}

/** In this file, or in one of a program that it is part of. */
function isVarying(facts: Facts): boolean {
  const { file } = facts;
  return (
    facts.project.varying.has(file.module) ||
    (facts.guesses && !file.says(CROPS) && (facts.project.mayVary.has(file.module) || shapesMayVary(file))) ||
    shapesVary(file) ||
    // `model(features, lengths)`: padded to the longest.
    file
      .all("Call")
      .some(
        (call) =>
          call.args.some(({ value }) => value.kind === "Name" && LENGTHS.test(value.id)) &&
          file.dotted(call.func) === null &&
          isNetwork(call.func, facts),
      ) ||
    // `wave[..., :n]` with another n each time; a window of one length that starts anywhere is no new shape.
    file
      .all("Slice")
      .some(
        (slice) =>
          isCutAnywhere(slice, file) ||
          isOfRandomLength(slice, file) ||
          (facts.guesses && isCutToLongest(slice, file)),
      )
  );
}

/** `Clips(paths, config.segment_size)`: what is trained on is cut to one length. */
const CROPS = /\b(?:segment|crop|chunk|clip)_(?:size|len(?:gth)?|samples|frames)\b/;

const LENGTHS = /(?:^|_)(?:lens|lengths?)$|_len$/;
