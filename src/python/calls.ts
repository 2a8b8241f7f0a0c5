import type { NodesByKind } from "./nodes.ts";
import { copied } from "./source.ts";
import type { Arg, Call, NodeOf } from "./tree.ts";

/** The calls of a file by the last word of what they call: `F.softmax(x)` and `x.softmax(-1)` are both "softmax". */
export class Calls {
  readonly #byWord = new Map<string, Call[]>();
  readonly #byKeyword = new Map<string, Call[]>();
  /** Other words for a name, under which something is called: `from torch import cat as join`, `join = torch.cat`. */
  readonly #aliases = new Map<string, string[]>();
  #spoken: Spoken | null = null;

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
    // Most words are asked alone, and nothing is called by another.
    if (words.length === 1 && !this.#aliases.has(words[0]!)) return this.#byWord.get(words[0]!) ?? NONE;
    const lists: (readonly Call[])[] = [];
    for (const word of words) {
      this.#add(word, lists);
      if (this.#aliases.size > 0)
        for (const alias of this.#aliases.get(word) ?? NO_WORDS) this.#add(alias, lists);
    }
    return joined(lists);
  }

  #add(word: string, lists: (readonly Call[])[]): void {
    const calls = this.#byWord.get(word);
    if (calls && !lists.includes(calls)) lists.push(calls);
  }

  /** The same by a pattern, which is tried on each word once, in whatever file. */
  matching(pattern: RegExp): readonly Call[] {
    this.#spoken ??= new Spoken(this.#byWord.keys());
    const words = this.#spoken.matching(pattern);
    for (const word of this.#aliases.keys())
      if (!this.#byWord.has(word) && pattern.test(word)) words.push(word);
    return this.named(words);
  }

  /** Calls that are given one of these keyword arguments, in source order. */
  given(keywords: readonly string[]): readonly Call[] {
    const lists: (readonly Call[])[] = [];
    for (const keyword of keywords) {
      const calls = this.#byKeyword.get(keyword);
      if (calls) lists.push(calls);
    }
    // One call may be given several of them.
    return lists.length > 1 ? [...new Set(joined(lists))] : joined(lists);
  }
}

/** Lists in source order as one. */
function joined(lists: readonly (readonly Call[])[]): readonly Call[] {
  if (lists.length <= 1) return lists[0] ?? NONE;
  // Not `flat`, which takes ten times as long.
  const all: Call[] = [];
  for (const list of lists) for (const call of list) all.push(call);
  return all.sort((a, b) => a.start - b.start || b.end - a.end);
}

/** The words of a file that something is called by. Files have most of them in common, and dozens of patterns are asked of each. */
class Spoken {
  readonly #words: readonly string[];
  readonly #numbers: readonly number[];

  constructor(words: Iterable<string>) {
    this.#words = [...words];
    this.#numbers = this.#words.map(numberOf);
  }

  matching(pattern: RegExp): string[] {
    let answers = answersOf.get(pattern);
    if (!answers || answers.length < numbers.size) {
      const longer = new Uint8Array(numbers.size * 2);
      if (answers) longer.set(answers);
      answersOf.set(pattern, (answers = longer));
    }
    const found: string[] = [];
    for (let at = 0; at < this.#words.length; at++) {
      const number = this.#numbers[at]!;
      const answer = answers[number] || (answers[number] = pattern.test(this.#words[at]!) ? YES : NO);
      if (answer === YES) found.push(this.#words[at]!);
    }
    return found;
  }
}

/** By word, of all files so far. */
const numbers = new Map<string, number>();
/** By pattern: for the number of each word an answer, or 0 where it has not been asked. */
const answersOf = new WeakMap<RegExp, Uint8Array>();
const YES = 1;
const NO = 2;

function numberOf(word: string): number {
  let number = numbers.get(word);
  if (number === undefined) numbers.set(copied(word), (number = numbers.size));
  return number;
}

const NONE: readonly Call[] = [];
const NO_WORDS: readonly string[] = [];
