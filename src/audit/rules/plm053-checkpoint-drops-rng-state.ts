import { isFalse, keyword, positional } from "../../python/file.ts";
import type { PythonFile } from "../../python/file.ts";
import { classOf } from "../../python/nodes.ts";
import type { Expr } from "../../python/tree.ts";
import { attributesOf, selfAttribute } from "../facts/classes.ts";
import { entry, given, literalDict } from "../facts/arguments.ts";
import { last } from "../facts/torch-names.ts";
import type { Finding, Rule } from "../rule.ts";

/** torch's own, and what wraps whole modules in it. */
const CHECKPOINTS =
  /^torch\.(?:utils\.checkpoint\.|distributed\.algorithms\._checkpoint\.checkpoint_wrapper\.)|^deepspeed\.checkpointing\./;

export const rule: Rule = {
  meta: {
    code: "PLM053",
    name: "checkpoint-drops-rng-state",
    summary:
      "Checkpointing with `preserve_rng_state=False`: dropout draws another mask when the segment is recomputed",
    severity: "note",
    fix: "none",
    patterns: [53],
  },
  *check({ file }) {
    const calls = new Set([
      ...file.calls.given(["preserve_rng_state", "gradient_checkpointing_kwargs"]),
      ...file.callsNamed("gradient_checkpointing_enable", "checkpoint", "checkpoint_sequential"),
    ]);
    for (const call of calls) {
      const name = file.dotted(call.func);
      const partial = name === "functools.partial" ? positional(call, 0) : null;
      const bound = partial ? file.dotted(partial) : name;
      if (bound !== null && CHECKPOINTS.test(bound)) {
        const flag = given(call, "preserve_rng_state", file);
        if (isFalse(flag) || isOffByDefault(flag, file)) yield report(flag!, file);
      }
      const settings =
        keyword(call, "gradient_checkpointing_kwargs")?.value ??
        (call.func.kind === "Attribute" && call.func.attr === "gradient_checkpointing_enable"
          ? positional(call, 0)
          : null);
      const dict = settings && literalDict(settings, file);
      const flag = dict ? entry(dict, "preserve_rng_state") : null;
      if (isFalse(flag)) yield report(flag!, file);
    }
  },
  *checkConfig(config) {
    for (const setting of config.named("preserve_rng_state"))
      if (setting.value === false)
        yield {
          at: setting.valueAt,
          message: config.settings.some(
            ({ key, value }) => /dropout/.test(key) && typeof value === "number" && value > 0,
          )
            ? WRONG
            : HARMLESS,
          ...(config.settings.some(
            ({ key, value }) => /dropout/.test(key) && typeof value === "number" && value > 0,
          )
            ? { severity: "warning" as const }
            : {}),
        };
  },
};

/** `def run(fn, *args, rng=False)`, handed on. */
function isOffByDefault(flag: Expr | null, file: PythonFile): boolean {
  const own = flag && selfAttribute(flag);
  const cls = flag && own !== null ? classOf(flag) : null;
  if (cls) {
    const writes = attributesOf(cls, file).get(own!)?.writes ?? [];
    return (
      writes.length > 0 && writes.every(({ value }) => value?.kind === "Name" && isOffByDefault(value, file))
    );
  }
  const [one, ...more] = flag?.kind === "Name" ? file.scopes.reaching(flag) : [];
  return (
    more.length === 0 &&
    isFalse(
      (one?.node.kind === "Param" ? one.node.default : one?.how === "assign" ? one.value : null) ?? null,
    )
  );
}

const WRONG =
  "With dropout the recomputed segment draws another mask than its forward did: the gradients belong to a network that never ran";
const HARMLESS =
  "`preserve_rng_state=False` saves no memory, and gives wrong gradients as soon as a checkpointed block has dropout";

function report(at: Expr, file: PythonFile): Finding {
  return hasDropout(file) ? { at, severity: "warning", message: WRONG } : { at, message: HARMLESS };
}

/** Dropout that is certainly there: made here, with a probability that is not written as zero. */
function hasDropout(file: PythonFile): boolean {
  const positive = (expr: Expr | null): boolean =>
    expr !== null && !(expr.kind === "Num" && Number(expr.text) === 0);
  return file.all("Call").some((call) => {
    const name = file.dotted(call.func);
    if (name !== null && /^torch\.nn\.(?:functional\.)?\w*[dD]ropout\w*$/.test(name))
      return (
        name.includes("functional") ||
        call.args.length === 0 ||
        positive(keyword(call, "p")?.value ?? positional(call, 0))
      );
    return (
      call.args.some(
        (arg) =>
          arg.name !== null &&
          arg.name.endsWith("dropout") &&
          arg.value.kind === "Num" &&
          positive(arg.value),
      ) &&
      (name === null || last(name) !== "dict")
    );
  });
}
