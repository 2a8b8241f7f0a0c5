type Child = Node | string;

/** An element. Text goes in as text nodes: nothing a file said is ever parsed as HTML. */
export function el<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Readonly<Record<string, string | number>> = {},
  ...children: readonly Child[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, String(value));
  element.append(...children.map((child) => (typeof child === "string" ? visible(child) : child)));
  return element;
}

/** The element of the page's own markup; its absence is a bug. */
export function byId<T extends HTMLElement>(id: string): T {
  const element = document.getElementById(id);
  if (!element) throw new Error(`no element #${id}`);
  return element as T;
}

/** Control characters, and those that turn the direction of the text after them, as what they are. */
export function visible(text: string): string {
  return text.replaceAll(
    // oxlint-disable-next-line no-control-regex
    /[\u0000-\u001f\u007f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

export const percent = (part: number, whole: number): string =>
  `${whole > 0 ? ((100 * part) / whole).toFixed(1) : "0.0"}%`;

export const counted = (number: number): string => number.toLocaleString("en");
