import { Lines } from "../python/source.ts";
import { FSTRING, STRING, tokenize } from "../python/tokens.ts";
import type { Comment } from "../python/tree.ts";

const NOQA = /#\s*noqa(?<codes>\s*:\s*(?:[A-Z]+[0-9]+)(?:[\s,]+[A-Z]+[0-9]+)*)?/gi;

interface Range {
  readonly start: number;
  readonly end: number;
}

interface Noqa {
  /** Null silences everything. */
  readonly codes: ReadonlyMap<string, Range> | null;
  readonly used: Set<string>;
}

/** `# noqa` comments of one file, and which of them did something. */
export class Suppressions {
  readonly #byLine = new Map<number, Noqa>();
  readonly #ends: () => LineEnds | null;

  /** `isPython`: some of whose lines cannot have a comment. */
  constructor(text: string, comments: readonly Comment[], lines: Lines, isPython: boolean) {
    for (const comment of comments) {
      const codes = codesOf(comment, text);
      if (codes !== undefined) this.#byLine.set(lines.line(comment.start), { codes, used: new Set() });
    }
    let ends: LineEnds | null = null;
    this.#ends = () => (isPython ? (ends ??= new LineEnds(text, comments, lines)) : null);
  }

  /** True, and remembered, when a comment on one of these lines, or on the next one that can have any, silences the rule. */
  silences(code: string, lines: readonly number[]): boolean {
    if (this.#byLine.size === 0) return false;
    const ends = this.#ends();
    for (const line of lines) {
      const entry = this.#byLine.get(ends?.free(line) ?? line);
      if (!entry || (entry.codes !== null && !entry.codes.has(code))) continue;
      entry.used.add(code);
      return true;
    }
    return false;
  }

  /** Codes of ours that silenced nothing. Of our rules only those that ran can be judged. */
  *unused(ran: (code: string) => boolean): Generator<{ readonly code: string; readonly at: Range }> {
    for (const { codes, used } of this.#byLine.values())
      for (const [code, at] of codes ?? []) if (!used.has(code) && ran(code)) yield { code, at };
  }
}

/** What a comment silences, where each code stands; null for everything, undefined where it is about something else. */
function codesOf(comment: Comment, text: string): ReadonlyMap<string, Range> | null | undefined {
  const codes = new Map<string, Range>();
  let found = false;
  // Linters write theirs one after the other: `# noqa: E501  # noqa: PLM001`.
  for (const match of text.slice(comment.start, comment.end).matchAll(NOQA)) {
    found = true;
    const listed = match.groups!["codes"];
    if (listed === undefined) return null;
    const from = comment.start + match.index + match[0].length - listed.length;
    for (const code of listed.matchAll(/[A-Z]+[0-9]+/gi))
      codes.set(code[0].toUpperCase(), {
        start: from + code.index,
        end: from + code.index + code[0].length,
      });
  }
  return found ? codes : undefined;
}

/** Where lines can have a comment: not within a string, and not before the line that they are continued in. */
class LineEnds {
  /** Lines without such an end. */
  readonly #bound = new Set<number>();

  constructor(text: string, comments: readonly Comment[], lines: Lines) {
    const { kinds, starts, ends, count } = tokenize(text);
    for (let at = 0; at < count; at++) {
      if (kinds[at] !== STRING && kinds[at] !== FSTRING) continue;
      const last = lines.line(ends[at]!);
      for (let line = lines.line(starts[at]!); line < last; line++) this.#bound.add(line);
    }
    const commented = new Set(comments.map(({ end }) => end));
    for (const { index } of text.matchAll(/\\(?=[\r\n])/g))
      if (!commented.has(index + 1)) this.#bound.add(lines.line(index));
  }

  /** The line itself, or the next one that can. */
  free(line: number): number {
    let at = line;
    while (this.#bound.has(at)) at++;
    return at;
  }
}

/** The comments of a YAML or TOML file that say so; within a string `# noqa` is not to be expected. */
export function configComments(text: string): Comment[] {
  return [...text.matchAll(/(?<=^|[ \t])#[^\r\n]*/gm)].map(({ 0: comment, index }) => ({
    start: index,
    end: index + comment.length,
  }));
}

/** The comment that silences a rule on a line, as an insertion: beside what another one silences there. */
export function silencing(
  text: string,
  line: number,
  code: string,
  isPython: boolean,
): { readonly at: number; readonly text: string } {
  const lines = new Lines(text);
  const comments = isPython ? tokenize(text).comments : configComments(text);
  const home = isPython ? new LineEnds(text, comments, lines).free(line) : line;
  const comment = comments.find((one) => lines.line(one.start) === home);
  const codes = comment && codesOf(comment, text);
  if (codes) {
    const [first] = codes.values();
    const more = /^(?:[\s,]+[A-Z]+[0-9]+)*/i.exec(text.slice(first!.end, comment.end))!;
    return { at: first!.end + more[0].length, text: `, ${code}` };
  }
  const next = lines.start(home + 1);
  const end = text.slice(lines.start(home), next).replace(/[\r\n]+$/, "").length + lines.start(home);
  return { at: end, text: `  # noqa: ${code}` };
}
