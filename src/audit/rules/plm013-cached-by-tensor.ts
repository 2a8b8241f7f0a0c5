import type { Definition } from "../../python/scopes.ts";
import { argument, isNone, keyword } from "../../python/file.ts";
import type { PythonFile } from "../../python/file.ts";
import { classOf, contains, functionOf } from "../../python/nodes.ts";
import type { Call, Expr, FunctionDef, Lambda, Name, Param } from "../../python/tree.ts";
import { attributesOf, methodsOf, selfAttribute } from "../facts/classes.ts";
import { returnsDeviceTensor } from "../facts/device-results.ts";
import type { Facts } from "../facts/facts.ts";
import { isLikelyOutput, isSmall } from "../facts/likely-outputs.ts";
import { keeps } from "../facts/kept.ts";
import { usedAsTensor } from "../facts/tensor-use.ts";
import { loopsAround } from "../facts/training.ts";
import type { Finding, Rule } from "../rule.ts";
import { assignsOfKind } from "../facts/assigns.ts";
import { isCalledAsTensors, isFed, isTensor, keyTensor } from "../facts/tensor-params.ts";

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
