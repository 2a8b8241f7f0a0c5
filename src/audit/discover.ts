import { readFileSync, readdirSync, realpathSync, statSync } from "node:fs";
import { dirname, join, relative, resolve, sep } from "node:path";
import ignore from "ignore";
import type { Ignore } from "ignore";
import type { Diagnostic } from "./report.ts";
import { matchesGlob } from "./settings.ts";

export interface FoundFile {
  /** Where it is. */
  readonly absolute: string;
  /** Relative to the root, with forward slashes: what reports show. */
  readonly path: string;
  /** Relative to the folder that was asked for. */
  readonly inside: string;
  readonly bytes: number;
  /** Asked for outright, not found in a folder. */
  readonly named: boolean;
}

export interface Discovery {
  readonly files: readonly FoundFile[];
  readonly diagnostics: readonly Diagnostic[];
}

const NEVER = new Set([
  ".git",
  ".hg",
  ".svn",
  "node_modules",
  "__pycache__",
  ".venv",
  "venv",
  ".tox",
  ".nox",
  ".mypy_cache",
  ".ruff_cache",
  ".pytest_cache",
  ".ipynb_checkpoints",
  "site-packages",
  "build",
  "dist",
  ".eggs",
]);
const AUDITED = /\.(?:py|ipynb|ya?ml|json|toml)$/;
const DATA_FILES =
  /(?:^|\/)(?:package(?:-lock)?\.json|tsconfig.*\.json|tokenizer(?:_config)?\.json|vocab\.json|pyproject\.toml|.*\.index\.json|special_tokens_map\.json)$/;

/**
 * Every file to audit under the given paths. What git ignores is left out; a file named outright never is. `onFile` is told
 * of each as soon as it is found.
 */
export function discover(
  paths: readonly string[],
  root: string,
  exclude: readonly string[],
  onFile: (file: FoundFile) => void = () => {},
): Discovery {
  const files = new Map<string, FoundFile>();
  const found = (file: FoundFile): void => {
    files.set(file.absolute, file);
    onFile(file);
  };
  const diagnostics: Diagnostic[] = [];
  const visited = new Set<string>();
  const shown = (absolute: string): string => {
    const inside = relative(root, absolute).split(sep).join("/");
    return inside.startsWith("../") ? absolute : inside;
  };
  const problem = (absolute: string, error: unknown): void => {
    diagnostics.push({ path: shown(absolute), line: null, message: reason(error), level: "error" });
  };
  const visit = (absolute: string, ignores: readonly Rules[], asked: string): void => {
    let real: string;
    let names: string[];
    try {
      real = realpathSync(absolute);
      // A link to a folder above would go round for ever.
      if (visited.has(real)) return;
      visited.add(real);
      names = readdirSync(absolute).sort();
    } catch (error) {
      problem(absolute, error);
      return;
    }
    const rules = names.includes(".gitignore") ? [...ignores, gitignore(absolute)] : ignores;
    for (const name of names) {
      const at = join(absolute, name);
      try {
        const stat = statSync(at);
        if (stat.isDirectory()) {
          if (!NEVER.has(name) && !isIgnored(rules, at, true) && !excluded(shown(at), exclude))
            visit(at, rules, asked);
        } else if (
          stat.isFile() &&
          AUDITED.test(name) &&
          !DATA_FILES.test(name) &&
          !isIgnored(rules, at, false) &&
          !excluded(shown(at), exclude)
        ) {
          const inside = relative(asked, at).split(sep).join("/");
          found({ absolute: at, path: shown(at), inside, bytes: stat.size, named: false });
        }
      } catch (error) {
        // A link to nowhere is only worth a word when it claims to be code.
        if (AUDITED.test(name)) problem(at, error);
      }
    }
  };
  for (const path of paths) {
    const absolute = resolve(path);
    try {
      const stat = statSync(absolute);
      if (stat.isDirectory()) visit(absolute, outerIgnores(absolute), absolute);
      else {
        const at = shown(absolute);
        found({ absolute, path: at, inside: at, bytes: stat.size, named: true });
      }
    } catch (error) {
      problem(absolute, error);
    }
  }
  return { files: [...files.values()], diagnostics };
}

interface Rules {
  readonly folder: string;
  readonly rules: Ignore;
}

function gitignore(folder: string): Rules {
  try {
    return { folder, rules: ignore().add(readFileSync(join(folder, ".gitignore"), "utf8")) };
  } catch {
    return { folder, rules: ignore() };
  }
}

/** The .gitignore files between the repository's root and a folder inside it. */
function outerIgnores(folder: string): Rules[] {
  const found: Rules[] = [];
  for (let at = folder; ; at = dirname(at)) {
    if (at !== folder) found.unshift(gitignore(at));
    let names: string[] = [];
    try {
      names = readdirSync(at);
    } catch {
      return found;
    }
    if (names.includes(".git")) return found;
    // Outside of any repository nothing is ignored.
    if (dirname(at) === at) return [];
  }
}

function isIgnored(rules: readonly Rules[], absolute: string, folder: boolean): boolean {
  return rules.some((one) =>
    one.rules.ignores(relative(one.folder, absolute).split(sep).join("/") + (folder ? "/" : "")),
  );
}

const excluded = (path: string, globs: readonly string[]): boolean =>
  globs.some((glob) => matchesGlob(glob, path));

export function reason(error: unknown): string {
  const code = error instanceof Error && "code" in error ? error.code : null;
  if (code === "ENOENT") return "no such file or folder";
  if (code === "EACCES" || code === "EPERM") return "permission denied";
  if (code === "ELOOP") return "a symbolic link that leads back to itself";
  return error instanceof Error ? error.message.split("\n")[0]! : String(error);
}
