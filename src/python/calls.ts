import type { NodesByKind } from "./nodes.ts";
import type { Arg, Call, NodeOf } from "./tree.ts";

/** The calls of a file by the last word of what they call: `F.softmax(x)` and `x.softmax(-1)` are both "softmax". */
export class Calls {
  readonly #byWord = new Map<string, Call[]>();
  readonly #byKeyword = new Map<string, Call[]>();
  /** Other words for a name, under which something is called: `from torch import cat as join`, `join = torch.cat`. */
  readonly #aliases = new Map<string, string[]>();

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
      if (as !== null && this.#byWord.has(as)) put(this.#aliases, name.slice(name.lastIndexOf(".") + 1), as);
    for (const { targets, value } of (nodes.get("Assign") ?? []) as readonly NodeOf<"Assign">[])
      if (value.kind === "Attribute" && targets[0]?.kind === "Name" && this.#byWord.has(targets[0].id))
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

  /** The same by a pattern, which is tried on each word once. */
  matching(pattern: RegExp): readonly Call[] {
    const words: string[] = [];
    for (const word of this.#byWord.keys()) if (pattern.test(word)) words.push(word);
    for (const word of this.#aliases.keys())
      if (!this.#byWord.has(word) && pattern.test(word)) words.push(word);
    return this.named(words);
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
