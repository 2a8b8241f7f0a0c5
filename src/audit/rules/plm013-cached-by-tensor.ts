import type { Definition } from "../../python/scopes.ts";
import { argument, isNone, keyword, positional } from "../../python/file.ts";
import type { PythonFile } from "../../python/file.ts";
import { classOf, contains, functionOf, walk } from "../../python/nodes.ts";
import type { Call, Expr, FunctionDef, Lambda, Name, Param } from "../../python/tree.ts";
import { attributesOf, methodsOf, selfAttribute } from "../facts/classes.ts";
import { returnsDeviceTensor } from "../facts/device-results.ts";
import type { Facts } from "../facts/facts.ts";
import { isLikelyOutput, isSmall } from "../facts/likely-outputs.ts";
import { hasTensorMethod } from "../facts/inputs.ts";
import { isComputedName } from "../facts/likely.ts";
import { keeps } from "../facts/kept.ts";
import { isNetwork } from "../facts/networks.ts";
import { callsOf } from "../facts/returns.ts";
import { usedAsTensor } from "../facts/tensor-use.ts";
import { FUNCTIONS, METHODS, TENSOR_ONLY_METHODS, last } from "../facts/torch-names.ts";
import { loopsAround } from "../facts/training.ts";
import type { Finding, Rule } from "../rule.ts";
import { assignsOfKind } from "../facts/assigns.ts";

export const rule: Rule = {
  meta: {
    code: "PLM013",
    name: "cached-by-tensor",
    summary:
      "A cache looked up by tensors, or a closure kept over them: it keeps them, and never finds them again",
    severity: "error",
    fix: "none",
    patterns: [13],
  },
  *check(facts) {
    const { file } = facts;
    for (const fn of file.all("FunctionDef")) {
      const decorator = fn.decorators.find((one) =>
        CACHES.test(file.dotted(one.kind === "Call" ? one.func : one) ?? ""),
      );
      // `cached(cache, key=…)` looks up what its maker says.
      if (!decorator || (decorator.kind === "Call" && keyword(decorator, "key"))) continue;
      const param = keyTensor(fn, facts);
      // Asked for nothing, it has one answer to keep.
      const isAsked = fn.params.some(({ name }) => !/^(?:self|cls)$/.test(name));
      if (!param && isAsked && isUnbounded(decorator, facts) && givesDeviceTensor(fn, facts))
        yield {
          at: decorator,
          severity: "note",
          message: `The cache never forgets: a tensor stays on the device for every set of arguments that \`${fn.name}\` was ever called with`,
        };
      if (param)
        yield {
          at: decorator,
          message: `Tensors are looked up by identity: every new \`${param.name}\` misses, and the cache keeps it, its graph and the result alive`,
        };
    }
    for (const call of file.callsNamed("lru_cache", "cache")) {
      const wrapped = wrappedBy(call, facts);
      const param = wrapped && keyTensor(wrapped, facts);
      if (param)
        yield {
          at: call,
          message: `Tensors are looked up by identity: every new \`${param.name}\` misses, and the cache keeps it, its graph and the result alive`,
        };
    }
    yield* ownCaches(facts);
    yield* closures(facts);
    for (const { added, how, root } of keeps(facts)) {
      const captured = how === "list" ? capturedBy(added, facts) : null;
      if (captured) {
        yield {
          at: added,
          message: `Each function put into \`${file.textOf(root)}\` keeps its own \`${file.textOf(captured)}\` alive, with its graph`,
        };
        continue;
      }
      const held = how === "list" ? capturedBy(added, facts, (value) => isHeldOnDevice(value, facts)) : null;
      if (held)
        yield {
          at: added,
          severity: "note",
          message: `Each function put into \`${file.textOf(root)}\` keeps its own \`${file.textOf(held)}\` alive on the device until it is called and dropped; keep a copy on the host`,
        };
    }
  },
};

const CACHES =
  /^functools\.(?:lru_cache|cache)$|^cachetools\.(?:cached|func\.\w+_cache)$|^methodtools\.lru_cache$/;

/** The function of `lru_cache(maxsize=n)(embed)` and `cache(self.embed)`. */
function wrappedBy(call: Call, { file, guesses }: Facts): FunctionDef | Lambda | null {
  if (!CACHES.test(file.dotted(call.func) ?? "")) return null;
  const outer = call.parent?.kind === "Call" && call.parent.func === call ? call.parent : call;
  const given = outer.args[0]?.value;
  if (guesses && given?.kind === "Lambda") return given;
  const own = given ? selfAttribute(given) : null;
  if (own !== null) return methodsOf(classOf(call)!).find(({ name }) => name === own) ?? null;
  const made = given?.kind === "Name" ? only(file.scopes.reaching(given))?.node : null;
  return made?.kind === "FunctionDef" ? made : null;
}

/** Hands back what it has put on the device; that is not guessed of what says nothing of one. */
function givesDeviceTensor(fn: FunctionDef, facts: Facts): boolean {
  const code = facts.guesses ? facts.file.codeOf(fn) : "";
  if (facts.guesses && !/\.to\(|\.cuda\(|device/.test(code)) return false;
  return returnsDeviceTensor(fn, facts) || (facts.guesses && /\.to\((?:\w+\.)*device|\.cuda\(/.test(code));
}

/** The tensor among what a function is looked up by. */
function keyTensor(fn: FunctionDef | Lambda, facts: Facts): Param | undefined {
  return fn.params.find(
    (one) =>
      isTensor(one, facts) ||
      isFed(one, facts) ||
      TENSORS.test(one.name) ||
      isReduced(one, fn, facts) ||
      isCalledAsTensors(one, facts),
  );
}

/** `flow`, `images`, `features`: in a file about torch a tensor by its name, unless it says otherwise. */
function isCalledAsTensors({ annotation, default: usual, name }: Param, { file, guesses }: Facts): boolean {
  return (
    guesses &&
    annotation === null &&
    usual === null &&
    file.mentions("torch") &&
    (isComputedName(name) ||
      /^(?:flow|images?|imgs?|coords?|grid|noise|waveform|audio|mel|points|xyz|tensor)$/.test(name))
  );
}

/** What nobody calls anything else so. */
const TENSORS = /^(?:edge_(?:index|attr|weight)|input_ids|attention_mask|hidden_states)$/;

/**
 * `(pos[i] - pos[j]).norm(dim=-1)`, `(ids != pad).unsqueeze(1)`: only tensors have that, and nothing but the parameters can be
 * one.
 */
function isReduced(param: Param, fn: FunctionDef | Lambda, { file }: Facts): boolean {
  const isParam = (name: Name): boolean => fn.params.some((one) => one.name === name.id);
  const ofTensors = [...file.callsNamed(...TENSOR_ONLY_METHODS), ...file.calls.given(["dim"])];
  return ofTensors.some((call) => {
    const { func } = call;
    if (functionOf(call) !== fn || func.kind !== "Attribute" || file.dotted(func) !== null) return false;
    if (!METHODS.has(func.attr)) return false;
    const names = operandsOf(func.value);
    return names !== null && names.every(isParam) && names[0]?.id === param.name;
  });
}

/** The names that an expression of nothing but operators, indices and constants is computed from; null of any other. */
function operandsOf(expr: Expr): Name[] | null {
  switch (expr.kind) {
    case "Name":
      return [expr];
    case "Num":
      return [];
    case "Unary":
      return operandsOf(expr.operand);
    case "Subscript":
      return operandsOf(expr.value);
    case "Binary":
      return joined([expr.left, expr.right]);
    case "Compare":
      return joined([expr.left, ...expr.rights]);
    default:
      return null;
  }
}

function joined(exprs: readonly Expr[]): Name[] | null {
  const all = exprs.map(operandsOf);
  return all.includes(null) ? null : all.flatMap((names) => names ?? []);
}

/** `model(ids)`: what a network is run on. */
function isFed(param: Param, facts: Facts): boolean {
  const definition = facts.file.scopes.definitionAt(param);
  return (
    definition !== null &&
    facts.file.scopes
      .uses(definition)
      .some(
        ({ parent }) =>
          parent?.kind === "Arg" &&
          parent.parent?.kind === "Call" &&
          (isNetwork(parent.parent.func, facts) || isPartOfNetwork(parent.parent.func, facts)),
      )
  );
}

/** `self.clip.text_encoder(ids)` */
function isPartOfNetwork(callee: Expr, facts: Facts): boolean {
  return (
    callee.kind === "Attribute" &&
    /(?:encoder|decoder|backbone|embedding|projection|head)$/.test(callee.attr) &&
    isNetwork(callee.value, facts)
  );
}

/** `@lru_cache(maxsize=None)` and `@cache`. */
function isUnbounded(decorator: Expr, facts: Facts): boolean {
  if (decorator.kind !== "Call") return (facts.file.dotted(decorator) ?? "").endsWith(".cache");
  const size = argument(decorator, "maxsize", 0);
  return isNone(size);
}

/** A function made in every step, over that step's tensors, and put where it stays. */
function* closures(facts: Facts): Generator<Finding> {
  const { file } = facts;
  for (const call of file.callsNamed(
    "append",
    "add",
    "insert",
    "register",
    "add_callback",
    "add_done_callback",
  )) {
    const around = functionOf(call);
    if (around?.kind !== "FunctionDef" || call.func.kind !== "Attribute" || !facts.hot(call)) continue;
    // In a loop all of them share one variable, which holds the last turn's.
    if (loopsAround(call).length > 0) continue;
    if (selfAttribute(call.func.value) === null && !isGlobal(call.func.value, facts)) continue;
    const given = call.args[call.args.length - 1]?.value;
    const made = given?.kind === "Name" ? only(file.scopes.reaching(given))?.node : given;
    if (!made || (made.kind !== "FunctionDef" && made.kind !== "Lambda")) continue;
    const captured = file
      .all("Name")
      .find(
        (name) =>
          contains(made, name) &&
          !file.scopes.binds(name) &&
          file.scopes.lookup(name)?.scope.node === around &&
          facts.value(name).graph === "yes",
      );
    if (captured)
      yield {
        at: given!,
        message: `Each function put into \`${file.textOf(call.func.value)}\` keeps its own \`${captured.id}\` alive, with its graph`,
      };
  }
}

function isGlobal(expr: Expr, facts: Facts): boolean {
  return expr.kind === "Name" && facts.file.scopes.lookup(expr)?.scope.node.kind === "Module";
}

function isTensor(param: Param, facts: Facts): boolean {
  const { annotation } = param;
  if (annotation) {
    const name = facts.file.dotted(annotation);
    return (
      /^torch\.(?:cuda\.)?\w*Tensor$/.test(name ?? "") ||
      (annotation.kind === "Str" && /^(?:\w+\.)?\w*Tensor$/.test(annotation.value ?? ""))
    );
  }
  const definition = facts.file.scopes.definitionAt(param);
  return (
    definition !== null &&
    param.name !== "self" &&
    (facts.isGivenTensors(param) ||
      isHandedTensor(param, facts) ||
      usedAsTensor(definition, facts) ||
      isFedToLayer(definition, facts) ||
      isComputedWith(definition, facts) ||
      isGivenToTorch(definition, facts) ||
      isCutByAxes(definition, facts) ||
      isMeasured(definition, facts.file) ||
      isMovedNumbers(definition, facts) ||
      hasTensorMethod(definition, facts.file))
  );
}

/** `steps = steps.to(device)`, and then `table[steps]` or `for t in steps` with `all_steps == t`: networks are moved as well, but nobody computes with them. */
function isMovedNumbers(definition: Definition, { file: { scopes } }: Facts): boolean {
  return scopes.uses(definition).some(({ parent }) => {
    const moved = parent?.kind === "Attribute" && /^(?:to|cuda)$/.test(parent.attr) ? parent.parent : null;
    if (moved?.kind !== "Call" || moved.func !== parent) return false;
    const [target] = moved.parent?.kind === "Assign" ? moved.parent.targets : [];
    const named = target?.kind === "Name" ? scopes.definitionAt(target) : null;
    return isOfNumbers(moved) || (named !== null && scopes.uses(named).some(isGoneThrough));
  });

  function isGoneThrough(use: Expr): boolean {
    if (isOfNumbers(use)) return true;
    const over = use.parent?.kind === "Clause" || use.parent?.kind === "For" ? use.parent : null;
    const each = over?.iter === use && over.target.kind === "Name" ? scopes.definitionAt(over.target) : null;
    return each !== null && scopes.uses(each).some(isOfNumbers);
  }
}

/** An operand, one side of a comparison, or what a table is asked for. */
function isOfNumbers(expr: Expr): boolean {
  const { parent } = expr;
  if (parent?.kind === "Compare") return !parent.ops.some((op) => /^(?:is|in|not)\b/.test(op));
  return parent?.kind === "Binary" || (parent?.kind === "Subscript" && parent.index === expr);
}

/**
 * `torch.stft(x, n)`, `torch.sin(2**j * x)`, which take tensors alone, and nothing else in there is one. einops takes arrays of
 * numpy and lists too, which can be no key.
 */
function isGivenToTorch(definition: Definition, { file }: Facts): boolean {
  return file.scopes.uses(definition).some((use) => {
    if (isJoined(use, file) || isFirstOfGiven(use, file)) return true;
    let at: Expr = use;
    while (at.parent?.kind === "Binary") at = at.parent;
    const call = at.parent?.kind === "Arg" ? at.parent.parent : null;
    if (
      call?.kind === "Call" &&
      call.args[0]?.value === use &&
      /^torch\.(?:i?stft|(?:fft|linalg)\.\w+|matmul|b?mm|\w+_like)$|^einops\.(?:rearrange|reduce|repeat)$/.test(
        file.dotted(call.func) ?? "",
      )
    )
      return true;
    if (
      at === use ||
      call?.kind !== "Call" ||
      !/^torch\.(?:sin|cos|exp|log|tanh|sigmoid)$/.test(file.dotted(call.func) ?? "")
    )
      return false;
    let alone = true;
    walk(at, (node) => {
      if (node.kind === "Name" && node !== use && !isCount(node, file)) alone = false;
      return alone && node.kind !== "Attribute";
    });
    return alone;
  });
}

/**
 * `F.softmax(scores / heat, dim=1)`: what comes out of the arithmetic is a tensor, and all that goes into it are parameters and
 * numbers. So one of these is, and mostly the one that stands first.
 */
function isFirstOfGiven(use: Name, file: PythonFile): boolean {
  let at: Expr = use;
  while (at.parent?.kind === "Binary" || at.parent?.kind === "Unary") at = at.parent;
  const call = at.parent?.kind === "Arg" ? at.parent.parent : null;
  if (at === use || call?.kind !== "Call") return false;
  if (positional(call, 0) !== at && keyword(call, "input")?.value !== at) return false;
  const name = file.dotted(call.func) ?? "";
  const takesTensor =
    name.startsWith("torch.nn.functional.") ||
    // `torch.pow(2, x)` and these take a number first as well.
    (name === `torch.${last(name)}` &&
      !/^(?:einsum|pow|remainder|where|xlogy)$/.test(last(name)) &&
      FUNCTIONS.has(last(name)));
  const fn = functionOf(use);
  const isGiven = (expr: Expr): boolean => {
    if (expr.kind === "Binary") return isGiven(expr.left) && isGiven(expr.right);
    if (expr.kind === "Unary") return isGiven(expr.operand);
    if (isNumber(expr, file)) return true;
    const [one, ...more] = expr.kind === "Name" ? file.scopes.reaching(expr) : [];
    return one?.how === "param" && more.length === 0 && one.node.parent === fn && expr.start >= use.start;
  };
  return takesTensor && isGiven(at);
}

/** One of those that `torch.cat([a, b])` puts together, or that `torch.einsum("bik,ji->bjk", a, b)` multiplies, also in a list. */
function isJoined(use: Name, file: PythonFile): boolean {
  const { parent } = use;
  const list = parent?.kind === "List" || parent?.kind === "Tuple" ? parent : null;
  const arg = (list ?? use).parent;
  const call = arg?.kind === "Arg" && arg.star === 0 ? arg.parent : null;
  // `torch.einsum(equation, a, b)`
  if (call?.kind !== "Call" || (!list && call.args[0] === arg)) return false;
  const name = file.dotted(call.func) ?? "";
  return list ? /^torch\.(?:cat|concat|[hvd]?stack|einsum)$/.test(name) : name === "torch.einsum";
}

/** `for j in range(n)` */
function isCount(name: Name, file: PythonFile): boolean {
  return file.scopes
    .reaching(name)
    .every(
      ({ how, value }) =>
        how === "iterate" && value?.kind === "Call" && file.dotted(value.func) === "builtins.range",
    );
}

/** `weight(t)` of this file, with a `t = torch.rand(n)` or what a forward is given. */
function isHandedTensor(param: Param, facts: Facts): boolean {
  const fn = param.parent;
  if (fn?.kind !== "FunctionDef") return false;
  const at = fn.params.indexOf(param) - (fn.params[0]?.name === "self" ? 1 : 0);
  return callsOf(fn, facts.file).some((call) => {
    const given = keyword(call, param.name)?.value ?? positional(call, at);
    return given !== null && facts.value(given).what === "tensor";
  });
}

/** `(ids == 0).unsqueeze(1)`: beside a number, what has a tensor's methods after that was one before. */
function isComputedWith(definition: Definition, { file }: Facts): boolean {
  return file.scopes.uses(definition).some((use) => {
    const at = use.parent;
    const others =
      at?.kind === "Compare" ? [at.left, ...at.rights] : at?.kind === "Binary" ? [at.left, at.right] : [];
    const method = at?.parent?.kind === "Attribute" && at.parent.parent?.kind === "Call" ? at.parent : null;
    return (
      method !== null &&
      TENSORS_ONLY.test(method.attr) &&
      others.every((one) => one === use || isNumber(one, file))
    );
  });
}

/** `0`, or a name for it. */
function isNumber(expr: Expr, file: PythonFile): boolean {
  return (expr.kind === "Name" ? file.scopes.onlyValue(expr) : expr)?.kind === "Num";
}

/** `spans[..., 0] * 2`: of what is cut along its axes and computed with, arrays of numpy can be no key. */
function isCutByAxes(definition: Definition, facts: Facts): boolean {
  const { file } = facts;
  const { scopes } = file;
  return scopes.uses(definition).some((use) => {
    const at = use.parent;
    if (at?.kind !== "Subscript" || at.value !== use || at.index.kind !== "Tuple") return false;
    const isCut = at.index.items.some(
      (one) => one.kind === "Slice" || (one.kind === "Const" && one.value === "..."),
    );
    if (!isCut) return false;
    // `heads = triplets[:, 0]`, and what is done with these.
    const statement = at.parent?.kind === "Assign" && at.parent.value === at ? at.parent : null;
    const named = statement?.targets[0]?.kind === "Name" ? scopes.definitionAt(statement.targets[0]) : null;
    return (
      isComputed(at, facts) ||
      (named !== null &&
        (scopes.uses(named).some((one) => isComputed(one, facts)) || hasTensorMethod(named, file)))
    );
  });
}

/**
 * `x.size(2)`, `x.size()[2]`, `n, c = x.size()`: what is asked for the length of one axis. Of arrays and images `size` is no method,
 * and other things have one size.
 */
function isMeasured(definition: Definition, { scopes }: PythonFile): boolean {
  return scopes.uses(definition).some(({ parent }) => {
    const call = parent?.kind === "Attribute" && parent.attr === "size" ? parent.parent : null;
    if (call?.kind !== "Call" || call.func !== parent || call.args.length > 1) return false;
    const [axis] = call.args;
    if (axis) return axis.name === "dim" || (axis.name === null && isPlace(axis.value));
    const to = call.parent;
    if (to?.kind === "Subscript")
      return to.value === call && (to.index.kind === "Slice" || isPlace(to.index));
    return to?.kind === "Assign" && to.value === call && to.targets[0]?.kind === "Tuple";
  });
}

/** `2`, `-1` */
function isPlace(expr: Expr): boolean {
  return (expr.kind === "Unary" && expr.op === "-" ? expr.operand : expr).kind === "Num";
}

/** An operand, or given to a layer or a function of torch. */
function isComputed(expr: Expr, facts: Facts): boolean {
  const { parent } = expr;
  return (
    parent?.kind === "Binary" ||
    parent?.kind === "Unary" ||
    isOfTorch(expr, facts.file) ||
    isGivenToLayer(expr, facts)
  );
}

/** Handed to a function of torch, alone or in a list. */
function isOfTorch(expr: Expr, file: PythonFile): boolean {
  const listed = expr.parent?.kind === "List" || expr.parent?.kind === "Tuple" ? expr.parent : expr;
  const call = listed.parent?.kind === "Arg" ? listed.parent.parent : null;
  return call?.kind === "Call" && (file.dotted(call.func) ?? "").startsWith("torch.");
}

/** Neither numbers nor arrays of numpy have these. */
const TENSORS_ONLY =
  /^(?:unsqueeze|float|long|half|bfloat16|bool|masked_fill|expand|permute|contiguous|cuda|cpu|softmax|sigmoid|clamp|to)$/;

function isFedToLayer(definition: Definition, facts: Facts): boolean {
  return facts.file.scopes.uses(definition).some((use) => isGivenToLayer(use, facts));
}

/** `self.proj(x)` in a module. */
function isGivenToLayer({ parent }: Expr, facts: Facts): boolean {
  const call = parent?.kind === "Arg" ? parent.parent : null;
  if (call?.kind !== "Call" || selfAttribute(call.func) === null) return false;
  const cls = classOf(call);
  return (
    cls !== null &&
    facts.role(cls) === "module" &&
    (facts.value(call.func).what === "module" || facts.networks.is(call.func))
  );
}

/** `cache[x] = …` where x is a tensor parameter and the dict outlives the call. */
function* ownCaches(facts: Facts): Generator<Finding> {
  for (const statement of assignsOfKind("Subscript", facts.file))
    for (const target of statement.targets) {
      if (target.kind !== "Subscript") continue;
      if (target.index.kind === "Name" && isCacheOfLoop(target.value, target.index, facts)) {
        yield {
          at: target,
          message: `Tensors are looked up by identity: every new \`${target.index.id}\` misses, and the cache keeps it, its graph and the result alive`,
        };
        continue;
      }
      const fn = functionOf(statement);
      if (fn?.kind !== "FunctionDef" || !isDict(target.value, fn, facts)) continue;
      for (const name of keyNames(target.index, facts)) {
        const key = only(facts.file.scopes.reaching(name));
        if (key?.how !== "param" || (facts.guesses && /(?:^|_)(?:name|key|path|file|tag)$/.test(key.name)))
          continue;
        // Asked for its type, it may be anything.
        const asked = facts.file.scopes
          .uses(key)
          .some(
            (use) =>
              use.parent?.kind === "Arg" &&
              use.parent.parent?.kind === "Call" &&
              facts.file.dotted(use.parent.parent.func) === "builtins.isinstance",
          );
        if (
          asked ||
          !(
            isTensor(key.node as Param, facts) ||
            usedAsTensor(key, facts) ||
            isFed(key.node as Param, facts) ||
            isCalledAsTensors(key.node as Param, facts)
          )
        )
          continue;
        const byPlace = name.parent?.kind === "Arg" || name.parent?.kind === "Attribute";
        // What lies there for good is found again.
        if (byPlace && /^(?:p|w)$|param|weight|bias|buffer/i.test(name.id)) continue;
        yield {
          at: target,
          ...(byPlace ? { severity: "note" as const } : {}),
          message: byPlace
            ? `Every new \`${name.id}\` has another identity, and the cache keeps what was computed of each; one that comes to lie where an old one lay gets its result`
            : `Tensors are looked up by identity: every new \`${name.id}\` misses, and the cache keeps it, its graph and the result alive`,
        };
        break;
      }
    }
}

/** `seen[images] = …` in the step's loop, by its tensor, of a dict that is there before it. */
function isCacheOfLoop(dict: Expr, key: Name, facts: Facts): boolean {
  const { scopes } = facts.file;
  const made = dict.kind === "Name" ? only(scopes.lookup(dict)?.definitions ?? []) : null;
  if (made?.value?.kind !== "Dict" || made.value.keys.length > 0) return false;
  const loop = facts.stepLoop(key);
  return (
    loop !== null &&
    !contains(loop, made.node) &&
    scopes.reaching(key).every(({ node }) => contains(loop, node)) &&
    facts.value(key).what === "tensor"
  );
}

/** `x`, `(x, y)`, and the same through a name: `key = (x, y)`. */
function keyNames(index: Expr, facts: Facts): readonly Name[] {
  // `self.keys[:, positions] = …` is a tensor written into.
  if (index.kind === "Tuple" && index.items.some(({ kind }) => kind === "Slice")) return [];
  if (index.kind === "Tuple")
    return index.items.flatMap((item) => (item.kind === "Name" ? [item] : (placeOf(item, facts) ?? [])));
  const placed = placeOf(index, facts);
  if (placed) return [placed];
  if (index.kind !== "Name") return [];
  const made = only(facts.file.scopes.reaching(index));
  return made?.how === "assign" &&
    made.value &&
    (/^(?:Tuple|Name)$/.test(made.value.kind) || placeOf(made.value, facts))
    ? keyNames(made.value, facts)
    : [index];
}

/** `x` of `id(x)`, `hash(x)` and `x.data_ptr()`: where a tensor lies, which the next one may lie at. */
function placeOf(key: Expr, { file }: Facts): Name | null {
  if (key.kind !== "Call") return null;
  const of =
    key.func.kind === "Attribute" && key.func.attr === "data_ptr"
      ? key.func.value
      : /^builtins\.(?:id|hash)$/.test(file.dotted(key.func) ?? "")
        ? key.args[0]?.value
        : undefined;
  return of?.kind === "Name" ? of : null;
}

function only(definitions: readonly Definition[]): Definition | null {
  return definitions.length === 1 ? definitions[0]! : null;
}

function isDict(expr: Expr, fn: FunctionDef, facts: Facts): boolean {
  const own = selfAttribute(expr);
  if (own !== null) {
    const cls = classOf(expr);
    const writes = cls ? (attributesOf(cls, facts.file).get(own)?.writes ?? []) : [];
    return (
      /cache|memo|store|seen|known/i.test(own) &&
      writes.every(
        ({ how, value }) => how !== "buffer" && (value === null || facts.value(value).what !== "tensor"),
      )
    );
  }
  if (expr.kind !== "Name") return false;
  const made = only(facts.file.scopes.lookup(expr)?.definitions ?? []);
  return made?.value?.kind === "Dict" && functionOf(made.node) !== fn;
}

/** `lambda l=loss: l` and `partial(f, loss)`: what each of them keeps for itself. */
function capturedBy(
  expr: Expr,
  facts: Facts,
  isWanted: (value: Expr) => boolean = (value) => hasGraph(value, expr, facts),
): Expr | null {
  const isKept = (value: Expr | null): value is Expr => value !== null && isWanted(value);
  // `def report(loss=loss): …`, then `pending.append(report)`
  const made = expr.kind === "Name" ? only(facts.file.scopes.reaching(expr))?.node : expr;
  if (made?.kind === "Lambda" || made?.kind === "FunctionDef")
    return made.params.map((param) => param.default).find(isKept) ?? null;
  if (
    expr.kind === "Call" &&
    (facts.file.dotted(expr.func) === "functools.partial" || makesClosure(expr, facts))
  )
    return expr.args.map(({ value }) => value).find(isKept) ?? null;
  return null;
}

function hasGraph(value: Expr, kept: Expr, facts: Facts): boolean {
  if (facts.value(value).graph === "no") return false;
  let root = value;
  while (root.kind === "Attribute" || root.kind === "Subscript") root = root.value;
  // Seen from the function it is any of the name's values, those of an evaluation among them.
  return (
    facts.value(value).graph === "yes" ||
    (root.kind === "Name" &&
      facts.gradMode(kept) === "on" &&
      facts.file.scopes.reaching(root).some((one) => facts.valueOfDefinition(one).graph === "yes"))
  );
}

/** `images.data`, what a network gave and no number of it: without a graph, it is there all the same. */
function isHeldOnDevice(value: Expr, facts: Facts): boolean {
  const { what, device } = facts.value(value);
  if (what === "output" || what === "tensor")
    return (device === "network" || device === "accelerator") && !isSummedUp(value, facts.file);
  return facts.guesses && what === "unknown" && isLikelyOutput(value, facts) && !isSmall(value, facts.file);
}

/** A loss, or what was summed up. */
function isSummedUp(value: Expr, file: PythonFile): boolean {
  const made = value.kind === "Name" ? file.scopes.reaching(value).map((one) => one.value ?? value) : [];
  return [value, ...made].some((one) => /loss|\b(?:sum|mean|norm|item|max|min)\(/.test(file.textOf(one)));
}

/** `make_report(loss)` of this file, which hands back a function of its own. */
function makesClosure(call: Call, { file }: Facts): boolean {
  const made = call.func.kind === "Name" ? only(file.scopes.reaching(call.func))?.node : null;
  if (made?.kind !== "FunctionDef") return false;
  const inner = new Set(made.body.flatMap((one) => (one.kind === "FunctionDef" ? [one.name] : [])));
  return made.body.some(
    (one) =>
      one.kind === "Return" &&
      (one.value?.kind === "Lambda" || (one.value?.kind === "Name" && inner.has(one.value.id))),
  );
}
