import type { PythonFile } from "../../python/file.ts";
import { ancestors, blockOf, contains } from "../../python/nodes.ts";
import type { ClassDef, FunctionDef, Node } from "../../python/tree.ts";
import { behind, optionBehind, optionsOf } from "./behind-options.ts";
import type { Behind, Tree } from "./behind-options.ts";
import { missingImport, undefinedName } from "./broken.ts";
import { armsOf, whenRun } from "./choices.ts";
import { isSelf } from "./classes.ts";
import type { Facts } from "./facts.ts";
import { isMain } from "./summary.ts";

/** Why a node does not run as the code is shipped; null where nothing says so. */
export function whyNot(node: Node, facts: Facts): string | null {
  const option = optionOf(node, facts);
  return option?.why ?? whyIdle(node, facts) ?? whyChosen(node, facts);
}

/** Why a name is a number as the code is shipped: all that makes it a tensor does not run. */
export function whyNumber(node: Node, facts: Facts): string | null {
  const made = node.kind === "Name" ? facts.file.scopes.reaching(node) : [];
  const others = made.filter(({ value }) => value?.kind !== "Num");
  if (others.length === 0 || others.length === made.length) return null;
  const reasons = others.map((one) => whyNot(one.node, facts));
  return reasons.every((one) => one !== null) ? reasons[0]! : null;
}

const optionOf = (node: Node, { file, project }: Facts): Behind | null =>
  optionBehind(node, file, project) ?? behindCallers(node, file, project);

/** Why it does not run whatever is asked for: nothing uses it, or it fails before. */
export function whyIdle(node: Node, facts: Facts): string | null {
  const { file, project } = facts;
  const beside = BESIDE.exec(file.path);
  if (beside) return `in a file that is called \`${beside[1]}\``;
  const folder = project.aside.get(file.module);
  if (folder !== undefined) return `in a folder that is called \`${folder}\``;
  if (file.tree.errors.length > 0) return "this file does not parse";
  const missing = facts.once(missingImport);
  if (missing !== null) return `this file ends where it imports \`${missing}\`, which is not there`;
  const unbound = undefinedName(node, facts);
  if (unbound !== null) return `this ends at \`${unbound}\`, which nothing defines`;
  const again = ancestors(node).find(isDefinedAgain);
  if (again) return `\`${again.name}\` is defined again below`;
  const unused = ancestors(node)
    .filter(isDefinition)
    .find((at) => project.unused.has(file.qualified(at)));
  return unused ? `nothing here uses \`${unused.name}\`` : null;
}

/** Of what is there to be chosen: what it takes for it to run. */
function whyChosen(node: Node, facts: Facts): string | null {
  const { file, project } = facts;
  const chosen = otherChoice(node, facts);
  if (chosen) return `only with another \`${chosen}\` than by default`;
  if (project.choices.has(file.module)) return "only with another choice than the default one";
  if (project.tried.has(file.module) && isStarted(node, file)) return "only when this file itself is started";
  return null;
}

/** Run to be timed or looked at, or to find a rate to learn with: not the training, by the name. */
const BESIDE =
  /(?:^|\/)((?:bench(?:mark)?s?|test|check|try|debug|toy|demo|sanity|profile|probe)(?:_\w+)?\.(?:py|ipynb)|lr_finder\.py)$/;

/** The same of a method that its class calls only there: `if self.pre_norm: return self.forward_pre(x)`. */
function behindCallers(node: Node, file: PythonFile, tree: Tree): Behind | null {
  const fn = ancestors(node).find((at) => at.kind === "FunctionDef");
  if (fn?.parent?.kind !== "ClassDef") return null;
  const uses = file.all("Attribute").filter(({ attr }) => attr === fn.name);
  let found: Behind | null = null;
  for (const use of uses) {
    // Its own, and those of another class that has one of that name.
    if (contains(fn, use) || (isSelf(use.value) && !contains(fn.parent, use))) continue;
    const one = isSelf(use.value) ? optionBehind(use, file, tree) : null;
    if (!one) return null;
    found ??= one;
  }
  return found;
}

/** The option that has to be another for the class that a node stands in to be made. */
function otherChoice(node: Node, { file, project }: Facts): string | null {
  const cls = ancestors(node).find((at) => at.parent?.kind === "Module");
  if (cls?.kind !== "ClassDef" || cls.decorators.length > 0) return null;
  const elsewhere = project.chosen.get(cls.name);
  if (elsewhere === undefined && !project.inner.has(file.qualified(cls))) return null;
  let option = elsewhere === undefined ? null : `args.${elsewhere}`;
  for (const use of file.all("Name")) {
    if (use.id !== cls.name || contains(cls, use) || isBaseOfOther(use, project)) continue;
    const here = optionBehind(use, file, project) ?? tableBehind(use, file, project);
    if (!here) return null;
    option ??= here.option;
  }
  return option;
}

/** `class Second(First):`, of which the second is not made by default either. */
function isBaseOfOther({ parent }: Node, { chosen }: Facts["project"]): boolean {
  return parent?.kind === "Arg" && parent.parent?.kind === "ClassDef" && chosen.has(parent.parent.name);
}

/** `{"small": Small, "large": Large}[args.net]` */
function tableBehind(use: Node, file: PythonFile, tree: Tree): Behind | null {
  for (const one of whenRun(use, file.once(armsOf), file).split("&")) {
    const [, option, value] = /^(\w+)=(.*)$/.exec(one) ?? [];
    const given = option === undefined ? undefined : optionsOf(file, tree)(option);
    if (typeof given === "string" && given !== "" && given !== value) return behind(`args.${option}`, given);
  }
  return null;
}

/** Under `if __name__ == "__main__":`, or in a function that is called like a trial and used only there. */
function isStarted(node: Node, file: PythonFile): boolean {
  const above = ancestors(node);
  if (above.some(isMain)) return true;
  const top = above.find((at) => at.parent?.kind === "Module");
  if (top?.kind !== "FunctionDef" || !TRIAL.test(top.name)) return false;
  const uses = file.all("Name").filter(({ id }) => id === top.name);
  return uses.length > 0 && uses.every((use) => ancestors(use).some(isMain));
}

const TRIAL = /(?:^|_)(?:test|demo|check|example|sanity|try)(?:_|$)/;

function isDefinition(node: Node): node is FunctionDef | ClassDef {
  return node.kind === "FunctionDef" || node.kind === "ClassDef";
}

/** The next statement defines the same name. */
function isDefinedAgain(node: Node): node is FunctionDef | ClassDef {
  if (!isDefinition(node) || node.decorators.length > 0) return false;
  const block = blockOf(node) ?? [];
  const next = block[block.indexOf(node) + 1];
  return next?.kind === node.kind && next.name === node.name;
}
