import type { Definition } from "../../python/scopes.ts";
import { classOf, functionOf } from "../../python/nodes.ts";
import type { Expr, FunctionDef, Param } from "../../python/tree.ts";
import { attributesOf, selfAttribute } from "../facts/classes.ts";
import type { Facts } from "../facts/facts.ts";
import { keeps } from "../facts/kept.ts";
import { usedAsTensor } from "../facts/tensor-use.ts";
import type { Finding, Rule } from "../rule.ts";

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
        /^functools\.(?:lru_cache|cache)$/.test(file.dotted(one.kind === "Call" ? one.func : one) ?? ""),
      );
      const param = decorator && fn.params.find((one) => isTensor(one, facts));
      if (decorator && param)
        yield {
          at: decorator,
          message: `Tensors are looked up by identity: every new \`${param.name}\` misses, and the cache keeps it, its graph and the result alive`,
        };
    }
    yield* ownCaches(facts);
    for (const { added, how, root } of keeps(facts)) {
      const captured = how === "list" ? capturedBy(added, facts) : null;
      if (captured)
        yield {
          at: added,
          message: `Each function put into \`${file.textOf(root)}\` keeps its own \`${file.textOf(captured)}\` alive, with its graph`,
        };
    }
  },
};

function isTensor(param: Param, facts: Facts): boolean {
  const { annotation } = param;
  if (annotation) {
    const name = facts.file.dotted(annotation);
    return (
      name === "torch.Tensor" ||
      (annotation.kind === "Str" && /^(?:\w+\.)?Tensor$/.test(annotation.value ?? ""))
    );
  }
  const definition = facts.file.scopes.definitionAt(param);
  return definition !== null && param.name !== "self" && usedAsTensor(definition, facts);
}

/** `cache[x] = …` where x is a tensor parameter and the dict outlives the call. */
function* ownCaches(facts: Facts): Generator<Finding> {
  for (const statement of facts.file.all("Assign"))
    for (const target of statement.targets) {
      if (target.kind !== "Subscript" || target.index.kind !== "Name") continue;
      const fn = functionOf(statement);
      const key = only(facts.file.scopes.reaching(target.index));
      if (fn?.kind !== "FunctionDef" || key?.how !== "param" || !isDict(target.value, fn, facts)) continue;
      // Asked for its type, it may be anything.
      const asked = facts.file.scopes
        .uses(key)
        .some(
          (use) =>
            use.parent?.kind === "Arg" &&
            use.parent.parent?.kind === "Call" &&
            facts.file.dotted(use.parent.parent.func) === "builtins.isinstance",
        );
      if (!asked && usedAsTensor(key, facts))
        yield {
          at: target,
          message: `Tensors are looked up by identity: every new \`${target.index.id}\` misses, and the cache keeps it, its graph and the result alive`,
        };
    }
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
function capturedBy(expr: Expr, facts: Facts): Expr | null {
  const hasGraph = (value: Expr | null): value is Expr =>
    value !== null && facts.value(value).graph === "yes";
  if (expr.kind === "Lambda") return expr.params.map((param) => param.default).find(hasGraph) ?? null;
  if (expr.kind === "Call" && facts.file.dotted(expr.func) === "functools.partial")
    return expr.args.map(({ value }) => value).find(hasGraph) ?? null;
  return null;
}
