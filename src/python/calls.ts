import type { NodesByKind } from "./nodes.ts";
import type { Arg, Call, NodeOf } from "./tree.ts";

/** Those that have been asked for. */
const PATTERNS = new Set<RegExp>();
/** Which of them a word matches, in whatever file: most are written in many, and match none. */
const MATCHES = new Map<string, readonly RegExp[]>();
/** More than transformers has; an editor may be open for weeks. */
const MOST_WORDS = 100_000;

function patternsOf(word: string): readonly RegExp[] {
  let found = MATCHES.get(word);
  if (!found) {
    found = [...PATTERNS].filter((pattern) => pattern.test(word));
    if (MATCHES.size > MOST_WORDS) MATCHES.clear();
    // Copied: V8 makes a part of a long text a view of it, and the whole text would live as long.
    MATCHES.set(` ${word}`.slice(1), found);
  }
  return found;
}

/** The calls of a file by the last word of what they call: `F.softmax(x)` and `x.softmax(-1)` are both "softmax". */
export class Calls {
  readonly #byWord = new Map<string, Call[]>();
  readonly #byKeyword = new Map<string, Call[]>();
  /** Other words for a name: `from torch import cat as join`, `join = torch.cat`. */
  readonly #aliases = new Map<string, string[]>();
  /** Of each pattern the words that it matches. */
  readonly #matched = new Map<RegExp, string[]>();

  constructor(nodes: NodesByKind) {
    const put = <V>(map: Map<string, V[]>, key: string, value: V): void => {
      const list = map.get(key);
      if (list) list.push(value);
      else map.set(key, [value]);
    };
    for (const call of (nodes.get("Call") ?? []) as readonly Call[]) {
      const { func } = call;
      if (func.kind === "Attribute") put(this.#byWord, func.attr, call);
      else if (func.kind === "Name") put(this.#byWord, func.id, call);
    }
    for (const arg of (nodes.get("Arg") ?? []) as readonly Arg[])
      if (arg.name !== null && arg.parent?.kind === "Call") put(this.#byKeyword, arg.name, arg.parent);
    for (const { name, as } of (nodes.get("Alias") ?? []) as readonly NodeOf<"Alias">[])
      if (as !== null) put(this.#aliases, name.slice(name.lastIndexOf(".") + 1), as);
    for (const { targets, value } of (nodes.get("Assign") ?? []) as readonly NodeOf<"Assign">[])
      if (value.kind === "Attribute" && targets[0]?.kind === "Name")
        put(this.#aliases, value.attr, targets[0].id);
  }

  /** Every call that may go to something of one of these names, in source order. */
  named(words: readonly string[]): readonly Call[] {
    const lists: (readonly Call[])[] = [];
    const add = (word: string): void => {
      const calls = this.#byWord.get(word);
      if (calls && !lists.includes(calls)) lists.push(calls);
    };
    for (const word of words) {
      add(word);
      if (this.#aliases.size > 0) for (const alias of this.#aliases.get(word) ?? NO_WORDS) add(alias);
    }
    return joined(lists);
  }

  /** The same by a pattern; one that is not made anew for each file. */
  matching(pattern: RegExp): readonly Call[] {
    if (this.#matched.size < PATTERNS.size || !PATTERNS.has(pattern)) this.#match(pattern);
    return this.named(this.#matched.get(pattern)!);
  }

  /** All patterns at once: each word is looked up once. */
  #match(wanted: RegExp): void {
    if (!PATTERNS.has(wanted)) {
      PATTERNS.add(wanted);
      MATCHES.clear();
    }
    this.#matched.clear();
    for (const pattern of PATTERNS) this.#matched.set(pattern, []);
    for (const word of this.#byWord.keys())
      for (const pattern of patternsOf(word)) this.#matched.get(pattern)!.push(word);
    for (const word of this.#aliases.keys())
      if (!this.#byWord.has(word))
        for (const pattern of patternsOf(word)) this.#matched.get(pattern)!.push(word);
  }

  /** Calls that are given one of these keyword arguments, in source order. */
  given(keywords: readonly string[]): readonly Call[] {
    const lists = keywords.flatMap((keyword) => {
      const calls = this.#byKeyword.get(keyword);
      return calls ? [calls] : [];
    });
    // One call may be given several of them.
    return lists.length > 1 ? [...new Set(joined(lists))] : joined(lists);
  }
}

/** Lists in source order as one. */
function joined(lists: readonly (readonly Call[])[]): readonly Call[] {
  if (lists.length <= 1) return lists[0] ?? NONE;
  return lists.flat().sort((a, b) => a.start - b.start || b.end - a.end);
}

const NONE: readonly Call[] = [];
const NO_WORDS: readonly string[] = [];
