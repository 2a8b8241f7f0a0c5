import { hasStars, keyword, positional } from "../../python/file.ts";
import { addKeyword } from "../edits.ts";
import { given, hidesArguments, literalDict } from "../facts/arguments.ts";
import { checkpointingFields, checkpointingSwitches } from "../facts/checkpointing.ts";
import type { ProjectFacts } from "../facts/project.ts";
import type { Rule } from "../rule.ts";
import type { PythonFile } from "../../python/file.ts";
import { ancestors } from "../../python/nodes.ts";
import type { Call } from "../../python/tree.ts";

const CHECKPOINTS = new Set([
  "torch.utils.checkpoint.checkpoint",
  "torch.utils.checkpoint.checkpoint_sequential",
]);

const ONLY_PATH =
  "The torch that this project asks for has the reentrant path only, which gives no gradients when no input requires them and cannot be nested; from 1.11 on, say `use_reentrant=False`";

/** Some class of the tree has a switch of its own, which need not know the keyword. */
const switchesItself = ({ functions }: ProjectFacts): boolean => {
  for (const name of functions.keys()) if (name.endsWith(".gradient_checkpointing_enable")) return true;
  return false;
};

export const rule: Rule = {
  meta: {
    code: "PLM051",
    name: "checkpoint-without-use-reentrant",
    summary: "Activation checkpointing without `use_reentrant` takes the old reentrant path, with a warning",
    severity: "warning",
    fix: "unsafe",
    patterns: [51],
  },
  *check(facts) {
    for (const call of facts.file.callsNamed("checkpoint", "checkpoint_sequential")) {
      const name = facts.file.dotted(call.func);
      if (
        name === null ||
        !CHECKPOINTS.has(name) ||
        given(call, "use_reentrant", facts.file) ||
        call.args.some((arg) => arg.star === 2 && literalDict(arg.value, facts.file) === null)
      )
        continue;
      if (isForOldTorch(call, facts.file)) continue;
      // A network that is only run keeps the line from where it was copied.
      if (/(?:^|[/_])inference[/_.]/.test(facts.file.path)) continue;
      if (facts.project.versions.oldTorch) {
        yield { at: call.func, severity: "note", message: ONLY_PATH };
        continue;
      }
      yield {
        at: call.func,
        message:
          "Without `use_reentrant` torch warns and takes the reentrant path, which gives no gradients when no input requires them and cannot be nested",
        ...(facts.project.versions.torch1 || (hasStars(call) && call.args[call.args.length - 1]!.star === 2)
          ? {}
          : {
              fix: {
                grade: "unsafe" as const,
                title: "Pass use_reentrant=False",
                edits: addKeyword(call, "use_reentrant=False", facts.file),
              },
            }),
      };
    }
    for (const call of facts.file.callsNamed("partial")) {
      const bound = facts.file.dotted(call.func) === "functools.partial" ? positional(call, 0) : null;
      if (!bound || !CHECKPOINTS.has(facts.file.dotted(bound) ?? "") || keyword(call, "use_reentrant"))
        continue;
      if (facts.file.mentions("use_reentrant") || call.args.some((arg) => arg.star === 2)) continue;
      yield {
        at: call,
        message:
          "Without `use_reentrant` torch warns and takes the reentrant path, which gives no gradients when no input requires them and cannot be nested",
      };
    }
    // `self.run = checkpoint if asked else …`
    for (const { body, orelse } of facts.file.all("IfExp"))
      for (const name of [body, orelse])
        if (
          (name.kind === "Name" || name.kind === "Attribute") &&
          CHECKPOINTS.has(facts.file.dotted(name) ?? "") &&
          !facts.file.mentions("use_reentrant")
        )
          yield {
            at: name,
            message:
              "Without `use_reentrant` torch warns and takes the reentrant path, which gives no gradients when no input requires them and cannot be nested",
          };
    for (const at of checkpointingFields(facts.file))
      yield {
        at,
        severity: "note",
        message:
          "Nothing says which path: transformers 4 takes the reentrant one, which gives no gradients when no input requires them; transformers 5 the other",
      };
    for (const { call, useReentrant, at } of checkpointingSwitches(facts.file)) {
      const asked = at !== call && /(?:Arguments|Config)$/.test(facts.file.dotted(call.func) ?? "");
      // Settings that are written out and do not say it are as good as none.
      const settings = keyword(call, "gradient_checkpointing_kwargs")?.value ?? positional(call, 0);
      const silent = settings === null || literalDict(settings, facts.file) !== null;
      if (useReentrant || hidesArguments(call, facts.file) || !silent || (at !== call && !asked)) continue;
      yield {
        at,
        severity: "note",
        message:
          "Nothing says which path: transformers 4 takes the reentrant one, which gives no gradients when no input requires them; transformers 5 the other",
        ...(settings || facts.project.versions.oldTransformers || switchesItself(facts.project)
          ? {}
          : {
              fix: {
                grade: "unsafe" as const,
                title: "Pass use_reentrant=False",
                edits: addKeyword(call, 'gradient_checkpointing_kwargs={"use_reentrant": False}', facts.file),
              },
            }),
      };
    }
  },
  *checkConfig(config) {
    if (config.settings.some(({ path }) => /use_reentrant/.test(path))) return;
    // Only what is handed to transformers as it is.
    if (!config.has("per_device_train_batch_size") && !config.has("micro_batch_size")) return;
    for (const { value, valueAt } of config.named("gradient_checkpointing"))
      if (value === true)
        yield {
          at: valueAt,
          severity: "note",
          message:
            "Nothing says which path: transformers 4 takes the reentrant one, which gives no gradients when no input requires them; transformers 5 the other",
        };
  },
};

/** The `else` of `if is_torch_version(">=", "1.11.0"):`, whose body says which path. */
function isForOldTorch(call: Call, file: PythonFile): boolean {
  for (const at of ancestors(call))
    if (at.kind === "If" && /torch_version|torch\.__version__|TORCH_/.test(file.textOf(at.test)))
      return at.body.some((one) => file.textOf(one).includes("use_reentrant"));
  return false;
}
