import type { PythonFile } from "../../python/file.ts";
import type { Node } from "../../python/tree.ts";
import type { Role } from "./classes.ts";
import type { FileSummary } from "./summary.ts";

/** "models.Encoder" in a table of names, not a sentence. */
const NAMES = /^\w+(?:\.\w+)*$/;
const LONGEST_NAME = 100;

/** The words by which a file may speak of classes and modules; of a class in its own body nobody makes an instance. */
export function mentionsOf(file: PythonFile): Set<string> {
  const words = new Set<string>();
  // `from nets import Encoder2 as Encoder`: what is called Encoder here is another one.
  const renamed = new Set(
    file.all("Alias").flatMap(({ name, as }) => (as !== null && as !== name ? [as] : [])),
  );
  for (const name of file.all("Name"))
    if (isCapital(name.id) && !words.has(name.id) && !renamed.has(name.id) && !isWithin(name, name.id))
      words.add(name.id);
  for (const { attr } of file.all("Attribute")) if (isCapital(attr)) words.add(attr);
  for (const { name, parent } of file.all("Alias")) {
    for (const word of name.split(".")) words.add(word);
    if (parent?.kind === "ImportFrom") for (const word of parent.module.split(".")) words.add(word);
  }
  for (const { value } of file.all("Str"))
    if (value !== null && value.length < LONGEST_NAME && NAMES.test(value))
      for (const word of value.split(".")) words.add(word);
  return words;
}

/** As nearly all Python code writes the names of classes. Asked of every name of a tree: no regular expression. */
function isCapital(word: string): boolean {
  let at = 0;
  while (word.charCodeAt(at) === 95) at++;
  const first = word.charCodeAt(at);
  return first >= 65 && first <= 90;
}

function isWithin(node: Node, cls: string): boolean {
  for (let at = node.parent; at; at = at.parent) if (at.kind === "ClassDef" && at.name === cls) return true;
  return false;
}

/** The same of a text with nothing for any rule, which may still hand on what others define. */
export function wordsIn(text: string): Set<string> {
  const words = importedIn(text);
  for (const word of text.match(/\b_*[A-Z]\w*/g) ?? []) words.add(word);
  return words;
}

/** The same of a text that defines what it speaks of, or imports it. */
export function importedIn(text: string): Set<string> {
  const words = new Set<string>();
  for (const statement of text.match(/^[ \t]*(?:from|import)[ \t](?:.*\([^)]*\)|.*)/gm) ?? [])
    for (const word of statement.match(/\w+/g)!) words.add(word);
  return words;
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
    const left = !file.trains && !byName && !mentioned.has(lastPart(file.module));
    for (const { name, decorated } of file.classes) {
      const own = lastPart(name);
      if (roles.get(name) === "module" && (left || (!decorated && isCapital(own) && !mentioned.has(own))))
        unused.add(name);
    }
  }
  return unused;
}

const lastPart = (dotted: string): string => dotted.slice(dotted.lastIndexOf(".") + 1);
