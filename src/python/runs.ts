const BITS = 16;
/** A text of more has most of the runs there are. */
const MAX_TEXT = 1 << 20;

/**
 * Which runs of four characters a text has, of those that begin at every second one: by them most words are known not to be
 * in it, without going through it for each. Of the text that was asked of last, for files are judged one after the other.
 */
const table = new Uint8Array(1 << BITS);
let bytes: Buffer | null = null;
/** Of whom the table is. By a number: a text that is held here would live longer than its file. */
let owner = 0;
let owners = 0;

const slot = (run: number): number => Math.imul(run, 0x9e3779b1) >>> (32 - BITS);

/** A number by which a text is known here. */
export const newOwner = (): number => ++owners;

function fill(text: string): void {
  table.fill(0);
  if (bytes === null || bytes.length <= text.length) bytes = Buffer.allocUnsafeSlow(text.length * 2 + 2);
  const from = bytes;
  const into = table;
  // Of wider characters the lower halves: no word that is looked for has any.
  const length = from.write(text, "latin1");
  let run = 0;
  for (let at = 0; at < length; at += 2) {
    run = (run << 16) | (from[at]! << 8) | from[at + 1]!;
    into[slot(run)] = 1;
  }
}

/** Whether the text may have the word in it; if not, it does not. */
export function mayHave(text: string, of: number, word: string): boolean {
  // A browser, which reads single recipes, has no such memory, and no need of it.
  if (text.length > MAX_TEXT || typeof Buffer === "undefined") return true;
  if (owner !== of) {
    fill(text);
    owner = of;
  }
  return hasRuns(word, 0) || hasRuns(word, 1);
}

function hasRuns(word: string, from: number): boolean {
  let run = (word.charCodeAt(from) << 8) | word.charCodeAt(from + 1);
  for (let at = from + 2; at + 1 < word.length; at += 2) {
    run = (run << 16) | (word.charCodeAt(at) << 8) | word.charCodeAt(at + 1);
    if (table[slot(run)] === 0) return false;
  }
  return true;
}
