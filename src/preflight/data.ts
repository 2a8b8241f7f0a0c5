import { createReadStream } from "node:fs";
import { readFile, stat } from "node:fs/promises";
import { createInterface } from "node:readline";
import { UserError } from "../base/errors.ts";
import type { Recipe } from "../plan/recipe.ts";
import { type Check, fail, pass, warn } from "./check.ts";

export interface Longest {
  readonly file: string;
  readonly samples: number;
  /** Tokens in the longest sample. */
  readonly tokens: number;
  /** Which, from 1. */
  readonly at: number;
  /** Counted from token ids; otherwise estimated from text. */
  readonly exact: boolean;
}

/** Whole-file formats are read at once. */
const MAX_BYTES = 512e6;
/** English takes about four bytes of UTF-8 a token; text without spaces is not one word. */
const BYTES_A_TOKEN = 4;

const estimate = (text: string): number =>
  Math.max(text.match(/\S+/g)?.length ?? 0, Math.ceil(Buffer.byteLength(text) / BYTES_A_TOKEN));

export async function longestSample(file: string): Promise<Longest> {
  if (/\.(?:jsonl|ndjson)$/i.test(file)) return longest(file, jsonLines(file));
  if (/\.txt$/i.test(file)) return longest(file, lines(file));
  if (/\.json$/i.test(file)) return longest(file, jsonRows(file, await whole(file)));
  if (/\.[ct]sv$/i.test(file))
    return longest(file, csvRows(await whole(file), /\.tsv$/i.test(file) ? "\t" : ","));
  if (/\.parquet$/i.test(file)) {
    const { parquetRows } = await import("./tables.ts");
    return longest(file, parquetRows(file, telling));
  }
  if (/\.(?:arrow|feather)$/i.test(file)) {
    const { arrowRows } = await import("./tables.ts");
    return longest(file, arrowRows(file, telling));
  }
  throw new UserError(
    `--data ${file}: not a format that is read`,
    "jsonl, json, csv, tsv, txt, parquet or arrow",
  );
}

/** Of a table's columns those that say how long a sample is. */
function telling(columns: readonly string[]): readonly string[] {
  const one = ["input_ids", ...FIELDS].find((name) => columns.includes(name));
  return one === undefined ? columns : [one];
}

async function longest(file: string, samples: AsyncIterable<unknown> | Iterable<unknown>): Promise<Longest> {
  let most: Pick<Longest, "tokens" | "at" | "exact"> = { tokens: 0, at: 0, exact: false };
  let count = 0;
  for await (const sample of samples) {
    count++;
    const { tokens, exact } = lengthOf(sample);
    if (tokens > most.tokens) most = { tokens, exact, at: count };
  }
  return { file, samples: count, ...most };
}

function lengthOf(sample: unknown): { readonly tokens: number; readonly exact: boolean } {
  if (typeof sample === "object" && sample !== null && "input_ids" in sample) {
    const ids = sample.input_ids;
    if (Array.isArray(ids) || ArrayBuffer.isView(ids))
      return { tokens: (ids as { readonly length: number }).length, exact: true };
  }
  return { tokens: estimate(textOf(sample)), exact: false };
}

/** The fields that hold a sample where they are there; otherwise everything that is text. */
const FIELDS = ["text", "messages", "conversations"];

function textOf(value: unknown): string {
  if (typeof value === "string") return value;
  if (Array.isArray(value)) return value.map(textOf).join("\n");
  if (typeof value !== "object" || value === null) return "";
  const row = value as Record<string, unknown>;
  const field = FIELDS.find((name) => name in row);
  return field === undefined ? Object.values(row).map(textOf).join("\n") : textOf(row[field]);
}

async function whole(file: string): Promise<string> {
  const { size } = await stat(file);
  if (size > MAX_BYTES)
    throw new UserError(
      `--data ${file}: ${Math.round(size / 1e6)} MB is too much at once`,
      "write it as jsonl",
    );
  return readFile(file, "utf8");
}

async function* lines(file: string): AsyncGenerator<string> {
  for await (const line of createInterface({ input: createReadStream(file), crlfDelay: Infinity }))
    if (line.trim() !== "") yield line;
}

async function* jsonLines(file: string): AsyncGenerator<unknown> {
  let at = 0;
  for await (const line of lines(file)) yield parsed(line, `${file}: sample ${++at}`);
}

function jsonRows(file: string, text: string): readonly unknown[] {
  const value = parsed(text, file);
  if (Array.isArray(value)) return value;
  const list = typeof value === "object" && value !== null && Object.values(value).find(Array.isArray);
  if (list) return list;
  throw new UserError(`--data ${file}: holds no list of samples`, "a JSON list, or jsonl");
}

function parsed(text: string, where: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new UserError(`--data ${where} is not JSON: ${(error as Error).message}`);
  }
}

/** Quoted fields may hold separators, line ends and doubled quotes (RFC 4180). */
function* csvRows(text: string, separator: string): Generator<Record<string, string>> {
  let header: string[] | null = null;
  for (const row of cells(text, separator)) {
    if (header) yield Object.fromEntries(header.map((name, at) => [name, row[at] ?? ""]));
    else header = row;
  }
}

function* cells(text: string, separator: string): Generator<string[]> {
  const pattern = /"((?:[^"]|"")*)"|([^"\t,\r\n][^\r\n\t,]*)|(\r?\n)|([\t,])/g;
  let row: string[] = [];
  let cell = "";
  for (const [all, quoted, bare, end] of text.matchAll(pattern)) {
    if (quoted !== undefined) cell += quoted.replaceAll('""', '"');
    else if (bare !== undefined) cell += bare;
    else if (end !== undefined) {
      if (row.length > 0 || cell !== "") yield [...row, cell];
      [row, cell] = [[], ""];
    } else if (all === separator) {
      row.push(cell);
      cell = "";
    } else cell += all;
  }
  if (row.length > 0 || cell !== "") yield [...row, cell];
}

export function dataCheck(file: string, found: Longest, recipe: Recipe | null): Check {
  if (found.samples === 0) return fail("data", `${file} holds no sample`, "another --data");
  const about = found.exact ? "" : "about ";
  const how = found.exact ? "" : " (an estimate from the text: the tokenizer was not run)";
  const says = `longest of ${found.samples} samples: ${about}${found.tokens} tokens, sample ${found.at}${how}`;
  if (!recipe || found.tokens <= recipe.seq) return pass("data", says);
  if (recipe.loop === "sft")
    return warn("data", `${says}; cut to ${recipe.seq}`, `max_length=${found.tokens}, or leave it cut`);
  const judged = found.exact ? fail : warn;
  return judged(
    "data",
    `${says}; ${recipe.seq} was planned, and nothing cuts it`,
    `truncation=True, max_length=${recipe.seq}; or plan with --seq ${found.tokens}`,
  );
}
