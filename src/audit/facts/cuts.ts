import { lastWord } from "../../python/nodes.ts";
import type { Arg, Assign, Call, Expr, Name, Node } from "../../python/tree.ts";
import type { Facts } from "./facts.ts";
import { paramGiven } from "./returns.ts";
import { FUNCTIONS, last } from "./torch-names.ts";

/** What takes the numbers of a tensor, or its shape, and leaves its graph; what is copied to the host (`.cpu()`) takes it along. */
const CUTS = new Set(["detach", "numpy", "item", "tolist", "data", "shape", "size", "dim"]);

/** What takes numbers: Python's own, and loggers, which detach what they are given. */
const READERS =
  /^(?:float|int|print|log|log_dict|log_images?|add_scalar|add_histogram|add_images?|save_image|imshow|imsave|Image|Histogram)$/;

/** `kept.detach()`; `kept.abs().mean().item()`, `kept > 0`, `self.log("x", kept.mean())`: only its numbers are wanted. */
export function isCut(node: Node, facts: Facts, depth = 0): boolean {
  for (let at = node, { parent } = node; parent; at = parent, { parent } = parent)
    switch (parent.kind) {
      case "Attribute":
        if (CUTS.has(parent.attr)) return true;
        // Of what is kept itself any attribute may be asked for; a result is asked for its methods.
        if (parent.parent?.kind !== "Call" || parent.parent.func !== parent) return false;
        parent = parent.parent;
        break;
      case "Subscript":
        if (parent.value !== at) return false;
        break;
      case "Binary":
      case "Unary":
        break;
      case "Compare":
        return !/^(?:is|in)\b/.test(parent.ops[0]!);
      // `wandb.log({"kept": kept.mean()})`, `torch.stack([one.kept.norm() for one in parts]).mean()`
      case "Dict":
      case "List":
        break;
      case "Comp":
        if (parent.element !== at || parent.value !== null) return false;
        break;
      // `heat = kept.mean(1)`, of which again only numbers are wanted.
      case "Assign":
        return parent.value === at && depth === 0 && isCutUnderName(parent, facts);
      // `return kept.norm()`, of which all that call it read the number.
      case "Return":
        return facts.functionFacts(parent).onlyRead;
      case "Arg": {
        const call = parent.parent;
        if (call?.kind !== "Call") return false;
        if (!computes(call, facts))
          return READERS.test(lastWord(call.func)) || (depth < 2 && isCutBy(call, parent, facts, depth));
        parent = call;
        break;
      }
      default:
        return false;
    }
  return false;
}

/** Whether all that read the name it is bound to cut it off. */
function isCutUnderName({ targets }: Assign, facts: Facts): boolean {
  const { scopes } = facts.file;
  const [target, ...more] = targets;
  const made = target?.kind === "Name" && more.length === 0 ? scopes.definitionAt(target) : null;
  const uses = made ? scopes.uses(made) : [];
  return uses.length > 0 && uses.every((use) => isCut(use, facts, 1));
}

/** `make_grid(kept)`, `torch.sigmoid(kept)`: one tensor of another. */
function computes({ func }: Call, { file }: Facts): boolean {
  const name = file.dotted(func) ?? "";
  return (name.startsWith("torch.") && FUNCTIONS.has(last(name))) || name === "torchvision.utils.make_grid";
}

/** `self.draw(kept)`, a helper of this file that wants no more than the numbers of what it is given. */
function isCutBy(call: Call, arg: Arg, facts: Facts, depth: number): boolean {
  const { scopes } = facts.file;
  const param = paramGiven(call, arg, facts.file);
  const given = param && scopes.definitionAt(param);
  const uses = given ? scopes.uses(given) : [];
  return uses.length > 0 && uses.every((use) => isCut(use, facts, depth + 1));
}

/** `{name: act.mean().item() for name, act in kept.items()}` */
export function isCutEach(node: Node, facts: Facts): boolean {
  const { file } = facts;
  const asked = node.parent;
  if (asked?.kind !== "Attribute" || !/^(?:items|values)$/.test(asked.attr)) return false;
  const over = asked.parent?.parent;
  if ((over?.kind !== "Clause" && over?.kind !== "For") || over.iter !== asked.parent) return false;
  const target = over.target.kind === "Tuple" ? over.target.items.at(-1) : over.target;
  const made = target?.kind === "Name" ? file.scopes.definitionAt(target) : null;
  return made !== null && file.scopes.uses(made).every((use) => isCut(use, facts));
}

/** Where a list is read that is bound to a name; to fill it or empty it is no read. */
export function readsOfList(list: Name, { file: { scopes } }: Facts): readonly Name[] {
  return scopes
    .reaching(list)
    .flatMap((one) => scopes.uses(one))
    .filter((use) => !isFilled(use));
}

/** `torch.stack(values).detach()`, `[value.item() for value in values]`, `len(values)`, or anything where no gradients are recorded. */
export function isReadCut(read: Expr, facts: Facts): boolean {
  const { file } = facts;
  if (isCutOff(read) || isCut(read, facts) || facts.gradMode(read) === "off") return true;
  const { parent } = read;
  const counts =
    parent?.kind === "Arg" &&
    parent.parent?.kind === "Call" &&
    file.dotted(parent.parent.func) === "builtins.len";
  if (counts) return true;
  if ((parent?.kind !== "Clause" && parent?.kind !== "For") || parent.iter !== read) return false;
  const made = parent.target.kind === "Name" ? file.scopes.definitionAt(parent.target) : null;
  const uses = made ? file.scopes.uses(made) : [];
  return uses.length > 0 && uses.every((use) => isCutOff(use) || isCut(use, facts));
}

/** `self.buffer.logps.append(…)`, `.clear()`, `del self.buffer.logps[:]` */
export function isFilled({ parent }: Node): boolean {
  return (
    (parent?.kind === "Attribute" && /^(?:append|clear)$/.test(parent.attr)) ||
    parent?.kind === "Delete" ||
    parent?.parent?.kind === "Delete"
  );
}

/** Within a chain of calls that ends in `.detach()`. */
function isCutOff(expr: Node): boolean {
  for (let at: Node = expr; at.parent && at.parent.kind !== "Assign"; at = at.parent)
    if (at.parent.kind === "Attribute" && /^(?:detach|data)$/.test(at.parent.attr)) return true;
  return false;
}
