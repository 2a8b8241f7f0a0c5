import {
  Float64,
  Int32,
  makeData,
  RecordBatch,
  Schema,
  Field,
  Struct,
  Table,
  tableToIPC,
} from "apache-arrow";
import type { Record } from "./record.ts";

/** All steps of all ranks as one Arrow file: a column for the rank, and those of the records. One batch a rank. */
export function stepsToArrow(records: readonly Record[]): Uint8Array {
  const names = records[0]?.head?.columns ?? [];
  const schema = new Schema([
    Field.new("rank", new Int32(), false),
    ...names.map((name) => Field.new(name, new Float64(), false)),
  ]);
  const batches = records.map((record) => {
    const length = record.steps;
    const rank = makeData({
      type: new Int32(),
      length,
      data: new Int32Array(length).fill(record.head!.rank),
    });
    const values = names.map((name) => makeData({ type: new Float64(), length, data: record.column(name) }));
    return new RecordBatch(
      schema,
      makeData({ type: new Struct(schema.fields), length, nullCount: 0, children: [rank, ...values] }),
    );
  });
  return tableToIPC(new Table(schema, batches), "file");
}
