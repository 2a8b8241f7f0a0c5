import { keyword, positional } from "../../python/file.ts";
import type { PythonFile } from "../../python/file.ts";
import { ancestors, classOf, contains, functionOf, lastWord } from "../../python/nodes.ts";
import type { Definition } from "../../python/scopes.ts";
import type { Call, Expr, Node } from "../../python/tree.ts";
import { isOnlyMadeBy, methodsOf, selfAttribute } from "./classes.ts";
import type { Facts } from "./facts.ts";
import { lexicalGrad } from "./gradmode.ts";
import { isOtherBranch } from "./guards.ts";
import { callsOf } from "./returns.ts";

/** An attention that is written out. */
interface Attention {
  /** The softmax of its scores. */
  readonly at: Call;
  /** The products of queries and keys that they come from. */
  readonly products: readonly Expr[];
}

/** Attentions that are written out in this file, and run in each step with gradients recorded. */
export function attentions(facts: Facts): readonly Attention[] {
  const found: Attention[] = [];
  const add = (call: Call, scores: Expr | null): void => {
    const products: Expr[] = [];
    if (!scores || !isScores(scores, facts, products) || !meetsValues(call, facts)) return;
    if (isRun(call, facts)) found.push({ at: call, products });
  };
  const { file } = facts;
  for (const call of file.callsNamed("exp")) {
    const scores = file.dotted(call.func) === "torch.exp" ? positional(call, 0) : methodOf(call, file);
    if (scores && isDivided(call, file)) add(call, scores);
  }
  for (const call of file.callsNamed("Softmax").length > 0 ? file.all("Call") : file.callsNamed("softmax"))
    add(call, softmaxOf(call, facts));
  return found;
}

/** What a softmax is taken of: by torch's functions, by the method, or by a layer. */
function softmaxOf(call: Call, facts: Facts): Expr | null {
  const name = facts.file.dotted(call.func) ?? "";
  if (name === "torch.nn.functional.softmax" || name === "torch.softmax" || isSoftmaxLayer(call.func, facts))
    return positional(call, 0);
  return call.func.kind === "Attribute" && call.func.attr === "softmax" && name === ""
    ? call.func.value
    : null;
}

/** `w = exp(scores - scores.amax(-1, keepdim=True))`, and `w / w.sum(-1, keepdim=True)`: a softmax all the same. */
function isDivided(call: Call, file: PythonFile): boolean {
  const fn = functionOf(call);
  return (
    fn !== null &&
    file.callsNamed("sum").some((sum) => {
      const over = sum.parent;
      return over?.kind === "Binary" && over.op === "/" && over.right === sum && contains(fn, sum);
    })
  );
}

/** `scores` of `scores.exp()`. */
function methodOf({ func }: Call, file: PythonFile): Expr | null {
  return func.kind === "Attribute" && file.dotted(func) === null ? func.value : null;
}

/**
 * In a class that has a fused attention too: what it writes out is for where there is none. For where a library is not
 * installed torch has its own, which a file that calls it elsewhere cannot do without, nor one that needs a second torch.
 */
export function isFallback(expr: Expr, { file }: Facts): boolean {
  const around = classOf(expr) ?? functionOf(expr) ?? file.tree.module;
  const fused = file.callsNamed("scaled_dot_product_attention");
  const isBeside = (call: Call): boolean =>
    contains(around, call) &&
    !isForGeneration(call, expr, file) &&
    // One of this file's own is not it, nor a method of the class.
    !(file.dotted(call.func) ?? "").startsWith(`${file.module}.`) &&
    !isOwnMethod(call.func);
  if (fused.some(isBeside)) return true;
  return (
    speaksOfFused(around, expr, file) &&
    (asksForVersion(file) ||
      !(file.says(OF_SECOND) || fused.some((call) => !contains(around, call) && isRelied(call, file))))
  );
}

const FUSED = /flash_attn|xformers/;

/**
 * By a name of a library's, wherever it stands in the class; but what another branch calls for a reason of its own,
 * `if self.polar is not None: flash_attn_with_polar(q, k, v)`, leaves this one without.
 */
function speaksOfFused(around: Node, written: Expr, file: PythonFile): boolean {
  if (!FUSED.test(file.textOf(around))) return false;
  const said = file.codeOf(around).match(new RegExp(FUSED.source, "g"))?.length ?? 0;
  const elsewhere = file
    .all("Name")
    .filter(
      (name) =>
        FUSED.test(name.id) &&
        contains(around, name) &&
        (isOtherBranch(name, written) || isLeftBefore(name, written)) &&
        !ancestors(name).some(
          (at) => at.kind === "If" && contains(around, at) && SAYS_IF_ANY.test(file.textOf(at.test)),
        ),
    );
  return said > elsewhere.length;
}

/** `if self.polar is not None: return flash_attn_with_polar(q, k, v)` above. */
function isLeftBefore(name: Node, written: Expr): boolean {
  return (
    functionOf(name) === functionOf(written) &&
    ancestors(name).some(
      (at) => at.kind === "If" && at.end < written.start && at.body.at(-1)?.kind === "Return",
    )
  );
}

/** A test for whether there is such a library, or whether it is wanted. */
const SAYS_IF_ANY =
  /flash|xformers|fused|sdpa|avail|install|has_?attr|cuda|dtype|device|training|backend|impl/i;

/** `self.scaled_dot_product_attention(q, k, v)`, which the class itself defines: what it calls inside is looked at there. */
function isOwnMethod(func: Expr): boolean {
  const own = selfAttribute(func);
  const cls = own === null ? null : classOf(func);
  return cls !== null && methodsOf(cls).some(({ name }) => name === own);
}

/** What came with the torch that has a fused attention, or after it: `torch.backends.cuda.enable_flash_sdp(True)`. */
const OF_SECOND =
  /\btorch\.(?:compile\(|_dynamo\b|func\.|nn\.attention\b|export\.export|set_default_device\()|\benable_(?:flash|math|mem_efficient|cudnn)_sdp\(|\bsdp_kernel\(|\bflex_attention\b|\bnn\.RMSNorm\(|\bF\.rms_norm\(/;

/** `if hasattr(F, "scaled_dot_product_attention"):` */
function asksForVersion(file: PythonFile): boolean {
  return file.says(/hasattr\([^)]*(?:scaled_dot_product|compile)|torch\.__version__/);
}

/** By its own name. */
function isRelied(fused: Call, file: PythonFile): boolean {
  return file.dotted(fused.func) === "torch.nn.functional.scaled_dot_product_attention";
}

/** In the branches that a training does not come to, `if cache is None:` with what is written out. */
function isForGeneration(fused: Call, written: Expr, file: PythonFile): boolean {
  return ancestors(written).some(
    (at) =>
      at.kind === "If" &&
      /^(?:\w+\.)?\w*(?:cache|past)\w* is None\b|^self\.training$/.test(file.textOf(at.test)) &&
      at.body.some((one) => contains(one, written)) &&
      at.orelse.some((one) => contains(one, fused)),
  );
}

/** Each step, recorded, and no fallback. */
function isRun(call: Call, facts: Facts): boolean {
  return (
    !isFallback(call, facts) &&
    (facts.hot(call) !== null || isForOthers(call, facts)) &&
    lexicalGrad(call, facts.file) !== "off"
  );
}

/** `def attention(query, key, value):`, which nobody in the tree is seen calling. */
function isForOthers(call: Call, facts: Facts): boolean {
  const fn = functionOf(call);
  return (
    fn?.kind === "FunctionDef" &&
    fn.parent?.kind === "Module" &&
    /attention|attn/i.test(fn.name) &&
    fn.params.length > 2 &&
    facts.accelerator &&
    facts.gradMode(call) === "unknown"
  );
}

/** `self.softmax = nn.Softmax(dim=-1)`, or `nn.Softmax(dim=-1)(scores)`. */
function isSoftmaxLayer(expr: Expr, facts: Facts): boolean {
  if (expr.kind === "Call") return facts.file.dotted(expr.func) === "torch.nn.Softmax";
  return isOnlyMadeBy(expr, facts.file, (made) => facts.file.dotted(made.func) === "torch.nn.Softmax");
}

/** `q @ k.transpose(-2, -1)`, scaled or masked, directly, through names of the function, or from those who call it. */
function isScores(expr: Expr, facts: Facts, products: Expr[], depth = 0): boolean {
  if (depth > 8) return false;
  const again = (inner: Expr): boolean => isScores(inner, facts, products, depth + 1);
  const product = (is: boolean): boolean => {
    if (is) products.push(expr);
    return is;
  };
  if (expr.kind === "Binary")
    return expr.op === "@"
      ? product(isTransposed(expr.right, facts) || isTransposed(expr.left, facts))
      : /^[*/+-]$/.test(expr.op) && (again(expr.left) || again(expr.right));
  if (expr.kind === "Name")
    return facts.file.scopes.reaching(expr).some(
      (one) =>
        (one.value !== null &&
          ((one.how === "assign" && again(one.value)) ||
            // `scores += bias`: what they were before.
            (one.how === "augment" && one.node.kind === "Name" && one.node !== expr && again(one.node)))) ||
        (one.how === "param" && handed(one, facts).some(again)),
    );
  // `scores.masked_fill(~mask, -inf) if mask.dtype == torch.bool else scores + mask`
  if (expr.kind === "IfExp") return again(expr.body) || again(expr.orelse);
  if (expr.kind !== "Call") return false;
  const name = facts.file.dotted(expr.func) ?? "";
  const first = name === "torch.baddbmm" ? 1 : 0;
  if (/^torch\.(?:matmul|bmm|baddbmm)$/.test(name))
    return product(
      [positional(expr, first), positional(expr, first + 1)].some(
        (side) => side !== null && isTransposed(side, facts),
      ),
    );
  // `maybe_add_mask(scores, mask)`, `self.add_bias(scores)`: of whatever file, it gives them back with something added.
  const [given] = expr.args;
  if (ADDS_MASK.test(lastWord(expr.func)) && given?.star === 0 && !name.startsWith("torch."))
    return again(given.value);
  // `torch.where(mask, scores, -inf)`
  if (/^torch\.(?:where|masked_fill)$/.test(name)) return expr.args.some(({ value }) => again(value));
  if (EINSUM.test(name))
    return product(
      makesPairs(
        name.startsWith("torch.")
          ? equationOf(positional(expr, 0), facts.file).replaceAll(" ", "")
          : equationOf(expr.args.at(-1)?.value ?? null, facts.file),
      ),
    );
  if (expr.func.kind === "Attribute" && name === "" && /^(?:matmul|bmm)$/.test(expr.func.attr))
    return product(
      expr.args.length === 1 &&
        (isTransposed(expr.args[0]!.value, facts) || isTransposed(expr.func.value, facts)),
    );
  return (
    expr.func.kind === "Attribute" &&
    name === "" &&
    /^(?:masked_fill|masked_fill_|float|div|div_|mul|mul_|add|add_|sub|clamp|type_as|to)$/.test(
      expr.func.attr,
    ) &&
    again(expr.func.value)
  );
}

const ADDS_MASK =
  /^_?(?:(?:maybe|apply|add|with|fill|set)_(?:\w+_)?(?:mask|bias|alibi|rel_?pos\w*)(?:_\w+)?|mask(?:ed)?_(?:scores?|logits|attn|attention))$/;

/** Torch's takes the equation first, of letters; that of einops last, of words: `einsum(q, k, "b query d, b key d -> b query key")`. */
const EINSUM = /^(?:torch|einops(?:\.einops)?)\.einsum$/;

/** The axes of one side of an equation: words with spaces between them, or else letters. */
function axesOf(side: string): readonly string[] {
  const words = side.trim().split(/\s+/);
  return words.length > 1 ? words : [...side.trim()];
}

/** "b h i d, b h j d -> b h i j", with or without an `f` before it; "" where something is filled in. */
export function equationOf(form: Expr | null, file: PythonFile): string {
  if (form?.kind !== "Str") return "";
  const text = form.value ?? file.textOf(form).replace(/^[a-z]*["']+|["']+$/gi, "");
  return text.includes("{") ? "" : text;
}

/** What a helper is given: `masked_softmax(scores, lengths)`. A forward is called from anywhere. */
function handed({ name, node }: Definition, { file }: Facts): readonly Expr[] {
  const fn = node.parent;
  if (fn?.kind !== "FunctionDef" || fn.name === "forward") return [];
  const at = fn.params.findIndex((param) => param.name === name) - (fn.params[0]?.name === "self" ? 1 : 0);
  return callsOf(fn, file).flatMap((call) => keyword(call, name)?.value ?? positional(call, at) ?? []);
}

/** "bhid,bhjd->bhij", summed over the last dimension of both; "bct,bcs->bts" over another, with a batch to tell it from a layer. */
function makesPairs(form: string): boolean {
  const match = /^([\w.\s]+),([\w.\s]+)->([\w.\s]+)$/.exec(form);
  if (!match) return false;
  const [left, right, out] = [axesOf(match[1]!), axesOf(match[2]!), axesOf(match[3]!)];
  if (left.at(-1) === right.at(-1) && !out.includes(left.at(-1)!)) return true;
  const shared = left.filter((one) => right.includes(one));
  const own = (side: readonly string[]): boolean =>
    side.some((one) => !shared.includes(one) && out.includes(one));
  return (
    shared.some((one) => out.includes(one)) &&
    shared.some((one) => !out.includes(one)) &&
    own(left) &&
    own(right)
  );
}

/** Methods that leave a matrix turned as it is. */
const SAME_TURN = /^(?:contiguous|float|half|to|type_as|mul|div)$/;

/** `k.transpose(-2, -1)`, also under a name, scaled, or laid out anew: queries that are turned meet keys as a convolution makes them. */
function isTransposed(expr: Expr, facts: Facts, depth = 0): boolean {
  if (expr.kind === "Name" && depth < 3)
    return facts.file.scopes
      .reaching(expr)
      .some((one) => one.how === "assign" && one.value !== null && isTransposed(one.value, facts, depth + 1));
  if (expr.kind === "Attribute") return expr.attr === "mT" || expr.attr === "T";
  if (expr.kind === "Binary")
    return (
      /^[*/]$/.test(expr.op) &&
      depth < 3 &&
      (isTransposed(expr.left, facts, depth + 1) || isTransposed(expr.right, facts, depth + 1))
    );
  if (expr.kind === "Call" && isRearranged(expr, facts.file)) return true;
  if (expr.kind !== "Call" || expr.func.kind !== "Attribute") return false;
  if (SAME_TURN.test(expr.func.attr)) return depth < 3 && isTransposed(expr.func.value, facts, depth + 1);
  return /^(?:transpose|permute|t|mT|swapaxes)$/.test(expr.func.attr) && facts.file.textOf(expr).length < 200;
}

const REARRANGES = /^einops(?:\.einops)?\.rearrange$/;
/** `x` of `rearrange(x, "b h i j -> (b h) i j")`: the same places in another order. */
export function rearrangedOf(call: Call, file: PythonFile): Expr | null {
  return lastWord(call.func) === "rearrange" && REARRANGES.test(file.dotted(call.func) ?? "")
    ? positional(call, 0)
    : null;
}

const REARRANGING = /^einops\.layers\.torch\.Rearrange$/;

/**
 * `rearrange(q, "b c h w -> b (h w) c")`, `rearrange(k, "b n (h d) -> b h d n")`, or a layer that does it: the last two axes come out
 * the other way round than they went in.
 */
function isRearranged(call: Call, file: PythonFile): boolean {
  if (REARRANGES.test(file.dotted(call.func) ?? ""))
    return isTurningOver(keyword(call, "pattern")?.value ?? positional(call, 1), file);
  const layer = (made: Call): boolean =>
    REARRANGING.test(file.dotted(made.func) ?? "") &&
    isTurningOver(keyword(made, "pattern")?.value ?? positional(made, 0), file);
  return call.func.kind === "Call" ? layer(call.func) : isOnlyMadeBy(call.func, file, layer);
}

function isTurningOver(pattern: Expr | null, file: PythonFile): boolean {
  const [given, made, ...more] = equationOf(pattern, file).split("->");
  if (given === undefined || made === undefined || more.length > 0) return false;
  const order: readonly string[] = given.match(/[a-z_]\w*/gi) ?? [];
  const [rows, columns] = (made.match(/\([^)]*\)|\S+/g) ?? [])
    .slice(-2)
    .map((axis) => (axis.match(/[a-z_]\w*/gi) ?? []).map((name) => order.indexOf(name)));
  // What stands for several axes, or is there only after, has no place among those that went in.
  if (!rows || !columns || rows.length === 0 || columns.length === 0) return false;
  return [...rows, ...columns].every((at) => at >= 0) && Math.min(...rows) > Math.max(...columns);
}

const MULTIPLIES = new RegExp(`^torch\\.(?:matmul|bmm)$|${EINSUM.source}`);

/** What is multiplied as matrices, by operator, function or method. */
function multiplied(file: PythonFile): readonly Expr[] {
  return [
    ...file.all("Binary").flatMap(({ op, left, right }) => (op === "@" ? [left, right] : [])),
    ...file
      .callsNamed("matmul", "bmm", "einsum")
      .flatMap(({ func, args }) =>
        MULTIPLIES.test(file.dotted(func) ?? "") ? args.map(({ value }) => value) : [],
      ),
    ...file
      .callsNamed("matmul", "bmm")
      .flatMap(({ func }) =>
        func.kind === "Attribute" && /^(?:matmul|bmm)$/.test(func.attr) && file.dotted(func) === null
          ? [func.value]
          : [],
      ),
  ].flatMap((one) => (one.kind === "List" || one.kind === "Tuple" ? one.items : [one]));
}

/** The weights are then multiplied with values in the same function, or where the one that makes them is called. */
function meetsValues(weights: Call, facts: Facts, depth = 0): boolean {
  const fn = functionOf(weights);
  if (!fn) return false;
  if (depth === 0 && fn.kind === "FunctionDef" && fn.name !== "forward" && isHandedBack(weights, facts))
    return callsOf(fn, facts.file).some((call) => meetsValues(call, facts, 1));
  return facts.file
    .once(multiplied)
    .some(
      (left) =>
        contains(fn, left) &&
        (left.start > weights.start || contains(left, weights)) &&
        comesFrom(left, weights, facts, 0, depth > 0),
    );
}

/** `return scores.softmax(-1)`, by itself or under a name. */
function isHandedBack(weights: Call, { file }: Facts): boolean {
  const { parent } = weights;
  if (parent?.kind === "Return") return true;
  const [target] = parent?.kind === "Assign" ? parent.targets : [];
  const made = target?.kind === "Name" ? file.scopes.definitionAt(target) : null;
  const uses = made ? file.scopes.uses(made) : [];
  return uses.length > 0 && uses.every((use) => use.parent?.kind === "Return");
}

/** What keeps weights what they are. */
const KEEPS = /drop|^(?:to|type_as|float|half|view|reshape|unsqueeze|masked_fill|nan_to_num)$/i;

/** Through names and calls; weights that another function made may be wanted for something else, so only through what keeps them. */
function comesFrom(expr: Expr, source: Call, facts: Facts, depth: number, kept: boolean): boolean {
  if (expr === source) return true;
  if (depth > 5) return false;
  if (expr.kind === "Name")
    return facts.file.scopes
      .reaching(expr)
      .some((one) => one.value !== null && comesFrom(one.value, source, facts, depth + 1, kept));
  // `self.dropout(weights) if self.training else weights`
  if (expr.kind === "IfExp")
    return [expr.body, expr.orelse].some((one) => comesFrom(one, source, facts, depth + 1, kept));
  // Divided by their sum, or by a scale; what multiplies them the fused one has no place for.
  if (expr.kind === "Binary" && expr.op === "/") return comesFrom(expr.left, source, facts, depth + 1, kept);
  return (
    expr.kind === "Call" &&
    expr.args.length > 0 &&
    !(kept && !KEEPS.test(lastWord(expr.func))) &&
    (comesFrom(expr.args[0]!.value, source, facts, depth + 1, kept) ||
      (expr.func.kind === "Attribute" && comesFrom(expr.func.value, source, facts, depth + 1, kept)))
  );
}
