import { isTrue } from "../../python/file.ts";
import { classOf } from "../../python/nodes.ts";
import type { Expr, Param } from "../../python/tree.ts";
import { hidesArguments } from "./arguments.ts";
import { attributesOf, selfAttribute } from "./classes.ts";
import type { Facts } from "./facts.ts";
import { callsOf, paramGiven } from "./returns.ts";

/**
 * Whether a flag is always on: `retain = True` under a name, `self.retain = True` that nobody writes again, or a parameter that
 * is so by default or by what the calls give, all of those in this file.
 */
export function isAlwaysOn(flag: Expr, facts: Facts): boolean {
  const { file } = facts;
  if (flag.kind === "Name") {
    const [made, ...more] = file.scopes.reaching(flag);
    if (made?.how === "param" && more.length === 0 && made.node.kind === "Param")
      return isGivenOn(made.node, facts);
    return isTrue(file.scopes.onlyValue(flag));
  }
  const own = selfAttribute(flag);
  const cls = own === null ? null : classOf(flag);
  if (!cls) return isTrue(flag);
  const [write, ...more] = attributesOf(cls, file).get(own!)?.writes ?? [];
  return more.length === 0 && write?.how === "assign" && isTrue(write.value);
}

function isGivenOn(param: Param, { file }: Facts): boolean {
  const fn = param.parent;
  const sites = fn?.kind === "FunctionDef" && param.star === 0 ? callsOf(fn, file) : [];
  return (
    sites.length > 0 &&
    sites.every((site) => {
      if (hidesArguments(site, file)) return false;
      const given = site.args.find((arg) => paramGiven(site, arg, file) === param);
      return isTrue(given?.value ?? param.default);
    })
  );
}
