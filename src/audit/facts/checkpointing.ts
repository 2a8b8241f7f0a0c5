import { isTrue, keyword } from "../../python/file.ts";
import type { PythonFile } from "../../python/file.ts";
import type { Call, Dict, Expr } from "../../python/tree.ts";

/** One place that turns on activation checkpointing of a whole model. */
interface CheckpointingSwitch {
  readonly at: Expr;
  readonly call: Call;
  /** What its settings say about the path taken; null where they say nothing. */
  readonly useReentrant: Expr | null;
}

/** `model.gradient_checkpointing_enable()` and `gradient_checkpointing=True` of any call. */
export function checkpointingSwitches(file: PythonFile): readonly CheckpointingSwitch[] {
  const found: CheckpointingSwitch[] = [];
  const switching = new Set([
    ...file.callsNamed("gradient_checkpointing_enable"),
    ...file.calls.given(["gradient_checkpointing"]),
  ]);
  for (const call of switching) {
    const enabling = call.func.kind === "Attribute" && call.func.attr === "gradient_checkpointing_enable";
    const flag = keyword(call, "gradient_checkpointing");
    if (!enabling && !isTrue(flag?.value ?? null)) continue;
    const settings =
      keyword(call, "gradient_checkpointing_kwargs")?.value ??
      (enabling ? (call.args[0]?.value ?? null) : null);
    const dict = settings && literalDict(settings, file);
    found.push({
      at: enabling ? call : flag!.value,
      call,
      useReentrant: dict ? entry(dict, "use_reentrant") : null,
    });
  }
  return found;
}

/** The value under a string key of a dict display or of `dict(key=value)`. */
export function entry(dict: Dict | Call, key: string): Expr | null {
  if (dict.kind === "Call") return keyword(dict, key)?.value ?? null;
  const at = dict.keys.findIndex((one) => one?.kind === "Str" && one.value === key);
  return at < 0 ? null : dict.values[at]!;
}

/** A dict written out in place, or the one a name was bound to. */
export function literalDict(expr: Expr, file: PythonFile): Dict | Call | null {
  if (expr.kind === "Dict") return expr.keys.includes(null) ? null : expr;
  if (expr.kind === "Call")
    return file.dotted(expr.func) === "builtins.dict" && expr.args.every((arg) => arg.name !== null)
      ? expr
      : null;
  if (expr.kind !== "Name") return null;
  const [one, ...more] = file.scopes.reaching(expr);
  if (more.length > 0 || one?.how !== "assign" || !one.value || one.value.kind === "Name") return null;
  return file.scopes.uses(one).some(changes) ? null : literalDict(one.value, file);
}

/** `settings["x"] = …`, `settings.update(…)` */
function changes(use: Expr): boolean {
  const at = use.parent;
  if (at?.kind === "Attribute") return /^(?:update|setdefault|pop|clear|popitem)$/.test(at.attr);
  return (
    at?.kind === "Subscript" &&
    at.value === use &&
    (at.parent?.kind === "Delete" || (at.parent?.kind === "Assign" && at.parent.targets.includes(at)))
  );
}
