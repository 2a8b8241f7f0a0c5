/** The comments that a text begins with. */
const HEAD = /^(?:[ \t\r]*(?:#[^\n]*)?\n)+/;
/** Longer than any licence before them. */
const HEAD_LENGTH = 4_000;

/**
 * Whether a file says of itself that a program writes it and that edits are lost. A mend belongs into what it is made from,
 * and the finding with it: of 222 findings in the generated files of transformers 5.17, 218 stand in a hand-written one too.
 */
export function isGenerated(text: string): boolean {
  const head = HEAD.exec(text.slice(0, HEAD_LENGTH))?.[0] ?? "";
  return /\bgenerated\b/i.test(head) && /\bdo\s+not\s+(?:edit|modify|change)\b/i.test(head);
}
