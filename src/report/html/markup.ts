/** Text that is HTML already. Everything else is escaped on its way into a page. */
export class Markup {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}

type Part = string | number | Markup | readonly Markup[] | null;

/** The only way text gets into a page: html`<td>${whatever a file said}</td>`. */
export function html(strings: TemplateStringsArray, ...parts: readonly Part[]): Markup {
  return new Markup(strings.reduce((text, piece, at) => text + rendered(parts[at - 1] ?? null) + piece));
}

function rendered(part: Part): string {
  if (part === null) return "";
  if (part instanceof Markup) return part.text;
  if (Array.isArray(part)) return (part as readonly Markup[]).map((one) => one.text).join("");
  return escaped(String(part));
}

const ENTITIES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

/** Control characters, and those that turn the direction of the text after them, are shown as what they are. */
function escaped(text: string): string {
  return text
    .replaceAll(/[&<>"']/g, (character) => ENTITIES[character]!)
    .replaceAll(
      // oxlint-disable-next-line no-control-regex
      /[\u0000-\u0008\u000b-\u001f\u007f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g,
      (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
    );
}
