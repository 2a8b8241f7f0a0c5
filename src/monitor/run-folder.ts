import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { hostname } from "node:os";
import { basename, join, resolve } from "node:path";
import { UserError } from "../base/errors.ts";

/** Beside the training script's working directory, unless --dir says otherwise. */
export const RUNS_FOLDER = ".plimsoll/runs";

/** run.json: what was started, and how it ended. `ended` is absent while it runs (or when plimsoll itself was killed). */
export interface RunFile {
  readonly version: 1;
  readonly name: string;
  readonly command: readonly string[];
  readonly cwd: string;
  readonly host: string;
  readonly plimsoll: string;
  readonly started: string;
  readonly ended?: string;
  /** The training's own exit code; 128 + the signal's number when a signal ended it, as shells count. */
  readonly exit?: number;
  readonly signal?: string;
  /** The alert rules it was watched with. */
  readonly rules?: readonly string[];
}

/** Makes the folder of a new run. Names sort by time; two runs of one second get different names. */
export function createRun(root: string, command: readonly string[], plimsoll: string, now: Date): string {
  const stamp = now.toISOString().slice(0, 19).replaceAll(/[-:]/g, "").replace("T", "-");
  const name = `${stamp}-${scriptName(command)}`;
  let folder = resolve(root, name);
  for (let again = 2; existsSync(folder); again++) folder = resolve(root, `${name}-${again}`);
  try {
    mkdirSync(folder, { recursive: true });
  } catch (error) {
    throw new UserError(
      `cannot make the run folder ${folder}: ${(error as Error).message}`,
      "hint: choose another place with --dir",
    );
  }
  writeRun(folder, {
    version: 1,
    name: basename(folder),
    command,
    cwd: process.cwd(),
    host: hostname(),
    plimsoll,
    started: now.toISOString(),
  });
  return folder;
}

export function writeRun(folder: string, run: RunFile): void {
  writeWhole(join(folder, "run.json"), run);
}

/** Atomic: a reader sees the old file or the new one. */
export function writeWhole(file: string, content: unknown): void {
  writeFileSync(`${file}.part`, `${JSON.stringify(content, null, 2)}\n`);
  renameSync(`${file}.part`, file);
}

export function readRun(folder: string): RunFile {
  const file = join(folder, "run.json");
  try {
    return JSON.parse(readFileSync(file, "utf8")) as RunFile;
  } catch (error) {
    throw new UserError(`${folder} is not a recorded run: ${(error as Error).message}`, "see: plimsoll runs");
  }
}

/** Folders of recorded runs, oldest first. A folder without a readable run.json is none. */
export function listRuns(root: string): string[] {
  if (!existsSync(root)) return [];
  return readdirSync(root)
    .toSorted()
    .map((name) => join(root, name))
    .filter((folder) => statSync(folder).isDirectory() && existsSync(join(folder, "run.json")));
}

/** "train" for python -u src/train.py --lr 1, "trl-sft" for accelerate launch -m trl.sft, else the program's name. */
function scriptName(command: readonly string[]): string {
  const script = command.find((word) => word.endsWith(".py"));
  const module = command[command.indexOf("-m") + 1];
  const name = script ?? (command.includes("-m") && module ? module : (command[0] ?? "run"));
  return (
    basename(name, ".py")
      .replaceAll(/[^A-Za-z0-9]+/g, "-")
      .replaceAll(/^-|-$/g, "") || "run"
  );
}
