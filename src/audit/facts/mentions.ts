import type { PythonFile } from "../../python/file.ts";
import type { Node } from "../../python/tree.ts";
import type { Role } from "./classes.ts";
import type { FileSummary } from "./summary.ts";
import { last } from "./torch-names.ts";

/** "models.Encoder" in a table of names, not a sentence. */
const NAMES = /^\w+(?:\.\w+)*$/;
const LONGEST_NAME = 100;

/** Words by which files speak of classes and modules. */
export class Words {
  readonly all = new Set<string>();

  /** Copied: V8 makes a part of a long text a view of it, and the whole text would live as long. */
  add(word: string): void {
    if (!this.all.has(word)) this.all.add(` ${word}`.slice(1));
  }

  /** Of a file; of a class in its own body nobody makes an instance. */
  addFrom(file: PythonFile): void {
    // `from nets import Encoder2 as Encoder`: what is called Encoder here is another one.
    const renamed = new Set<string>();
    for (const { name, as, parent } of file.all("Alias")) {
      if (as !== null && as !== name) renamed.add(as);
      this.#addParts(name);
      if (parent?.kind === "ImportFrom") this.#addParts(parent.module);
    }
    for (const name of file.all("Name")) {
      const { id } = name;
      if (isCapital(id) && !this.all.has(id) && !renamed.has(id) && !isWithin(name, id)) this.add(id);
    }
    for (const { attr } of file.all("Attribute")) if (isCapital(attr)) this.add(attr);
    for (const { value } of file.all("Str"))
      if (value !== null && value.length < LONGEST_NAME && NAMES.test(value)) this.#addParts(value);
  }

  /** Of a text with nothing for any rule, which may still hand on what others define. */
  addFromText(text: string): void {
    this.addImported(text);
    for (const word of text.match(/\b_*[A-Z]\w*/g) ?? []) this.add(word);
  }

  /** Of a text that defines what it speaks of, or imports it at its top. */
  addImported(text: string): void {
    for (const statement of text.match(/^[ \t]*(?:from|import)[ \t](?:.*\([^)]*\)|.*)/gm) ?? [])
      for (const word of statement.match(/\w+/g)!) this.add(word);
  }

  #addParts(dotted: string): void {
    if (!dotted.includes(".")) this.add(dotted);
    else for (const part of dotted.split(".")) this.add(part);
  }
}

/** As nearly all Python code writes the names of classes. Asked of every name of a tree: no regular expression. */
function isCapital(word: string): boolean {
  let first = word.charCodeAt(0);
  for (let at = 1; first === 95; at++) first = word.charCodeAt(at);
  return first >= 65 && first <= 90;
}

function isWithin(node: Node, cls: string): boolean {
  for (let at = node.parent; at; at = at.parent) if (at.kind === "ClassDef" && at.name === cls) return true;
  return false;
}

/**
 * Classes of networks that nobody mentions, or that stand in a file that nobody imports and that does not train them itself,
 * in a tree where something trains: by their qualified names.
 */
export function unusedNetworks(
  summaries: readonly FileSummary[],
  roles: ReadonlyMap<string, Role>,
  mentioned: ReadonlySet<string>,
): ReadonlySet<string> {
  const unused = new Set<string>();
  if (!summaries.some((file) => file.trains)) return unused;
  const byName = mentioned.has("importlib") || mentioned.has("pkgutil") || mentioned.has("import_module");
  for (const file of summaries) {
    const left = !file.trains && !byName && !mentioned.has(last(file.module));
    for (const { name, decorated } of file.classes) {
      const own = last(name);
      if (roles.get(name) === "module" && (left || (!decorated && isCapital(own) && !mentioned.has(own))))
        unused.add(name);
    }
  }
  return unused;
}
