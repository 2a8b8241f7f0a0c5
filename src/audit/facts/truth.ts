import { positional } from "../../python/file.ts";
import { lastWord } from "../../python/nodes.ts";
import type { Call, Expr } from "../../python/tree.ts";
import type { Facts } from "./facts.ts";
import { holdsOptions } from "./options.ts";

/** `hparams.cudnn_benchmark`, `not args.deterministic`, `search` of `def prepare(search=True)`: what it is by default, where that is known. */
export function truth(expr: Expr, facts: Facts, depth = 0): boolean | null {
  const { file, project } = facts;
  if (depth > 3) return null;
  const again = (inner: Expr): boolean | null => truth(inner, facts, depth + 1);
  const known = (name: string): boolean | null => {
    const given = project.options.get(name);
    return typeof given === "boolean" ? given : null;
  };
  switch (expr.kind) {
    case "Const":
      return typeof expr.value === "boolean" ? expr.value : null;
    case "Num":
      return Number(expr.text) !== 0;
    case "Unary": {
      const operand = expr.op === "not" ? again(expr.operand) : null;
      return operand === null ? null : !operand;
    }
    // `args.search and torch.cuda.is_available()`
    case "Bool": {
      const all = new Set(expr.values.map(again));
      const decides = expr.op === "or";
      return all.has(decides) ? decides : all.has(null) ? null : !decides;
    }
    // `True if args.search else False`
    case "IfExp": {
      const test = again(expr.test);
      return test === null ? null : again(test ? expr.body : expr.orelse);
    }
    // `device.type == "cuda"`: where it matters, there is a device.
    case "Compare":
      return isDeviceAsked(file.textOf(expr)) ? true : null;
    case "Attribute":
      return holdsOptions(expr.value) ? known(expr.attr) : null;
    case "Subscript":
      return expr.index.kind === "Str" && holdsOptions(expr.value) ? known(expr.index.value ?? "") : null;
    case "Call":
      return truthOfCall(expr, facts, again, known);
    case "Name": {
      const [one, ...more] = file.scopes.reaching(expr);
      if (!one || more.length > 0) return null;
      const given = one.node.kind === "Param" ? one.node.default : one.how === "assign" ? one.value : null;
      return given ? again(given) : null;
    }
    default:
      return null;
  }
}

const isDeviceAsked = (test: string): boolean =>
  /(?:==|\bin\b)\s*["']cuda["']$|^["']cuda["'] (?:in|==)\b|!=\s*["']cpu["']$/.test(test);

/** `torch.cuda.is_available()`, `bool(args.search)`, `config.get("search", True)`, `getattr(args, "search", True)` */
function truthOfCall(
  call: Call,
  { file }: Facts,
  again: (inner: Expr) => boolean | null,
  known: (name: string) => boolean | null,
): boolean | null {
  const name = file.dotted(call.func);
  if (name === "torch.cuda.is_available" || name === "torch.accelerator.is_available") return true;
  if (name === "builtins.bool") return call.args.length === 1 ? again(call.args[0]!.value) : null;
  const shift = name === "builtins.getattr" ? 1 : lastWord(call.func) === "get" ? 0 : null;
  const key = shift === null ? null : positional(call, shift);
  const otherwise = shift === null ? null : positional(call, shift + 1);
  if (key?.kind !== "Str" || !otherwise) return null;
  return known(key.value ?? "") ?? again(otherwise);
}
