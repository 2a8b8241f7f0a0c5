import { vi } from "vitest";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { probeEnvironment } from "../../src/monitor/probe.ts";
import type { Record } from "../../src/monitor/record.ts";
import { Tail } from "../../src/monitor/tail.ts";
import { runProgram, type Ran } from "../support/cli.ts";
import { emptyFolder } from "../support/folder.ts";
import { PYTHON } from "../support/python.ts";

/** torch takes seconds to import, half a minute on a busy machine. */
vi.setConfig({ testTimeout: 240_000 });

export interface Trained extends Ran {
  readonly records: readonly Record[];
  readonly folder: string;
  readonly script: string;
}

/** Runs a script under the probe, as `plimsoll run` would start it. */
export async function train(
  source: string,
  env: { [name: string]: string } = {},
  args: readonly string[] = [],
): Promise<Trained> {
  const script = join(emptyFolder(), "train.py");
  writeFileSync(script, source);
  const folder = emptyFolder();
  const probed = probeEnvironment(env, folder) as { [name: string]: string };
  const ran = await runProgram(PYTHON, [...args, script], { env: { OMP_NUM_THREADS: "1", ...probed } });
  return { ...ran, folder, script, records: new Tail(folder).read() };
}

/** The same script with nothing around it. */
export function trainBare(script: string): Promise<Ran> {
  return runProgram(PYTHON, [script], { env: { OMP_NUM_THREADS: "1" } });
}

/** The number of the line that holds a text. */
export function lineOf(source: string, text: string): number {
  return source.split("\n").findIndex((line) => line.includes(text)) + 1;
}
