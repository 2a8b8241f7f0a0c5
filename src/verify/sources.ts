import { spawnSync } from "node:child_process";
import { existsSync, realpathSync, statSync } from "node:fs";
import { relative, resolve, sep } from "node:path";
import { UserError } from "../base/errors.ts";

/** Where the code of a side comes from. `root` is what the tree is a copy of; the command runs in `inside` of it. */
export type Source =
  | {
      readonly kind: "revision";
      readonly text: string;
      readonly root: string;
      readonly inside: string;
      readonly commit: string;
    }
  | { readonly kind: "working tree"; readonly text: string; readonly root: string; readonly inside: string }
  | { readonly kind: "folder"; readonly text: string; readonly root: string; readonly inside: string };

export function git(cwd: string, ...args: readonly string[]): { code: number; out: string; error: string } {
  const ran = spawnSync("git", args, { cwd, encoding: "utf8", maxBuffer: 1 << 28 });
  if (ran.error)
    return {
      code: 127,
      out: "",
      error: (ran.error as NodeJS.ErrnoException).code === "ENOENT" ? "git was not found" : ran.error.message,
    };
  return { code: ran.status ?? 1, out: ran.stdout, error: ran.stderr.trim() };
}

/** "HEAD~1", "main", "." or a folder. */
export function findSource(text: string, option: string, cwd: string): Source {
  const folder = resolve(cwd, text);
  const isFolder = existsSync(folder) && statSync(folder).isDirectory();
  const spelledAsFolder = /^\.{0,2}($|\/)/.test(text) || text === "." || text === "..";
  const root = topLevel(cwd);
  const commit = spelledAsFolder || root === null ? null : commitOf(root, text);
  if (commit !== null && isFolder)
    throw new UserError(
      `${option} ${text} is both a revision and a folder`,
      `write ./${text} for the folder, refs/heads/${text} for the branch`,
    );
  if (commit !== null) return { kind: "revision", text, root: root!, inside: within(root!, cwd), commit };
  if (isFolder) return folderSource(text, folder);
  if (root === null)
    throw new UserError(
      `${option} ${text} is no folder, and ${cwd} is not in a git repository`,
      "give two folders, or --before-command and --after-command",
    );
  throw new UserError(
    `${option} ${text} is neither a revision of this repository nor a folder`,
    "see: git log --oneline",
  );
}

function folderSource(text: string, folder: string): Source {
  const root = topLevel(folder);
  if (root === null || git(folder, "check-ignore", "--quiet", folder).code === 0)
    return { kind: "folder", text, root: folder, inside: "" };
  return { kind: "working tree", text, root, inside: within(root, folder) };
}

function topLevel(folder: string): string | null {
  const { code, out } = git(folder, "rev-parse", "--show-toplevel");
  return code === 0 ? out.trim() : null;
}

function commitOf(root: string, text: string): string | null {
  const { code, out } = git(root, "rev-parse", "--verify", "--quiet", "--end-of-options", `${text}^{commit}`);
  return code === 0 ? out.trim() : null;
}

function within(root: string, folder: string): string {
  const inside = relative(realpathSync(root), realpathSync(folder));
  return inside.startsWith(`..${sep}`) || inside === ".." ? "" : inside;
}
