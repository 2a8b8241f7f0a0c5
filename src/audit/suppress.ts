import type { PythonFile } from "../python/file.ts";
import type { Comment } from "../python/tree.ts";

const NOQA = /#\s*noqa(?<codes>\s*:\s*(?:[A-Z]+[0-9]+)(?:[\s,]+[A-Z]+[0-9]+)*)?/i;

/** `# noqa` comments of one file, and which of them did something. */
export class Suppressions {
  /** By line: null silences everything. */
  readonly #byLine = new Map<
    number,
    {
      readonly comment: Comment;
      readonly codes: ReadonlyMap<string, { readonly start: number; readonly end: number }> | null;
      readonly used: Set<string>;
    }
  >();

  constructor(comments: readonly Comment[], file: PythonFile) {
    const { text } = file;
    for (const comment of comments) {
      const match = NOQA.exec(text.slice(comment.start, comment.end));
      if (!match) continue;
      const listed = match.groups?.["codes"];
      const codes = listed === undefined ? null : new Map<string, { start: number; end: number }>();
      if (codes)
        for (const code of listed!.matchAll(/[A-Z]+[0-9]+/gi)) {
          const start = comment.start + match.index + match[0].length - listed!.length + code.index;
          codes.set(code[0].toUpperCase(), { start, end: start + code[0].length });
        }
      this.#byLine.set(file.lines.line(comment.start), { comment, codes, used: new Set() });
    }
  }

  /** True, and remembered, when a comment on one of these lines silences the rule. */
  silences(code: string, lines: readonly number[]): boolean {
    for (const line of lines) {
      const entry = this.#byLine.get(line);
      if (!entry || (entry.codes !== null && !entry.codes.has(code))) continue;
      entry.used.add(code);
      return true;
    }
    return false;
  }

  /** Codes of ours that silenced nothing. Only rules that ran can be judged. */
  *unused(
    ran: (code: string) => boolean,
  ): Generator<{ readonly code: string; readonly at: { readonly start: number; readonly end: number } }> {
    for (const { codes, used } of this.#byLine.values())
      for (const [code, at] of codes ?? []) if (!used.has(code) && ran(code)) yield { code, at };
  }
}
