import { argument, isFalse, isTrue, keyword, positional } from "../../python/file.ts";
import { ancestors, classOf, contains, functionOf, lastWord, statementOf } from "../../python/nodes.ts";
import type { Call, Expr, With } from "../../python/tree.ts";
import type { PythonFile } from "../../python/file.ts";
import { addKeyword, indentAt } from "../edits.ts";
import { attributesOf, isOnlyMadeBy, isSelf, selfAttribute } from "../facts/classes.ts";
import type { Facts } from "../facts/facts.ts";
import { isTorchScaler } from "../facts/hands-out.ts";
import { handedIn } from "../facts/handed-in.ts";
import { returnsByName } from "../facts/returns.ts";
import { callTarget } from "../facts/summary.ts";
import type { Finding, Fix, Rule } from "../rule.ts";

const SCREEN = 20;
/** Through so many names, lambdas and functions a context is followed to where it is made. */
const DEEPEST = 8;

const UNDER =
  "Backward runs under autocast: it already uses each forward operation's type, and autocast may now cast what it should not; leave the block first";

const FOR_NOTHING =
  "bfloat16 has float32's range: scaling gains nothing, and each step waits to learn whether the gradients are finite";

export const rule: Rule = {
  meta: {
    code: "PLM061",
    name: "mixed-precision-misused",
    summary: "Backward runs under autocast, or gradients are scaled for bfloat16",
    severity: "warning",
    fix: "unsafe",
    patterns: [61],
  },
  *check(facts) {
    // Kept under another name, it is called by that.
    if (!facts.file.mentions("autocast") && !facts.file.mentions("GradScaler")) return;
    const { file } = facts;
    if (facts.guesses) yield* likely(facts);
    for (const { call } of facts.backwards) {
      for (const at of ancestors(call)) {
        if (at.kind === "Lambda") break;
        if (at.kind === "FunctionDef") {
          if (at.decorators.some((one) => isAutocast(one, facts))) yield { at: call, message: UNDER };
          break;
        }
        if (at.kind === "With" && at.items.some(({ context }) => isAutocast(context, facts))) {
          const fix = moveOut(call, at, facts);
          yield { at: call, message: UNDER, ...(fix ? { fix } : {}) };
          break;
        }
      }
    }
    // `stack.enter_context(autocast(…))` above it, in the block of the stack.
    for (const enter of file.callsNamed("enter_context")) {
      const [given] = enter.args;
      if (!given || !isAutocast(given.value, facts)) continue;
      const block = ancestors(enter).find((at) => at.kind === "With");
      for (const { call } of facts.backwards)
        if (block && contains(block, call) && call.start > enter.end) yield { at: call, message: UNDER };
    }
    // `with autocast(): train_step(model, batch)`, and the backward is in there.
    for (const call of facts.callsTo("loose"))
      if (
        ancestors(call).some(
          (at) => at.kind === "With" && at.items.some(({ context }) => isAutocast(context, facts)),
        ) &&
        facts.callee(call)?.reachesBackward === true &&
        // A test of a kernel runs both ways on purpose.
        !/(?:^|\.)_?test_/.test(facts.file.textOf(call.func)) &&
        !facts.backwards.some((backward) => backward.call === call)
      )
        yield { at: call, message: UNDER };
    // Under `no_grad` no gradient comes of it, whatever the type.
    const casts = file
      .callsNamed("autocast")
      .filter((call) => isTorchAutocast(call, file) && facts.gradMode(call) !== "off");
    // Every cast in the file must say bfloat16: then no gradient can underflow.
    const weights =
      casts.length === 0 &&
      file.says(/\.bfloat16\(\)|\.to\([^)\n]*bfloat16/) &&
      !file.says(/float16\b(?<!bfloat16)|\.half\(/);
    const all = casts.length > 0 && casts.every((call) => saysBfloat16(call, file));
    // Somebody may ask for another type, and for nothing where no scaler is told of that.
    const usual =
      casts.length > 0 &&
      !all &&
      !file.says(ASKS_FOR_HALF) &&
      casts.every((call) => saysBfloat16(call, file) || usesBfloat16(call, file));
    let scaled: Call | null = null;
    for (const call of file.callsNamed("GradScaler")) {
      // Of a function that casts by itself only its own casts count.
      const own = casts.filter((cast) => functionOf(cast) !== null && functionOf(cast) === functionOf(call));
      const chosen = isOnForBfloat16(keyword(call, "enabled")?.value ?? null, file);
      const assumed = usual && !keyword(call, "enabled") && !isChosenByType(call, file);
      if (
        !weights &&
        !all &&
        !chosen &&
        !assumed &&
        !(own.length > 0 && own.every((cast) => saysBfloat16(cast, file)))
      )
        continue;
      if (!isTorchScaler(call, file)) continue;
      const enabled = keyword(call, "enabled");
      const known = !enabled || isTrue(said(enabled.value, file));
      if (
        !known &&
        !chosen &&
        !/cuda|device/i.test(file.textOf(enabled.value)) &&
        !(all ? casts : own).some((cast) => isSwitchedBy(cast, enabled.value, file))
      )
        continue;
      scaled ??= call;
      yield {
        at: call.func,
        ...(known && !assumed ? {} : { severity: "note" as const }),
        message: FOR_NOTHING,
        fix: {
          grade: "unsafe",
          title: "Switch it off",
          edits: enabled
            ? [{ start: enabled.value.start, end: enabled.value.end, text: "False" }]
            : addKeyword(call, "enabled=False", file),
        },
      };
    }
    // `scaler = make_scaler()`, of another file that returns one which is on.
    for (const call of all ? facts.callsTo("makes") : [])
      if (
        facts.callee(call)?.makes === "scaler" &&
        !file.functionNamed(callTarget(call, file)) &&
        !isChosenByType(call, file)
      )
        yield { at: call, severity: "note", message: FOR_NOTHING };
    // The other half of it, for whoever changed the type and does not see the scaler from there.
    const type = scaled ? casts.map((cast) => argument(cast, "dtype", 1)).find((one) => one !== null) : null;
    if (type && Math.abs(file.lines.line(type.start) - file.lines.line(scaled!.start)) > SCREEN)
      yield {
        at: type,
        severity: "note",
        message:
          "In bfloat16 no gradient needs the scaling that this program does: the scaler only makes it wait",
      };
  },
};

/** `enabled=(dtype != "float32")`, where `dtype = "bfloat16"` unless somebody asks for another. */
function isOnForBfloat16(enabled: Expr | null, file: PythonFile): boolean {
  if (enabled?.kind !== "Compare" || enabled.left.kind !== "Name" || enabled.rights.length !== 1)
    return false;
  const [right] = enabled.rights;
  const on =
    enabled.ops[0] === "!="
      ? right?.kind === "Str" && /^(?:float32|fp32|no)$/.test(right.value ?? "")
      : enabled.ops[0] === "in" &&
          (right?.kind === "Tuple" || right?.kind === "List" || right?.kind === "Set")
        ? right.items.some(isNameOfBfloat16)
        : false;
  return (
    on &&
    file.scopes
      .reaching(enabled.left)
      .some(({ value }) => isNameOfBfloat16(value?.kind === "IfExp" ? value.body : value))
  );
}

/** `if dtype == "float16":`, where somebody sees to it that half precision is scaled and nothing else. */
const ASKS_FOR_HALF = /(?:[!=]=|\bin)\s*[([{]*(?:["'](?:float16|fp16|half|16)["']|torch\.(?:float16|half)\b)/;

/** `scaler = GradScaler() if precision == 16 else None`, also as a statement. */
function isChosenByType(call: Call, file: PythonFile): boolean {
  return ancestors(call).some(
    (at) =>
      (at.kind === "If" || at.kind === "IfExp") &&
      /16|half|amp|type|precision|scal/i.test(file.textOf(at.test)),
  );
}

/** `autocast("cuda", dtype=type)`, where `type` is bfloat16 unless somebody asks for another. */
function usesBfloat16(cast: Call, file: PythonFile): boolean {
  const dtype = argument(cast, "dtype", 1);
  return dtype !== null && isUsually(dtype, file);
}

/** `TYPES[name]`, `TYPES.get(name)` and `getattr(torch, name)`, where `name = "bfloat16"`; also under a name of its own. */
function isUsually(expr: Expr, file: PythonFile, depth = 0): boolean {
  if (depth > 3) return false;
  if (isBfloat16(expr, file)) return true;
  if (expr.kind === "Name") {
    const value = file.scopes.onlyValue(expr);
    return value !== null && isUsually(value, file, depth + 1);
  }
  // `torch.bfloat16 if name == "bfloat16" else torch.float16`
  if (expr.kind === "IfExp") {
    const { test, body } = expr;
    return (
      test.kind === "Compare" &&
      test.ops[0] === "==" &&
      namesBfloat16(test.left, file) &&
      isUsually(body, file, depth + 1)
    );
  }
  if (expr.kind === "Subscript") return namesBfloat16(expr.index, file) && holdsBfloat16(expr.value, file);
  if (expr.kind !== "Call") return false;
  const key = positional(expr, file.dotted(expr.func) === "builtins.getattr" ? 1 : 0);
  if (!key || !namesBfloat16(key, file)) return false;
  if (file.dotted(expr.func) === "builtins.getattr") return file.dotted(positional(expr, 0)!) === "torch";
  return expr.func.kind === "Attribute" && expr.func.attr === "get" && holdsBfloat16(expr.func.value, file);
}

/** A table of types that is written out: `{"bfloat16": torch.bfloat16, …}`. */
function holdsBfloat16(table: Expr, file: PythonFile): boolean {
  const dict = table.kind === "Name" ? file.scopes.onlyValue(table) : table;
  return (
    dict?.kind === "Dict" &&
    dict.keys.some((key, at) => isNameOfBfloat16(key) && file.dotted(dict.values[at]!) === "torch.bfloat16")
  );
}

/** `name`, of `name = "bfloat16"` and of `name = "bfloat16" if is_bf16_supported() else "float16"`. */
function namesBfloat16(expr: Expr, file: PythonFile): boolean {
  const value = expr.kind === "Name" ? file.scopes.onlyValue(expr) : null;
  return isNameOfBfloat16(value?.kind === "IfExp" ? value.body : value);
}

function isNameOfBfloat16(expr: Expr | null): boolean {
  return expr?.kind === "Str" && /^(?:bfloat16|bf16)$/.test(expr.value ?? "");
}

/** `USE_AMP`, set once at the top. */
function said(expr: Expr, file: PythonFile): Expr | null {
  return expr.kind === "Name" ? file.scopes.onlyValue(expr) : expr;
}

/** `autocast(enabled=use_amp, …)` beside `GradScaler(enabled=use_amp)`: whenever that is on, so is this. */
function isSwitchedBy(cast: Call, by: Expr, file: PythonFile): boolean {
  // That of `torch.cuda.amp` begins with it, the general one with the device.
  const first = /^torch\.\w+\.amp\./.test(file.dotted(cast.func) ?? "");
  const enabled = argument(cast, "enabled", first ? 0 : 2);
  if (!enabled || isFalse(said(by, file))) return false;
  return (
    file.textOf(enabled) === file.textOf(by) ||
    // `enabled=scaler.is_enabled()`
    (enabled.kind === "Call" && enabled.func.kind === "Attribute" && enabled.func.attr === "is_enabled")
  );
}

/** What a context is called that casts, where nobody sees what it is; the gradients of what is evaluated are another matter. */
const CASTS = /auto_?cast|(?:^|_)amp(?:_|$)|precision_(?:scope|context|ctx)|mixed_precision/i;

/** `with self.amp_context():`, `@amp_autocast`, by name; what scales or disables casts nothing. */
function isCastByName(expr: Expr, { file }: Facts): boolean {
  const callee = expr.kind === "Call" ? expr.func : expr;
  const word = lastWord(callee);
  return (
    CASTS.test(word) &&
    !/scale|disable|no_|suspend|without|skip/i.test(word) &&
    !(expr.kind === "Call" && isFalse(keyword(expr, "enabled")?.value ?? null)) &&
    !file.textOf(expr).includes("enabled=False")
  );
}

/** Where one stands under a cast, up to the function around: a block, a decorator, `enter_context(autocast())` before it. */
function isUnderCast(call: Call, facts: Facts): boolean {
  const isCast = (expr: Expr): boolean => isCastByName(expr, facts) || isAutocast(expr, facts);
  for (const at of ancestors(call)) {
    if (at.kind === "Lambda") return false;
    if (at.kind === "FunctionDef") return at.decorators.some(isCast);
    if (at.kind === "With")
      for (const { context } of at.items) {
        if (
          context.kind === "Call" &&
          keyword(context, "enabled") &&
          isFalse(keyword(context, "enabled")!.value)
        )
          return false;
        if (isCast(context)) return true;
      }
  }
  return false;
}

/**
 * Backward under what is called like a cast, itself or in a function that is called there; a scaler in a file that casts to
 * bfloat16 and speaks of no other half.
 */
function* likely(facts: Facts): Generator<Finding> {
  const { file } = facts;
  for (const { call } of facts.backwards) if (isUnderCast(call, facts)) yield { at: call, message: UNDER };
  for (const call of file.calls.matching(/step|train|backward|update|loss|optimi|learn|iter|fit|batch/i))
    if (
      !/_?test_/.test(lastWord(call.func)) &&
      !facts.backwards.some((one) => one.call === call) &&
      facts.callee(call)?.reachesBackward === true &&
      isUnderCast(call, facts)
    )
      yield { at: call, message: UNDER };
  if (!file.says(/bfloat16|bf16/) || !file.says(CASTS_AT_ALL) || file.says(OTHER_HALF)) return;
  // Without a type, it casts to float16.
  const isHalf = (call: Call): boolean =>
    isTorchAutocast(call, file) && argument(call, "dtype", 1) === null && facts.gradMode(call) !== "off";
  if (file.callsNamed("autocast").some(isHalf)) return;
  for (const call of file.callsNamed("GradScaler")) {
    const enabled = keyword(call, "enabled")?.value ?? null;
    if (isTorchScaler(call, file) && !isFalse(said(enabled ?? call, file)) && !isChosenByType(call, file))
      yield { at: call.func, message: FOR_NOTHING };
  }
  if (file.callsNamed("GradScaler").length > 0) return;
  const cast = file.callsNamed("autocast").find((call) => saysBfloat16(call, file));
  if (cast && file.all("Call").some((call) => isScaledBy(call, file)))
    yield { at: cast, message: FOR_NOTHING };
}

/** `loss_scaler(loss, optimizer, …)`, `scaler.scale(loss)` of one that is handed in, and asked for nothing else. */
function isScaledBy({ args, func }: Call, file: PythonFile): boolean {
  const scaler = func.kind === "Attribute" && func.attr === "scale" ? func.value : func;
  return (
    scaler.kind === "Name" &&
    /(?:^|_)scaler$/.test(scaler.id) &&
    args.length > 0 &&
    file.scopes.reaching(scaler).every(({ how }) => how === "param") &&
    !file.says(new RegExp(`\\b${scaler.id} is|if (?:not )?${scaler.id}\\b|else ${scaler.id}\\b`))
  );
}

const CASTS_AT_ALL = /autocast|mixed_precision|\bprecision\s*=/;
const OTHER_HALF =
  /(?<!b)float16|fp16|\.half\b|use_bf16|is_bf16|bf16\s*(?:else|if|and|or)|if [^\n]*(?:bf16|bfloat16)/;

/** The last statement of the block, alone on its line, one level out. */
function moveOut(call: Call, block: With, facts: Facts): Fix | null {
  const { file } = facts;
  const statement = statementOf(call);
  const last = block.body[block.body.length - 1];
  if (!statement || statement !== last || block.body.length < 2 || file.textOf(statement).includes("\n"))
    return null;
  const start = file.lines.start(file.lines.line(statement.start));
  const indent = indentAt(file, statement.start);
  if (file.text.slice(start, statement.start) !== indent) return null;
  return {
    grade: "unsafe",
    title: "Leave the block first",
    edits: [{ start, end: statement.start, text: indentAt(file, block.start) }],
  };
}

/** The context itself, a name or attribute it was kept under, or that of a driver: `accelerator.autocast()`. */
function isAutocast(expr: Expr, facts: Facts, depth = 0): boolean {
  const { file } = facts;
  const again = (inner: Expr | null): boolean => inner !== null && isAutocast(inner, facts, depth + 1);
  if (depth > DEEPEST) return false;
  if (expr.kind === "Call")
    return (
      isTorchAutocast(expr, file) ||
      (expr.func.kind === "Attribute" &&
        expr.func.attr === "autocast" &&
        file.dotted(expr.func) === null &&
        !isSelf(expr.func.value)) ||
      (!isFalse(keyword(expr, "enabled")?.value ?? null) &&
        (makesAutocast(expr.func, facts, depth + 1) || isGivenBy(callTarget(expr, file), facts, depth + 1)))
    );
  // `nullcontext() if device == "cpu" else autocast(…)`
  if (expr.kind === "IfExp") return again(expr.body) || again(expr.orelse);
  if (expr.kind === "Name") {
    const definitions = file.scopes.reaching(expr);
    // What each call of a function hands it.
    const [only, ...more] = definitions;
    if (only?.how === "param" && more.length === 0) {
      const handed = handedIn(only, file, true);
      return handed.length > 0 && handed.every(again);
    }
    // One for each branch of a test above, as `nullcontext()` on the host.
    return (
      definitions.every(({ how, value }) => how === "assign" && value !== null) &&
      definitions.some(({ value }) => again(value))
    );
  }
  return isOnlyMadeBy(expr, file, (made) => isTorchAutocast(made, file));
}

/** What gives the context when it is called: `context = autocast if half else nullcontext`, `partial(autocast, …)`, a lambda. */
function makesAutocast(callee: Expr, facts: Facts, depth: number): boolean {
  const { file } = facts;
  const again = (inner: Expr | null): boolean => inner !== null && makesAutocast(inner, facts, depth + 1);
  if (depth > DEEPEST) return false;
  if (AUTOCAST.test(file.dotted(callee) ?? "") || isGivenBy(file.dotted(callee), facts, depth + 1))
    return true;
  if (callee.kind === "IfExp") return again(callee.body) || again(callee.orelse);
  if (callee.kind === "Lambda") return isAutocast(callee.body, facts, depth + 1);
  if (callee.kind === "Call")
    return (
      file.dotted(callee.func) === "functools.partial" &&
      !isFalse(keyword(callee, "enabled")?.value ?? null) &&
      again(positional(callee, 0))
    );
  if (callee.kind === "Name") {
    const definitions = file.scopes.reaching(callee);
    return (
      definitions.every(({ how, value }) => how === "assign" && value !== null) &&
      definitions.some(({ value }) => again(value))
    );
  }
  const own = selfAttribute(callee);
  const cls = own === null ? null : classOf(callee);
  const writes = cls ? (attributesOf(cls, file).get(own!)?.writes ?? []) : [];
  return writes.length === 1 && again(writes[0]!.value ?? null);
}

/**
 * A function or method of this file that hands the context out, `return autocast("cuda") if half else nullcontext()`, or
 * is one itself: `with autocast("cuda"): yield` under `@contextmanager`.
 */
function isGivenBy(name: string | null, facts: Facts, depth: number): boolean {
  const { file } = facts;
  const fn = depth > DEEPEST ? undefined : file.functionNamed(name);
  if (!fn) return false;
  const given = file.once(returnsByName).get(name!) ?? [];
  return (
    given.some((one) => isAutocast(one, facts, depth + 1)) ||
    (fn.decorators.some((one) => lastWord(one) === "contextmanager") &&
      file
        .all("Yield")
        .some(
          (one) =>
            functionOf(one) === fn &&
            ancestors(one).some(
              (at) =>
                at.kind === "With" &&
                contains(fn, at) &&
                at.items.some(({ context }) => isAutocast(context, facts, depth + 1)),
            ),
        ))
  );
}

const AUTOCAST = /^torch\.(?:amp\.|cuda\.amp\.|cpu\.amp\.)?(?:autocast_mode\.)?autocast$/;

function isTorchAutocast(call: Call, file: PythonFile): boolean {
  return AUTOCAST.test(file.dotted(call.func) ?? "") && !isFalse(keyword(call, "enabled")?.value ?? null);
}

function saysBfloat16(call: Call, file: PythonFile): boolean {
  const dtype = argument(call, "dtype", 1);
  return dtype !== null && isBfloat16(dtype, file);
}

/** Said here, or by the name or attribute it was kept under. */
function isBfloat16(expr: Expr, file: PythonFile, depth = 0): boolean {
  if (file.dotted(expr) === "torch.bfloat16") return true;
  if (depth > 3) return false;
  if (expr.kind === "Name") {
    const value = file.scopes.onlyValue(expr);
    return value !== null && isBfloat16(value, file, depth + 1);
  }
  const own = selfAttribute(expr);
  const cls = own === null ? null : classOf(expr);
  const writes = cls ? (attributesOf(cls, file).get(own!)?.writes ?? []) : [];
  return (
    writes.length > 0 && writes.every(({ value }) => value !== null && isBfloat16(value, file, depth + 1))
  );
}
