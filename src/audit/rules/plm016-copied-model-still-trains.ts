import { positional } from "../../python/file.ts";
import { classOf, functionOf, lastWord, statementOf } from "../../python/nodes.ts";
import type { PythonFile } from "../../python/file.ts";
import type { Arg, Assign, Call, Expr } from "../../python/tree.ts";
import { isAskedInStep, isHeldAgainst, isMovedAfter } from "../facts/copied-networks.ts";
import { isNetwork } from "../facts/networks.ts";
import type { Rule } from "../rule.ts";

/** What a copy is called that plays a part in training. */
const PART =
  /ema|ref|teacher|target|avg|average|old|frozen|anchor|momentum|initial|init_|orig|prev|backup|shadow|slow|best|snapshot|_k$|_0$|base_/i;

export const rule: Rule = {
  meta: {
    code: "PLM016",
    name: "copied-model-still-trains",
    summary:
      "A copy of the model, for averaging or reference, stays on the device, or still requires gradients",
    severity: "note",
    fix: "none",
    patterns: [16],
  },
  *check(facts) {
    const { file } = facts;
    if (!facts.accelerator) return;
    for (const call of file.callsNamed("AveragedModel"))
      if (
        file.dotted(call.func) === "torch.optim.swa_utils.AveragedModel" &&
        !/["']cpu["']/.test(file.textOf(call))
      )
        yield {
          at: call,
          message:
            'The average is a whole second model on the device; with `device="cpu"` it is kept on the host',
        };
    if (file.callsNamed("deepcopy").length === 0) return;
    for (const call of file.callsNamed("deepcopy")) {
      if (file.dotted(call.func) !== "copy.deepcopy") continue;
      const source = unwrapped(positional(call, 0));
      const statement = statementOf(call);
      if (
        !source ||
        (statement?.kind !== "Assign" && statement?.kind !== "Return") ||
        !statement.value ||
        !made(statement.value).includes(call) ||
        (statement.kind === "Assign" && statement.targets.length !== 1)
      )
        continue;
      // `def averaged_copy(net): return deepcopy(net)` says what it is for.
      const fn = statement.kind === "Return" ? functionOf(statement) : null;
      const copy =
        statement.kind === "Assign"
          ? nameOf(call, statement, file)
          : fn?.kind === "FunctionDef"
            ? fn.name
            : "";
      if (!isNetwork(source, facts) && !isRunOverWeights(source, copy, file)) continue;
      const escaped = copy.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
      const held =
        /requires_grad_\(/.test(file.textOf(statement.value)) ||
        new RegExp(
          `${escaped}\\.(?:eval\\(\\)\\.)?requires_grad_\\(|in ${escaped}\\.(?:named_)?parameters\\(\\)\\s*:\\s*\\w+\\.requires_grad|(?:requires_grad|freeze)\\w*\\(\\s*${escaped}\\b`,
        ).test(file.code);
      const frozen = held || new RegExp(`in ${escaped}\\.(?:named_)?parameters\\(`).test(file.code);
      // Only a copy that plays a part in training: an average, a teacher, a reference.
      const owner = classOf(call)?.name ?? "";
      const of = file.textOf(source);
      if (
        !PART.test(copy) &&
        !(copy.startsWith("self.") && PART.test(owner)) &&
        !isMovedAfter(copy, of, file) &&
        !isAskedInStep(copy, held, facts) &&
        !isHeldAgainst(copy, of, file)
      )
        continue;
      // Kept on the host it costs the device nothing.
      if (frozen && /\.cpu\(|["']cpu["']/.test(file.textOf(statement.value))) continue;
      yield {
        at: call,
        message: frozen
          ? `\`${copy}\` is a whole second model on the device: an average can be kept on the host, and a reference of an adapter is the base with the adapter switched off`
          : `\`${copy}\` is a whole second model on the device, and its parameters require gradients like the first's: freeze it, or keep it on the host or as an adapter switched off`,
      };
    }
  },
};

/** `self.shadow = deepcopy(module)` of a parameter, and `self.shadow.parameters()` somewhere. */
function isRunOverWeights(source: Expr, copy: string, file: PythonFile): boolean {
  return (
    source.kind === "Name" &&
    copy.startsWith("self.") &&
    file.scopes.reaching(source).every(({ how }) => how === "param") &&
    [".parameters()", ".named_parameters()", ".state_dict()"].some((asked) =>
      file.text.includes(copy + asked),
    )
  );
}

/** `model` of `accelerator.unwrap_model(model)`, and of `model.module if hasattr(model, "module") else model`. */
function unwrapped(expr: Expr | null): Expr | null {
  if (expr?.kind === "IfExp") {
    const [inside, outside] = [expr.body, expr.orelse].map((one) =>
      one.kind === "Attribute" && one.attr === "module" ? one.value : one,
    );
    return inside?.kind === "Name" && outside?.kind === "Name" && inside.id === outside.id ? outside : expr;
  }
  return expr?.kind === "Call" && /^(?:unwrap_model|unwrap|de_parallel)$/.test(lastWord(expr.func))
    ? positional(expr, 0)
    : expr;
}

/** What the copy is called: its variable, its key among others, or its name in a namespace. */
function nameOf(call: Call, statement: Assign, file: PythonFile): string {
  const { value } = statement;
  const part = named(value)?.find((arg) => bare(arg.value) === call)?.name;
  if (part) return `${file.textOf(statement.targets[0]!)}.${part}`;
  const at = value.kind === "Dict" ? value.values.findIndex((one) => bare(one) === call) : -1;
  const key = value.kind === "Dict" && at >= 0 ? value.keys[at] : null;
  return key?.kind === "Str" && key.value !== null ? key.value : file.textOf(statement.targets[0]!);
}

/** One copy, or several: `[deepcopy(model) for _ in range(2)]`, `ModuleList([…])`; or what is made of one: `EMA(deepcopy(model), 0.99)`. */
function made(expr: Expr): readonly Expr[] {
  const at = bare(expr);
  if (at.kind === "Comp") return [bare(at.element)];
  if (at.kind === "List" || at.kind === "Tuple") return at.items.map(bare);
  if (at.kind === "Dict") return at.values.map(bare);
  const parts = named(at);
  if (parts) return parts.map(({ value }) => bare(value));
  if (at.kind === "Call" && at.args.length > 0 && at.func.kind !== "Call")
    return [at, ...made(at.args[0]!.value)];
  return [at];
}

/** What `SimpleNamespace(net=net, average=deepcopy(net))` holds. */
function named(expr: Expr): readonly Arg[] | null {
  return expr.kind === "Call" &&
    /^(?:SimpleNamespace|Namespace|Munch|EasyDict|edict|AttrDict|dict)$/.test(lastWord(expr.func)) &&
    expr.args.every(({ name }) => name !== null)
    ? expr.args
    : null;
}

/** `deepcopy(model).to(device).eval()` → the copy. */
function bare(expr: Expr): Expr {
  let at = expr;
  while (
    at.kind === "Call" &&
    at.func.kind === "Attribute" &&
    /^(?:to|cpu|cuda|eval|train|half|bfloat16|requires_grad_)$/.test(at.func.attr)
  )
    at = at.func.value;
  return at;
}
