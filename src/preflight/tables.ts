import { createReadStream } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { RecordBatchReader } from "apache-arrow";
import { asyncBufferFromFile, parquetMetadataAsync, parquetReadObjects } from "hyparquet";
import { compressors } from "hyparquet-compressors";
import { UserError } from "../base/errors.ts";

/** Rows of a Parquet file, one row group in memory at a time; of its columns only those `wanted` names. */
export async function* parquetRows(
  path: string,
  wanted: (columns: readonly string[]) => readonly string[],
): AsyncGenerator<unknown> {
  try {
    const file = await asyncBufferFromFile(path);
    const metadata = await parquetMetadataAsync(file);
    const [root, ...rest] = metadata.schema;
    const columns = [...wanted(topLevel(rest, root?.num_children ?? 0))];
    let from = 0;
    for (const { num_rows } of metadata.row_groups) {
      const to = from + Number(num_rows);
      yield* await parquetReadObjects({ file, metadata, columns, rowStart: from, rowEnd: to, compressors });
      from = to;
    }
  } catch (error) {
    throw unreadable(path, "Parquet", error);
  }
}

/** The schema is its tree written out, each node followed by its children. */
function topLevel(
  elements: readonly { readonly name: string; readonly num_children?: number }[],
  count: number,
): string[] {
  const names: string[] = [];
  let at = 0;
  const skip = (): void => {
    const inner = elements[at++]?.num_children ?? 0;
    for (let i = 0; i < inner; i++) skip();
  };
  for (let i = 0; i < count; i++) {
    names.push(elements[at]!.name);
    skip();
  }
  return names;
}

/** Rows of an Arrow file, a batch at a time: the stream format that datasets caches are in, or the file format. */
export async function* arrowRows(
  path: string,
  wanted: (columns: readonly string[]) => readonly string[],
): AsyncGenerator<unknown> {
  let handle: FileHandle | null = null;
  try {
    handle = await open(path);
    const magic = Buffer.alloc(6);
    await handle.read(magic, 0, 6, 0);
    const isFile = magic.toString("latin1") === "ARROW1";
    const reader = isFile
      ? await RecordBatchReader.from(handle)
      : await RecordBatchReader.from(createReadStream(path));
    for await (const batch of reader) {
      const names = wanted(batch.schema.fields.map(({ name }) => name));
      const columns = names.map((name) => [name, batch.getChild(name)!] as const);
      for (let row = 0; row < batch.numRows; row++)
        yield Object.fromEntries(columns.map(([name, column]) => [name, plain(column.get(row))]));
    }
  } catch (error) {
    throw unreadable(path, "Arrow", error);
  } finally {
    await handle?.close();
  }
}

/** Arrow's lists and records as JavaScript's. */
function plain(value: unknown): unknown {
  if (typeof value !== "object" || value === null) return value;
  const jsonable = value as { toJSON?: () => unknown };
  const inner = jsonable.toJSON ? jsonable.toJSON() : value;
  if (Array.isArray(inner)) return inner.map(plain);
  return Object.fromEntries(Object.entries(inner as object).map(([key, one]) => [key, plain(one)]));
}

const unreadable = (path: string, what: string, error: unknown): UserError => {
  const message = (error as Error).message.split("\n")[0]!;
  return /compress/i.test(message)
    ? new UserError(`--data ${path}: ${message}`, "write it without compression, or as Parquet")
    : new UserError(`--data ${path} cannot be read as ${what}: ${message}`);
};
