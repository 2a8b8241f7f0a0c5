import { UserError } from "../../base/errors.ts";
import { PythonFile } from "../../python/file.ts";
import { type Notebook, readNotebook } from "../../python/notebook.ts";
import type { Call, NodeOf } from "../../python/tree.ts";
import type { Place } from "../located.ts";
import { folderOf, joinPath } from "../paths.ts";
import type { Beside, RecipeFile } from "../reading.ts";

/** Never a project's own, even when their source lies beside the script. */
const LIBRARIES = new Set(
  (
    "torch torchvision torchao torchtune transformers trl peft accelerate datasets evaluate bitsandbytes deepspeed " +
    "unsloth liger_kernel hydra omegaconf numpy pandas wandb lightning pytorch_lightning diffusers os sys json yaml " +
    "argparse dataclasses typing pathlib math random time re logging functools collections itertools"
  ).split(" "),
);

/** A script imports its own package: past this many files it is somebody's library. */
const MAX_FILES = 40;
/** Scripts in scripts/ or src/train/ import from the project's root. */
const UPWARDS = ["", "../", "../../", "../../../"];

/** One Python text of the program. */
export class Script {
  readonly name: string;
  readonly file: PythonFile;
  readonly #notebook: Notebook | null;

  constructor(name: string, module: string, file: RecipeFile) {
    const notebook = file.name.endsWith(".ipynb") ? readNotebook(file.text) : null;
    if (typeof notebook === "string") throw new UserError(`${file.name}: ${notebook}`);
    this.name = name;
    this.#notebook = notebook;
    this.file = new PythonFile(module, notebook?.text ?? file.text, null, false, notebook?.cells);
  }

  place(node: { readonly start: number; readonly end?: number }): Place {
    const line = this.file.lines.line(node.start);
    const cell = this.#notebook?.cells.findLast((one) => one.line <= line);
    return cell
      ? { file: this.name, line: line - cell.line + 1, cell: cell.number }
      : { file: this.name, line, span: { start: node.start, end: node.end ?? node.start } };
  }
}

/** The script and the files beside it that it imports. */
export class Program {
  readonly main: Script;
  readonly beside: Beside;
  readonly #folder: string;
  readonly #modules = new Map<string, Script | null>();
  #scripts: readonly Script[] | null = null;
  #calls: Map<string, { readonly call: Call; readonly script: Script }[]> | null = null;

  constructor(file: RecipeFile, beside: Beside) {
    this.beside = beside;
    this.#folder = folderOf(file.name);
    this.main = new Script(file.name, file.name.slice(this.#folder.length), file);
    this.#modules.set(this.main.file.module, this.main);
  }

  /** The file that a module's dotted name stands for; null for installed packages. */
  module(dotted: string): Script | null {
    const known = this.#modules.get(dotted);
    if (known !== undefined) return known;
    let script: Script | null = null;
    const path = dotted.replaceAll(".", "/");
    if (this.#modules.size < MAX_FILES && path !== "" && !LIBRARIES.has(dotted.split(".")[0]!)) {
      search: for (const up of UPWARDS)
        for (const ending of [".py", "/__init__.py"]) {
          const name = joinPath(this.#folder, up + path + ending);
          const text = this.beside(name);
          if (text === null) continue;
          script = new Script(name, path + ending, { name, text });
          break search;
        }
    }
    this.#modules.set(dotted, script);
    return script;
  }

  /** "config.base.LORA.r" → the file of config.base and ["LORA", "r"]. */
  locate(dotted: string): { readonly script: Script; readonly rest: readonly string[] } | null {
    const parts = dotted.split(".");
    for (let cut = parts.length - 1; cut > 0; cut--) {
      const script = this.module(parts.slice(0, cut).join("."));
      if (script) return { script, rest: parts.slice(cut) };
    }
    return null;
  }

  /** The script first, then what it imports, in the order of import. */
  scripts(): readonly Script[] {
    if (this.#scripts) return this.#scripts;
    const seen = new Set<Script>([this.main]);
    for (const script of seen) {
      for (const alias of script.file.all("Alias")) {
        const name = script.file.importedName(alias);
        const found = this.module(name) ?? this.locate(name)?.script;
        if (found) seen.add(found);
      }
    }
    this.#scripts = [...seen];
    return this.#scripts;
  }

  /** Every call of a function or class, by its full name. */
  callsOf(dotted: string): readonly { readonly call: Call; readonly script: Script }[] {
    if (!this.#calls) {
      this.#calls = new Map();
      for (const script of this.scripts())
        for (const call of script.file.all("Call")) {
          const name = script.file.dotted(call.func);
          if (name !== null) this.#calls.set(name, [...(this.#calls.get(name) ?? []), { call, script }]);
        }
    }
    return this.#calls.get(dotted) ?? [];
  }

  classNamed(dotted: string): { readonly script: Script; readonly node: NodeOf<"ClassDef"> } | null {
    const found = this.locate(dotted);
    const node = found?.script.file
      .all("ClassDef")
      .find(
        (one) => found.script.file.qualified(one) === `${found.script.file.module}.${found.rest.join(".")}`,
      );
    return found && node ? { script: found.script, node } : null;
  }

  functionNamed(dotted: string): { readonly script: Script; readonly node: NodeOf<"FunctionDef"> } | null {
    const found = this.locate(dotted);
    const node = found?.script.file
      .all("FunctionDef")
      .find(
        (one) => found.script.file.qualified(one) === `${found.script.file.module}.${found.rest.join(".")}`,
      );
    return found && node ? { script: found.script, node } : null;
  }
}
