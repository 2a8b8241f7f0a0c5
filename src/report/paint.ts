export type Style = "bold" | "dim" | "red" | "yellow" | "green" | "cyan";

const CODES: Readonly<Record<Style, readonly [number, number]>> = {
  bold: [1, 22],
  dim: [2, 22],
  red: [31, 39],
  yellow: [33, 39],
  green: [32, 39],
  cyan: [36, 39],
};

export type Paint = (style: Style, text: string) => string;

/** Whether colour is wanted at all is decided by the CLI (NO_COLOR, pipes). */
export function paint(color: boolean): Paint {
  return (style, text) =>
    color && text !== "" ? `\u001b[${CODES[style][0]}m${text}\u001b[${CODES[style][1]}m` : text;
}
