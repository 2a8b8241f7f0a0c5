import { constants } from "node:fs";
import { access, open } from "node:fs/promises";
import { basename, delimiter, join } from "node:path";
import { ask } from "./program.ts";

export const PACKAGES = [
  "torch",
  "transformers",
  "accelerate",
  "peft",
  "trl",
  "bitsandbytes",
  "torchao",
  "deepspeed",
  "liger-kernel",
  "flash-attn",
  "tokenizers",
] as const;
export type Package = (typeof PACKAGES)[number];

export interface PythonReading {
  readonly path: string;
  /** False when the command does not say which Python it uses, so that this is the PATH's python3. */
  readonly certain: boolean;
  /** "3.11.9" */
  readonly version: string;
  readonly packages: Readonly<Partial<Record<Package, string>>>;
  /** The CUDA that torch was built for; null for a build without, undefined where torch is not installed. */
  readonly cuda: string | null | undefined;
}

export interface NoPython {
  readonly path: string;
  readonly problem: string;
}

/** Reads metadata files only: importing torch takes seconds and may touch the card. */
const QUESTION = `
import importlib.metadata, importlib.util, json, os, platform, re, sys
packages = {}
for name in sys.argv[1:]:
    try:
        packages[name] = importlib.metadata.version(name)
    except Exception:
        pass
answer = {"version": platform.python_version(), "packages": packages}
try:
    spec = importlib.util.find_spec("torch")
    with open(os.path.join(os.path.dirname(spec.origin), "version.py")) as file:
        found = re.search(r"^cuda\\b[^=]*=\\s*(?:'([^']*)'|\\"([^\\"]*)\\")?", file.read(), re.M)
    if found:
        answer["cuda"] = found.group(1) or found.group(2)
except Exception:
    pass
print(json.dumps(answer))
`;

export async function readPython(command: readonly string[]): Promise<PythonReading | NoPython> {
  const named = await pythonOf(command[0]);
  const path = named ?? "python3";
  const { out, problem } = await ask(path, ["-c", QUESTION, ...PACKAGES]);
  if (problem !== null) return { path, problem };
  try {
    const answer = JSON.parse(out) as Omit<PythonReading, "path" | "certain">;
    return { path, certain: named !== null, ...answer };
  } catch {
    return { path, problem: "it did not answer as Python does" };
  }
}

/** The interpreter behind a command: itself, or the one that a script such as torchrun names in its first line. */
async function pythonOf(word: string | undefined): Promise<string | null> {
  if (word === undefined) return null;
  if (/^python[\d.]*(?:\.exe)?$/i.test(basename(word))) return word;
  const path = await onPath(word);
  const first = path === null ? "" : await firstLine(path);
  const interpreter = /^#!\s*(\S+)(?:\s+(\S+))?/.exec(first);
  if (!interpreter) return null;
  const program = interpreter[1]!.endsWith("/env") ? interpreter[2] : interpreter[1];
  return program && /^python[\d.]*$/.test(basename(program)) ? program : null;
}

async function onPath(word: string): Promise<string | null> {
  const places = word.includes("/") ? [""] : (process.env["PATH"] ?? "").split(delimiter);
  for (const place of places) {
    const path = join(place, word);
    try {
      await access(path, constants.X_OK);
      return path;
    } catch {
      // Not in this folder.
    }
  }
  return null;
}

async function firstLine(path: string): Promise<string> {
  const file = await open(path);
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(512), 0, 512, 0);
    return buffer.subarray(0, bytesRead).toString("latin1").split("\n")[0]!;
  } catch {
    return "";
  } finally {
    await file.close();
  }
}
