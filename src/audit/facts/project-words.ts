import type { Role } from "./classes.ts";
import type { FunctionFacts, ProjectFacts } from "./project.ts";
import { last } from "./torch-names.ts";

/** What is known of a few functions of a tree, and asked of every file: those that take a step, or keep what they are given. */
const TOLD = [
  "loose",
  "keeps",
  "copies",
  "reduces",
  "runs",
  "losses",
  "collates",
  "uncleared",
  "loads",
  "wide",
  "meets",
  "makes",
  "clips",
] as const;

type Words = Readonly<Record<(typeof TOLD)[number], ReadonlySet<string>>>;

const words = new WeakMap<ProjectFacts, Words>();

/** The last words of the functions of which each is known. */
export function wordsOf(project: ProjectFacts): Words {
  let found = words.get(project);
  if (!found) {
    const sets = Object.fromEntries(TOLD.map((fact) => [fact, new Set<string>()])) as Record<
      (typeof TOLD)[number],
      Set<string>
    >;
    // Of all that it hands back "wide" says "".
    const add = (fact: keyof Words, told: unknown, name: string): void => {
      if (told || told === "") sets[fact].add(last(name));
    };
    // One by one: tens of thousands of functions are asked, and most have none of these.
    for (const [name, facts] of project.functions) {
      add("loose", facts.loose, name);
      add("keeps", facts.keeps, name);
      add("copies", facts.copies, name);
      add("reduces", facts.reduces, name);
      add("runs", facts.runs, name);
      add("losses", facts.losses, name);
      add("collates", facts.collates, name);
      add("uncleared", facts.uncleared, name);
      add("loads", facts.loads, name);
      add("wide", facts.wide, name);
      add("meets", facts.meets, name);
      add("makes", facts.makes, name);
      add("clips", facts.clips, name);
    }
    words.set(project, (found = sets));
  }
  return found;
}

const byWord = new WeakMap<ProjectFacts, ReadonlyMap<string, readonly string[]>>();

/** Of `package.Net`, which the package's `__init__` has from one of its modules, and of `net.Net` below the audited root. */
export function roleByWord(dotted: string, project: ProjectFacts): Role {
  let names = byWord.get(project);
  if (!names) {
    const found = new Map<string, string[]>();
    for (const name of project.roles.keys()) {
      const word = last(name);
      const same = found.get(word);
      if (same) same.push(name);
      else found.set(word, [name]);
    }
    byWord.set(project, (names = found));
  }
  const [one, ...more] = names.get(last(dotted)) ?? [];
  if (!one || more.length > 0) return "other";
  const owner = dotted.slice(0, -last(dotted).length);
  const isOfOwner = one.startsWith(owner) || one.includes(`.${owner}`) || one.endsWith(`.${dotted}`);
  return isOfOwner ? project.roles.get(one)! : "other";
}

const steppers = new WeakMap<ProjectFacts, ReadonlyMap<string, readonly FunctionFacts[]>>();

/** By the last word of their names: the functions of the tree that take a step. */
export function stepsByWord(project: ProjectFacts): ReadonlyMap<string, readonly FunctionFacts[]> {
  let found = steppers.get(project);
  if (!found) {
    const words = new Map<string, FunctionFacts[]>();
    for (const [name, facts] of project.functions) {
      if (!facts.loose) continue;
      const word = last(name);
      words.set(word, [...(words.get(word) ?? []), facts]);
    }
    steppers.set(project, (found = words));
  }
  return found;
}

const boxes = new WeakMap<ProjectFacts, boolean>();

/** Whether the tree has a class that holds tensors and sends them itself, and that a loader does not know how to pin. */
export function hasOwnBoxes(project: ProjectFacts): boolean {
  let found = boxes.get(project);
  if (found === undefined) {
    found = [...project.functions.keys()].some((name) => {
      const cls = name.endsWith(".to") ? name.slice(0, -".to".length) : null;
      return (
        cls !== null && project.roles.get(cls) === "other" && !project.functions.has(`${cls}.pin_memory`)
      );
    });
    boxes.set(project, found);
  }
  return found;
}
