const ESCAPES: Readonly<Record<string, string>> = {
  n: "\n",
  t: "\t",
  r: "\r",
  "\\": "\\",
  "'": "'",
  '"': '"',
  a: "\x07",
  b: "\b",
  f: "\f",
  v: "\v",
  "\n": "",
};

/** The text of one string literal token, prefix and quotes included; null for bytes. */
export function stringValue(token: string): string | null {
  let at = 0;
  let raw = false;
  for (; token[at] !== '"' && token[at] !== "'"; at++) {
    const letter = token[at]!.toLowerCase();
    if (letter === "b") return null;
    if (letter === "r") raw = true;
  }
  const quote = token[at]!;
  const width = token[at + 1] === quote && token[at + 2] === quote && token.length - at >= 6 ? 3 : 1;
  const inner = token.slice(at + width, Math.max(at + width, token.length - width));
  if (raw || !inner.includes("\\")) return inner;
  return inner.replace(
    /\\(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|([0-7]{1,3})|\r\n|([^]))/g,
    (whole, x, u, big, octal, one) => {
      const digits = x ?? u ?? big;
      if (digits !== undefined) {
        const point = Number.parseInt(digits, 16);
        return point <= 0x10ffff ? String.fromCodePoint(point) : whole;
      }
      if (octal !== undefined) return String.fromCharCode(Number.parseInt(octal, 8));
      if (one === undefined) return "";
      return ESCAPES[one] ?? whole;
    },
  );
}
