/** Where a value stands: a line of a file, in a notebook a line of a cell. */
export interface Place {
  readonly file: string;
  readonly line: number;
  readonly cell?: number;
  /** In a Python script: which characters of its text. */
  readonly span?: { readonly start: number; readonly end: number };
}

export function placeText({ file, line, cell }: Place): string {
  return cell === undefined ? `${file}:${line}` : `${file}:cell ${cell}:${line}`;
}

/** A value that the file does not settle: why, and the likeliest of what it may be. */
export class Unread {
  readonly why: string;
  readonly guess: Located | null;

  constructor(why: string, guess: Located | null = null) {
    this.why = why;
    this.guess = guess;
  }
}

/** A name that stands for itself: torch.bfloat16, transformers.TrainingArguments. */
export class Dotted {
  readonly name: string;

  constructor(name: string) {
    this.name = name;
  }
}

/** What a call of a known name returns: the name and what it was given. */
export class Made {
  readonly callee: string;
  readonly args: Table;
  readonly positional: readonly Located[];
  /** Why some arguments are not known (`**kwargs` that cannot be read); null when all are. */
  readonly hidden: string | null;

  constructor(callee: string, args: Table, positional: readonly Located[], hidden: string | null = null) {
    this.callee = callee;
    this.args = args;
    this.positional = positional;
    this.hidden = hidden;
  }

  /** By keyword or by position. */
  argument(name: string, index: number): Located | undefined {
    return this.args.get(name) ?? this.positional[index];
  }
}

export type Table = ReadonlyMap<string, Located>;
export type Scalar = string | number | boolean | null;
export type Value = Scalar | readonly Located[] | Table | Unread | Dotted | Made;

/** A value and where it is written. */
export interface Located {
  readonly value: Value;
  readonly place: Place;
}

export const isTable = (value: Value | undefined): value is Table => value instanceof Map;
export const isList = (value: Value | undefined): value is readonly Located[] => Array.isArray(value);
export const isScalar = (value: Value | undefined): value is Scalar =>
  value === null || ["string", "number", "boolean"].includes(typeof value);

/** The part of a callee or name behind its last dot. */
export const lastPart = (name: string): string => name.slice(name.lastIndexOf(".") + 1);

/** A table's entry by a path of keys ("zero_optimization.stage"). */
export function lookup(table: Table, path: string): Located | undefined {
  let at: Located | undefined;
  let inside: Value = table;
  for (const key of path.split(".")) {
    at = isTable(inside) ? inside.get(key) : undefined;
    if (!at) return undefined;
    inside = at.value;
  }
  return at;
}

/** The first of several keys that a table has and that is not null. */
export function firstOf(
  table: Table,
  ...paths: readonly string[]
): { readonly key: string; readonly at: Located } | undefined {
  for (const key of paths) {
    const at = lookup(table, key);
    if (at && at.value !== null) return { key, at };
  }
  return undefined;
}

/** As the file would show it, for messages. */
export function show(value: Value): string {
  if (isScalar(value)) return JSON.stringify(value);
  if (value instanceof Unread) return value.guess ? show(value.guess.value) : "unknown";
  if (value instanceof Dotted) return value.name;
  if (value instanceof Made) return `${lastPart(value.callee)}(…)`;
  if (isList(value)) return `[${value.map((item) => show(item.value)).join(", ")}]`;
  return "{…}";
}
