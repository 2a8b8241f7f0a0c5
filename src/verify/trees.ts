import {
  constants,
  copyFileSync,
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readlinkSync,
  rmSync,
  symlinkSync,
} from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { UserError } from "../base/errors.ts";
import { formatBytes, GB } from "../base/units.ts";
import { git, type Source } from "./sources.ts";

/** Left out of a folder that git says nothing about: what tools make, and what is large. */
const LEFT_OUT = new Set([
  ".git",
  ".venv",
  "venv",
  "node_modules",
  "__pycache__",
  ".plimsoll",
  ".mypy_cache",
]);
/** A copy is made before each run: more than this is data, which is to be shared, not copied. */
const LARGEST = 4 * GB;

/** A clean copy of a side's code, made anew before each run. */
export class Tree {
  /** Where the command runs. */
  readonly cwd: string;
  readonly path: string;
  readonly #source: Source;
  readonly #shared: readonly { readonly target: string; readonly link: string }[];
  #added = false;

  /** `shared`: paths, relative to where the user is, that every run sees as they are (data, models). */
  constructor(path: string, source: Source, shared: readonly string[], userCwd: string) {
    this.path = path;
    this.cwd = join(path, source.inside);
    this.#source = source;
    this.#shared = shared.map((text) => {
      const target = resolve(userCwd, text);
      if (!existsSync(target)) throw new UserError(`--share ${text}: there is no such file or folder`);
      return { target, link: join(this.cwd, text) };
    });
  }

  fill(): void {
    const source = this.#source;
    if (source.kind === "revision") this.#checkOut(source.root, source.commit);
    else {
      rmSync(this.path, { recursive: true, force: true });
      mkdirSync(this.path, { recursive: true });
      if (source.kind === "working tree") copyWorkingTree(source.root, this.path);
      else copyFolder(source.root, this.path);
    }
    mkdirSync(this.cwd, { recursive: true });
    for (const { target, link } of this.#shared) {
      if (exists(link)) throw new UserError(`--share ${basename(link)}: ${source.text} has one of its own`);
      mkdirSync(dirname(link), { recursive: true });
      symlinkSync(target, link);
    }
  }

  remove(): void {
    if (this.#added && this.#source.kind === "revision") {
      git(this.#source.root, "worktree", "remove", "--force", "--force", this.path);
      rmSync(this.path, { recursive: true, force: true });
      git(this.#source.root, "worktree", "prune");
    }
    rmSync(this.path, { recursive: true, force: true });
  }

  #checkOut(root: string, commit: string): void {
    const ran = this.#added
      ? [
          git(this.path, "checkout", "--quiet", "--force", "--detach", commit),
          git(this.path, "clean", "-ffdxq"),
        ]
      : [git(root, "worktree", "add", "--quiet", "--force", "--detach", this.path, commit)];
    this.#added = true;
    const failed = ran.find(({ code }) => code !== 0);
    if (failed)
      throw new UserError(
        `git cannot check out ${this.#source.text}: ${failed.error}`,
        "see: git worktree list",
      );
  }
}

/** What a commit of everything would hold: changes and new files with it, ignored files not. */
function copyWorkingTree(root: string, to: string): void {
  const listed = git(root, "ls-files", "-z", "--cached", "--others", "--exclude-standard", "--deduplicate");
  if (listed.code !== 0) throw new UserError(`git cannot list the files of ${root}: ${listed.error}`);
  let bytes = 0;
  for (const file of listed.out.split("\0").filter(Boolean)) {
    const from = join(root, file);
    if (!exists(from)) continue;
    bytes += copyOne(from, join(to, file));
    checkSize(root, bytes);
  }
}

function copyFolder(from: string, to: string, bytes = 0): number {
  let copied = bytes;
  for (const name of readdirSync(from)) {
    if (LEFT_OUT.has(name)) continue;
    const [here, there] = [join(from, name), join(to, name)];
    if (lstatSync(here).isDirectory()) {
      mkdirSync(there, { recursive: true });
      copied = copyFolder(here, there, copied);
    } else copied += copyOne(here, there);
    checkSize(from, copied);
  }
  return copied;
}

function copyOne(from: string, to: string): number {
  const found = lstatSync(from);
  mkdirSync(dirname(to), { recursive: true });
  if (found.isSymbolicLink()) symlinkSync(readlinkSync(from), to);
  else if (found.isDirectory()) cpSync(from, to, { recursive: true });
  else if (found.isFile()) copyFileSync(from, to, constants.COPYFILE_FICLONE);
  return found.isFile() ? found.size : 0;
}

function checkSize(root: string, bytes: number): void {
  if (bytes > LARGEST)
    throw new UserError(
      `${root} holds more than ${formatBytes(LARGEST)}: too much to copy for each run`,
      "let git ignore the data and name it with --share",
    );
}

function exists(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
}
