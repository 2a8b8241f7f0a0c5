import { functionOf } from "../../python/nodes.ts";
import type { Call, Expr, Name, Node, Subscript } from "../../python/tree.ts";
import type { Facts } from "./facts.ts";
import { handedIn } from "./handed-in.ts";
import { ranNetwork } from "./networks.ts";

/**
 * `batch["attention_mask"]` that a network is given too, here or where whoever calls this function has the batch: it is where the
 * network is.
 */
export function isGivenToNetwork(entry: Subscript, facts: Facts): boolean {
  const { file } = facts;
  if (!facts.accelerator || facts.value(entry).device === "cpu") return false;
  const fn = functionOf(entry);
  if (networksGiven(file.textOf(entry), fn, facts).length > 0) return true;
  const [given, ...more] = entry.value.kind === "Name" ? file.scopes.reaching(entry.value) : [];
  const handed = given?.how === "param" && more.length === 0 ? handedIn(given, file, true) : [];
  const index = file.text.slice(entry.value.end, entry.end);
  return (
    handed.length > 0 &&
    handed.every(
      (one) =>
        one.kind === "Name" &&
        networksGiven(`${one.id}${index}`, functionOf(one), facts).some((value) =>
          isOfSame(value, one, facts),
        ),
    )
  );
}

/** Not `batch` before and after `batch = send(batch)`. */
function isOfSame(value: Expr, whole: Name, { file }: Facts): boolean {
  const root = value.kind === "Subscript" && value.value.kind === "Name" ? value.value : null;
  const made = root ? file.scopes.reaching(root) : [];
  return made.length > 0 && file.scopes.reaching(whole).every((one) => made.includes(one));
}

/** What is written like this, and given to a network in the function. */
function networksGiven(text: string, fn: Node | null, facts: Facts): readonly Expr[] {
  const { file } = facts;
  return file.all("Call").flatMap((call) => {
    if (functionOf(call) !== fn) return [];
    const given = givenTo(call, facts).filter((value) => file.textOf(value) === text);
    return given.length > 0 && ranNetwork(call, facts) !== null ? given : [];
  });
}

/** Its arguments, also as they are written down in a dict: `net(**given)` of `given = {"mask": batch["mask"]}`. */
function givenTo({ args }: Call, { file }: Facts): readonly Expr[] {
  return args.flatMap(({ star, value }) => {
    if (star === 0) return [value];
    const parts = value.kind === "Name" ? file.scopes.onlyValue(value) : value;
    return parts?.kind === "Dict" ? parts.values : [];
  });
}
