import { argument, hasStars, isTrue, keyword, positional } from "../../python/file.ts";
import { ancestors, lastWord } from "../../python/nodes.ts";
import type { Expr, Node } from "../../python/tree.ts";
import { entry } from "../facts/arguments.ts";
import { defaultOf } from "../facts/behind-options.ts";
import { isSelf } from "../facts/classes.ts";
import type { Facts } from "../facts/facts.ts";
import { callTarget } from "../facts/summary.ts";
import type { Rule } from "../rule.ts";

const MESSAGE =
  "Anomaly detection is left on: every operation of the forward records a stack trace and every gradient is searched for NaN, with a wait each";

export const rule: Rule = {
  meta: {
    code: "PLM024",
    name: "anomaly-detection-left-on",
    summary: "Autograd's anomaly detection is on for the whole run",
    severity: "warning",
    fix: "unsafe",
    patterns: [24],
  },
  *check(facts) {
    const { file } = facts;
    // `Trainer.from_argparse_args(args, detect_anomaly=True)`, `kwargs = dict(detect_anomaly=True)`
    for (const call of file.calls.given(["detect_anomaly"])) {
      const flag = keyword(call, "detect_anomaly")!.value;
      if (
        isTrue(flag) &&
        /^(?:dict|from_argparse_args)$/.test(lastWord(call.func)) &&
        !isConditional(call, true)
      )
        yield { at: flag, severity: "note", message: MESSAGE };
    }
    // `settings = {"detect_anomaly": True}`, and `Trainer(**settings)`
    for (const dict of file.mentions("detect_anomaly") ? file.all("Dict") : []) {
      const flag = entry(dict, "detect_anomaly");
      if (isTrue(flag) && !isConditional(dict, true) && file.callsNamed("Trainer").some(hasStars))
        yield { at: flag!, severity: "note", message: MESSAGE };
    }
    for (const call of file.callsNamed("set_detect_anomaly", "detect_anomaly", "Trainer")) {
      const name = file.dotted(call.func) ?? "";
      const sets = /^torch\.autograd(?:\.anomaly_mode)?\.set_detect_anomaly$/.test(name);
      const detects = /^torch\.autograd(?:\.anomaly_mode)?\.detect_anomaly$/.test(name);
      const trainer = /^(?:pytorch_)?lightning\.(?:pytorch\.)?Trainer$/.test(name);
      const flag = sets
        ? (keyword(call, "mode")?.value ?? positional(call, 0))
        : trainer
          ? (keyword(call, "detect_anomaly")?.value ?? null)
          : null;
      // `debug = True` above it is likely what it is run with.
      const written = facts.guesses && flag?.kind === "Name" ? file.scopes.onlyValue(flag) : flag;
      const isOption = flag !== null && isOptionOn(flag, facts);
      if (!(detects || isTrue(written) || isOption || isOnByDefault(flag, facts))) continue;
      // Which of two trainers is made, a setting decides; neither of them is there to look for something.
      if (isConditional(call, trainer) && !facts.everyStep(call)) continue;
      // A block of its own is somebody looking for something, unless the training runs in it.
      if (detects && call.parent?.kind !== "WithItem" && !isEntered(call, facts)) continue;
      yield {
        at: flag ?? call,
        ...(isOption ? { severity: "note" as const } : {}),
        message: isOption ? `\`${file.textOf(flag)}\` is on by default: ${lowered(MESSAGE)}` : MESSAGE,
        ...(flag && isTrue(flag)
          ? {
              fix: {
                grade: "unsafe" as const,
                title: "Switch it off",
                edits: [{ start: flag.start, end: flag.end, text: "False" }],
              },
            }
          : {}),
      };
    }
  },
  *checkConfig(config) {
    // `configs/debug/default.yaml` is for whoever looks for something.
    if (/(?:^|[/._-])debug(?:ging)?[/._-]/i.test(config.path)) return;
    for (const setting of config.named("detect_anomaly"))
      if (setting.value === true)
        yield {
          at: setting.valueAt,
          message: MESSAGE,
          fix: { grade: "unsafe", title: "Switch it off", edits: [{ ...setting.valueAt, text: "false" }] },
        };
  },
};

/** `args.detect_anomaly` of an option that nobody has to turn on; what the program sets itself is for it to say. */
function isOptionOn(flag: Expr, { file, project }: Facts): boolean {
  return (
    flag.kind === "Attribute" &&
    !isSelf(flag.value) &&
    defaultOf(flag, file, project) === true &&
    file.assignsTo(flag.attr).length === 0
  );
}

const lowered = (sentence: string): string => sentence.charAt(0).toLowerCase() + sentence.slice(1);

/** `def setup(anomaly=True)`, and `setup()` in this file. */
function isOnByDefault(flag: Expr | null, { file }: Facts): boolean {
  const [one, ...more] = flag?.kind === "Name" ? file.scopes.reaching(flag) : [];
  const fn = one?.node.parent;
  if (more.length > 0 || one?.node.kind !== "Param" || fn?.kind !== "FunctionDef") return false;
  if (!isTrue(one.node.default)) return false;
  const at = fn.params.indexOf(one.node) - (fn.parent?.kind === "ClassDef" ? 1 : 0);
  const name = file.qualified(fn);
  return file
    .callsNamed(fn.name)
    .some(
      (call) =>
        callTarget(call, file) === name &&
        !argument(call, one.name, at) &&
        call.args.every(({ star }) => star === 0),
    );
}

function isConditional(node: Node, trainer: boolean): boolean {
  for (const at of ancestors(node))
    if (
      (at.kind === "If" && !(trainer && at.orelse.length > 0)) ||
      at.kind === "IfExp" ||
      (at.kind === "FunctionDef" && /test|debug|check/i.test(at.name))
    )
      return !(
        at.kind === "If" &&
        /__name__/.test(at.test.kind === "Compare" && at.test.left.kind === "Name" ? at.test.left.id : "")
      );
  return false;
}

/** `detector = detect_anomaly()`, and `with detector:`. */
function isEntered({ parent }: Node, { file }: Facts): boolean {
  const target = parent?.kind === "Assign" ? parent.targets[0] : undefined;
  const definition = target?.kind === "Name" ? file.scopes.definitionAt(target) : null;
  return definition !== null && file.scopes.uses(definition).some((use) => use.parent?.kind === "WithItem");
}
