import type { PythonFile } from "../../python/file.ts";
import { functionOf, lastWord } from "../../python/nodes.ts";
import type { Expr, Name, Node } from "../../python/tree.ts";
import type { Facts } from "./facts.ts";

/** A value that is put somewhere. */
export interface Store {
  readonly at: Node;
  readonly place: Expr;
  readonly value: Expr;
}

/** Every place but a local name that is given a value. */
export function* stores({ file }: Facts): Generator<Store> {
  for (const at of file.all("Assign"))
    for (const target of at.targets) {
      if (target.kind === "Attribute" || target.kind === "Subscript")
        yield { at, place: target, value: at.value };
      else if (target.kind === "Name" && isGlobal(target, file)) yield { at, place: target, value: at.value };
      else if (target.kind === "Tuple")
        for (const [index, place] of target.items.entries())
          if (place.kind === "Attribute" || place.kind === "Subscript")
            yield {
              at,
              place,
              value: at.value.kind === "Tuple" ? (at.value.items[index] ?? at.value) : at.value,
            };
    }
  for (const at of file.callsNamed("update", "__setitem__", "setdefault")) {
    const place = at.func.kind === "Attribute" ? at.func.value : null;
    // `seen.update(map=z)`, `seen.update({"map": z})`
    if (place)
      for (const { value, name } of at.args)
        if (name !== null || value.kind === "Dict" || lastWord(at.func) !== "update")
          yield { at, place, value };
  }
}

/** `global last` above it. */
export function isGlobal(name: Name, { scopes }: PythonFile): boolean {
  return functionOf(name) !== null && scopes.lookup(name)?.scope.node.kind === "Module";
}

/** `FEATS` of `FEATS[id(self)]`, `self.seen` of `self.seen["map"]`, `model.seen`. */
export function rootOf(place: Expr): Expr | null {
  let at = place;
  while (at.kind === "Subscript") at = at.value;
  return at.kind === "Name" || at.kind === "Attribute" ? at : null;
}
