import { keyword } from "../../python/file.ts";
import type { PythonFile } from "../../python/file.ts";
import { classOf, functionOf, lastWord, namesIn, statementOf, walk } from "../../python/nodes.ts";
import type { Call, Expr, FunctionDef, Node } from "../../python/tree.ts";
import { methodsOf, selfAttribute } from "./classes.ts";
import type { Facts } from "./facts.ts";
import { isSetting, isSize } from "./own-settings.ts";
import { TABLES, isPlace } from "./position-tables.ts";
import { callTarget } from "./summary.ts";

/** Tables that a step makes of sizes and settings alone, as far as their names say. */

/** What a function that makes a table is called. */
const MAKERS =
  /sin_?cos|sinusoid|(?:^|_)(?:rope|rotary|freqs?(?:_cis)?|inv_freqs?|alibi|mel_basis|mel_filters?|melscale_fbanks|dct|filter_?banks?|fbanks?|window|gaussian_kernel|gauss_kernel|hadamard|anchors|priors|coords?_grid|base_grid|meshgrid|pos(?:ition(?:al)?)?_(?:emb\w*|enc\w*|table|index)|rel\w*_(?:pos\w*_)?(?:index|table)|beta_schedule|betas|noise_schedule|toeplitz|lookup_table)(?:_\d?d)?$/i;

/** A table in the making, by what it is made for. */
const SCALED = /^(?:torch|numpy)\.(?:sin|cos|polar)$/;

/** `build_mel_basis(16000, 512)`, `get_sincos(x.shape[-1], size)`, `torch.hann_window(self.n)`, `torch.sin(positions * freqs)`. */
export function isLikelyTable(call: Call, facts: Facts): boolean {
  const { file } = facts;
  const fn = functionOf(call);
  if (
    fn?.kind !== "FunctionDef" ||
    /^__init__$|^(?:_?(?:init|reset|build|setup|precompute|make|create|load)_)/.test(fn.name)
  )
    return false;
  if (!isGivenTensor(fn, file) || !isMadeOfCounts(call, facts)) return false;
  if (isForKeeping(call, file) || isRow(call, file) || !facts.everyStep(call)) return false;
  return !/cache/i.test(fn.decorators.map((one) => file.textOf(one)).join(" "));
}

/** `self.get_rel_indices(n)` of a forward, whose method puts a table of places on self: it is there, and is made anew all the same. */
export function isKeptInVain(call: Call, facts: Facts): boolean {
  const { file } = facts;
  const own = selfAttribute(call.func);
  const cls = own === null ? null : classOf(call);
  const fn = functionOf(call);
  if (call.parent?.kind !== "ExprStmt" || !cls || fn?.kind !== "FunctionDef" || call.parent.parent !== fn)
    return false;
  const method = methodsOf(cls).find(({ name }) => name === own);
  if (fn.name !== "forward" || !method || call.args.length === 0 || !facts.everyStep(call)) return false;
  const code = file.codeOf(method);
  return (
    /\b(?:arange|linspace|meshgrid)\(/.test(code) &&
    /\bself\.\w+ *= /.test(code) &&
    !/\bif\b|\brand|cache/.test(code) &&
    call.args.every(({ value }) => isLikelyCount(value, facts))
  );
}

function isMadeOfCounts(call: Call, facts: Facts): boolean {
  const { file } = facts;
  const word = lastWord(call.func);
  const name = file.dotted(call.func) ?? "";
  const sizes = call.args.filter(
    ({ name: key, value }) => !/^(?:device|dtype|periodic)$/.test(key ?? "") && !isPlace(value),
  );
  if (SCALED.test(name) || (name === "" && /^(?:sin|cos)$/.test(word) && call.func.kind === "Attribute")) {
    const of = name === "" && call.func.kind === "Attribute" ? call.func.value : call.args.at(-1)?.value;
    return of !== undefined && countsUp(of, facts);
  }
  if (/^(?:torch|numpy)\./.test(name) && TABLES.has(word))
    return (
      !/^(?:arange|eye)$/.test(word) &&
      sizes.some(
        ({ value }) => namesIn(value).length > 0 || (value.kind === "Num" && Number(value.text) >= 256),
      ) &&
      sizes.every(({ value }) => isLikelyCount(value, facts))
    );
  if (!MAKERS.test(word) || sizes.length === 0) return false;
  // `coords_grid(h // 8, w // 8, device=x.device)`: a few kernels where it is used.
  if (/grid$/i.test(word) && keyword(call, "device")) return false;
  // A layer of that name, a network, or a function that keeps what it makes.
  if (selfAttribute(call.func) !== null || name === "") {
    const made = file.functionNamed(callTarget(call, file));
    // Of a layer, it looks up what that keeps.
    if (
      !made ||
      made.name === "forward" ||
      /cache|\bself\.\w+ ?=|\bglobal\b|rand/i.test(file.codeOf(made).replaceAll(made.name, ""))
    )
      return false;
  } else if (
    file.functionNamed(name) &&
    /cache|\bglobal\b|rand/i.test(file.codeOf(file.functionNamed(name)!).replaceAll(word, ""))
  )
    return false;
  return sizes.every(({ value }) => isLikelyCount(value, facts));
}

/** Made of an `arange` and of numbers, through whatever names. */
function countsUp(expr: Expr, facts: Facts): boolean {
  let counted = false;
  const made = (one: Expr, depth: number): boolean => {
    if (depth > 14) return false;
    const again = (inner: Expr): boolean => made(inner, depth + 1);
    if (isPlace(one) || isLikelyCount(one, facts)) return true;
    if (one.kind === "Name") {
      const value = facts.file.scopes.onlyValue(one);
      return value !== null && functionOf(value) === functionOf(one) && again(value);
    }
    if (one.kind === "Binary") return again(one.left) && again(one.right);
    if (one.kind === "Unary") return again(one.operand);
    if (one.kind === "Subscript") return again(one.value);
    if (one.kind === "Tuple" || one.kind === "List") return one.items.every(again);
    if (one.kind !== "Call") return false;
    const name = facts.file.dotted(one.func) ?? "";
    if (/^(?:torch|numpy)\.(?:arange|linspace)$/.test(name)) counted = true;
    if (/rand|bernoulli|normal/.test(lastWord(one.func))) return false;
    const given = one.args.every(
      (arg) => /^(?:device|dtype|indexing)$/.test(arg.name ?? "") || again(arg.value),
    );
    if (/^(?:torch|numpy|math|builtins)\./.test(name)) return given;
    return (
      name === "" &&
      one.func.kind === "Attribute" &&
      (given || /^(?:to|type_as|type)$/.test(one.func.attr)) &&
      again(one.func.value)
    );
  };
  return made(expr, 0) && counted;
}

/** A number, a setting, or a size of the input, as far as the name says; a batch is another one each time. */
function isLikelyCount(expr: Expr, facts: Facts, depth = 0): boolean {
  const { file } = facts;
  const again = (one: Expr): boolean => depth < 6 && isLikelyCount(one, facts, depth + 1);
  switch (expr.kind) {
    case "Num":
    case "Const":
    case "Str":
      return true;
    case "Binary":
      return again(expr.left) && again(expr.right);
    case "Unary":
      return again(expr.operand);
    case "Bool":
      return expr.values.every(again);
    case "Tuple":
    case "List":
      return expr.items.every(again);
    case "Call":
      return (
        isSize(expr, facts) ||
        (/^(?:builtins\.(?:int|float|round|max|min|len|tuple|list)|math\.\w+|numpy\.(?:sqrt|log\w*|ceil|floor))$/.test(
          file.dotted(expr.func) ?? "",
        ) &&
          expr.args.every(({ value }) => again(value)))
      );
    case "Name": {
      if (isSize(expr, facts) || isSetting(expr, facts)) return true;
      const value = file.scopes.onlyValue(expr);
      if (value !== null) return again(value);
      return (
        SIZES.test(expr.id) && file.scopes.reaching(expr).every(({ how }) => /param|assign|unpack/.test(how))
      );
    }
    case "Attribute":
      return (
        isSetting(expr, facts) ||
        /^(?:pi|e)$/.test(expr.attr) ||
        (/^(?:args|opts?|cfg|conf|config|hparams|hps?|params|self)$/.test(lastWord(expr.value)) &&
          SIZES.test(expr.attr)) ||
        /(?:^|_)(?:args|cfg|config|hparams|hps?)$/.test(lastWord(expr.value))
      );
    case "Subscript":
      return isSize(expr, facts) || (expr.index.kind === "Str" && again(expr.value));
    default:
      return false;
  }
}

/** What sizes and settings are called. */
const SIZES =
  /^(?:\w+_)?(?:n|dim|dims|size|width|height|h|w|len|length|seqlen|channels?|heads|num_\w+|n_\w+|max_\w+|base|theta|sr|rate|sample_rate|n_fft|fmin|fmax|win_\w+|hop_\w+|period|scale|sigma|resolution|res|bins|mels|grid_\w+|embed_dim|d_model|kernel_size)$/i;

/** A step, or a function that does something with a tensor: one that is told sizes alone makes the table for others. */
function isGivenTensor(fn: FunctionDef, file: PythonFile): boolean {
  const names = fn.params.map(({ name }) => name).filter((name) => !/^(?:self|cls|device|dtype)$/.test(name));
  return (
    /^forward|loss|_step$/.test(fn.name) ||
    (names.length > 0 &&
      new RegExp(
        `\\b(?:${names.join("|")})\\.(?:shape|size|device|dtype|view|reshape|unsqueeze|to|float|transpose|permute|new_\\w+|is_cuda|dim|ndim|squeeze)\\b`,
      ).test(file.codeOf(fn)))
  );
}

/**
 * `torch.linspace(0, 1, n, device=x.device)`: a row of numbers that is made where it is used is one small kernel, and one that stays on
 * the host is not waited for. Spread over the places of a grid it is a table.
 */
export function isRow(node: Node, file: PythonFile): boolean {
  if (node.kind !== "Call" || !TABLES.has(lastWord(node.func)) || lastWord(node.func) === "eye") return false;
  const statement = statementOf(node);
  const [target] = statement?.kind === "Assign" ? statement.targets : [];
  const name = target?.kind === "Name" ? target.id : null;
  const text = [
    statement ? file.textOf(statement) : "",
    name === null
      ? ""
      : usesOf(target!, file)
          .map((one) => file.textOf(statementOf(one) ?? one))
          .join("\n"),
  ].join("\n");
  if (/\.repeat\(|\b(?:meshgrid|outer|ger|tile)\(/.test(text)) return false;
  return keyword(node, "device") !== null || !/\.(?:to|cuda|type_as)\(/.test(text);
}

function usesOf(target: Expr, file: PythonFile): readonly Expr[] {
  const made = target.kind === "Name" ? file.scopes.definitionAt(target) : null;
  return made ? file.scopes.uses(made) : [];
}

/** Kept on self or by a global, or made because what is kept does not do: `if n > self.longest:`. */
export function isForKeeping(call: Node, file: PythonFile): boolean {
  const fn = functionOf(call);
  if (
    fn?.kind === "FunctionDef" &&
    /self\.\w+ is (?:not )?None|\bglobal\b|setattr\(|cache/i.test(file.codeOf(fn))
  )
    return true;
  let child = call;
  for (let at = call.parent; at && at !== fn; child = at, at = at.parent) {
    if (at.kind === "If" && /\bself\b|None|cache|not in|hasattr/.test(file.textOf(at.test))) return true;
    // `if key in kept: …`, and the other branch makes it.
    if (
      at.kind === "If" &&
      at.test.kind === "Compare" &&
      at.test.ops[0] === "in" &&
      at.orelse.includes(child as never)
    )
      return true;
    if (at.kind === "IfExp" && /\bself\b|None|cache/.test(file.textOf(at.test))) return true;
    if (at.kind === "Assign" && at.targets.some((one) => isKeeper(one))) return true;
    if (
      at.kind === "Call" &&
      /^(?:register_buffer|append|setdefault|setattr|copy_|update|save)$/.test(lastWord(at.func))
    )
      return true;
  }
  // `pe = table(n)`, and `self.pe = pe` below.
  const statement = call.parent?.kind === "Assign" ? call.parent.targets[0] : null;
  const made = statement?.kind === "Name" ? file.scopes.definitionAt(statement) : null;
  return (
    made !== null &&
    file.scopes
      .uses(made)
      .some(
        ({ parent }) =>
          (parent?.kind === "Assign" && parent.targets.some((one) => isKeeper(one))) ||
          (parent?.kind === "Arg" &&
            parent.parent?.kind === "Call" &&
            /^(?:register_buffer|setattr)$/.test(lastWord(parent.parent.func))),
      )
  );
}

function isKeeper(target: Expr): boolean {
  let kept = false;
  walk(target, (node) => {
    kept ||= node.kind === "Name" && (node.id === "self" || /cache/i.test(node.id));
    return !kept;
  });
  return kept;
}
