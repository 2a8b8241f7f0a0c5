import { lstatSync, readFileSync, readdirSync, realpathSync, statSync } from "node:fs";
import { dirname, join, relative, resolve, sep } from "node:path";
import ignore from "ignore";
import type { Ignore } from "ignore";
import { LeftOut } from "./engine.ts";
import type { Diagnostic } from "./report.ts";
import { OLD_TORCH, OLD_TRANSFORMERS, TORCH_1 } from "./facts/versions.ts";
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
  /** Some of it is, or is part of, a package that is installed: what that hands on is for others. */
  readonly installed: boolean;
  /** Which libraries it asks for in versions that do not know what fixes would add: marks of these. */
  readonly old: readonly string[];
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
  /** By where they really are: what a link leads to is one file, whatever it is called here and there. */
  const files = new Map<string, FoundFile>();
  const found = (real: string, file: FoundFile): void => {
    files.set(real, file);
    onFile(file);
  };
  /** Looked at when all else is found, so that what has a name of its own keeps it. */
  const links: (() => void)[] = [];
  const diagnostics: Diagnostic[] = [];
  let installed = false;
  const old = new Set<string>();
  const visited = new Set<string>();
  const shown = (absolute: string): string => {
    const inside = relative(root, absolute).split(sep).join("/");
    return inside.startsWith("../") ? absolute : inside;
  };
  const problem = (absolute: string, error: unknown): void => {
    // What Node cannot tell in its own characters it does not find.
    const message = absolute.includes("\uFFFD") ? "its name is not valid UTF-8" : reason(error);
    diagnostics.push({ path: shown(absolute), line: null, message, level: "error" });
  };
  /** `path`: as reports show it. `inside`: from the folder that was asked for. */
  const visit = (absolute: string, path: string, inside: string, ignores: readonly Rules[]): void => {
    let real: string;
    let names: string[];
    const linked = new Set<string>();
    try {
      real = realpathSync.native(absolute);
      // A link to a folder above would go round for ever.
      if (visited.has(real)) return;
      visited.add(real);
      const entries = readdirSync(absolute, { withFileTypes: true });
      names = entries.map(({ name }) => name).sort();
      for (const entry of entries) if (entry.isSymbolicLink()) linked.add(entry.name);
    } catch (error) {
      problem(absolute, error);
      return;
    }
    installed ||= isInstalled(absolute, names);
    for (const name of names)
      if (REQUIREMENTS.test(name))
        for (const mark of pinnedOld(join(absolute, name)))
          // Of one project among several it is known what may not be written anywhere, not what goes for all of them.
          if (inside === "" || mark !== OLD_TORCH) old.add(mark);
    const rules = names.includes(".gitignore") ? [...ignores, gitignore(absolute)] : ignores;
    const folder = path === "" ? "" : path === absolute ? join(path, sep) : `${path}/`;
    const look = (name: string): void => {
      const at = join(absolute, name);
      const shownAt = folder + name;
      const insideAt = inside + name;
      try {
        const stat = statSync(at);
        if (stat.isDirectory()) {
          if (!NEVER.has(name) && !isIgnored(rules, at, true) && !excluded(shownAt, exclude))
            visit(at, shownAt, `${insideAt}/`, rules);
        } else if (
          stat.isFile() &&
          AUDITED.test(name) &&
          !DATA_FILES.test(name) &&
          !isIgnored(rules, at, false) &&
          !excluded(shownAt, exclude)
        ) {
          const realAt = linked.has(name) ? realpathSync.native(at) : join(real, name);
          if (!files.has(realAt))
            found(realAt, { absolute: at, path: shownAt, inside: insideAt, bytes: stat.size, named: false });
        }
      } catch (error) {
        // A link to nowhere is only worth a word when it claims to be code.
        if (AUDITED.test(name)) problem(at, error);
      }
    };
    for (const name of names)
      if (linked.has(name)) links.push(() => look(name));
      else look(name);
  };
  for (const path of paths) {
    const absolute = resolve(path);
    try {
      const stat = statSync(absolute);
      if (stat.isDirectory()) {
        const above = foldersAbove(absolute);
        installed ||= above.some(({ folder, names }) => isInstalled(folder, names));
        visit(absolute, shown(absolute), "", above.map(({ folder }) => gitignore(folder)).reverse());
      } else {
        const real = realPath(absolute);
        // Whoever writes into it may never come; one without a name (`<(git show …)`) has its writer.
        if (stat.isFIFO() && real !== null)
          throw new Error("a pipe, not a file (PATH - reads standard input)");
        const link = lstatSync(absolute).isSymbolicLink();
        const name = (): void => {
          const known = link && real !== null ? files.get(real) : undefined;
          const at = known?.path ?? shown(absolute);
          found(real ?? absolute, {
            absolute: known?.absolute ?? absolute,
            path: at,
            inside: at,
            bytes: stat.size,
            named: true,
          });
        };
        if (link) links.push(name);
        else name();
      }
    } catch (error) {
      problem(absolute, error);
    }
  }
  // Those of a folder that a link leads to come after the others.
  for (let link = links.shift(); link; link = links.shift()) link();
  return { files: [...files.values()], diagnostics, installed, old: [...old] };
}

/** Null for what has no name in any folder. */
function realPath(path: string): string | null {
  try {
    return realpathSync.native(path);
  } catch {
    return null;
  }
}

function isInstalled(folder: string, names: readonly string[]): boolean {
  if (names.includes("setup.py") || names.includes("setup.cfg")) return true;
  if (!names.includes("pyproject.toml")) return false;
  try {
    return /^\[(?:build-system|project|tool\.poetry)\]/m.test(
      readFileSync(join(folder, "pyproject.toml"), "utf8"),
    );
  } catch {
    return false;
  }
}

const REQUIREMENTS =
  /^(?:requirements?[\w.-]*\.txt|environment[\w.-]*\.ya?ml|(?:setup|pyproject)\.(?:py|cfg|toml))$/;
/** `torch==1.7.1`, `- pytorch=1.4`, `transformers[torch]>=4.20,<4.30`: no later one will do. */
const PINS: readonly (readonly [mark: string, pins: RegExp])[] = [
  [OLD_TORCH, /^[\s"'-]*(?:py)?torch\s*(?:==?|~=|<=?)\s*(?:0\.\d|1\.\d(?!\d)|1\.10(?!\d))/m],
  [
    TORCH_1,
    /(?:^[\s"'-]*|["'])(?:py)?torch\s*(?:>=?\s*[\d.]+\s*,\s*)?(?:(?:==?|~=|<=?)\s*[01]\.\d|<\s*2(?:\.0)*(?![\d.]))/m,
  ],
  [
    OLD_TRANSFORMERS,
    // `~=4.27` takes any later 4.
    /(?:^[\s"'-]*|["'])transformers\s*(?:\[[\w, -]*\])?\s*(?:>=?\s*[\d.]+\s*,\s*)?(?:(?:==?|<=?|~=(?=\s*\d+\.\d+\.\d))\s*(?:[0-3]\.\d|4\.(?:\d|[12]\d|3[0-4])(?!\d))|<\s*4\.35(?:\.0)?(?![\d.]))/m,
  ],
];

/** The marks of what a file of requirements pins to an old version. */
function pinnedOld(path: string): readonly string[] {
  try {
    const text = readFileSync(path, "utf8");
    return PINS.flatMap(([mark, pins]) => (pins.test(text) ? [mark] : []));
  } catch {
    return [];
  }
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

/** The folders between a folder and its repository's root, the nearest first; outside of any repository none. */
function foldersAbove(inside: string): { readonly folder: string; readonly names: readonly string[] }[] {
  const found: { readonly folder: string; readonly names: readonly string[] }[] = [];
  for (let folder = inside; ; folder = dirname(folder)) {
    let names: readonly string[];
    try {
      names = readdirSync(folder);
    } catch {
      return found;
    }
    if (folder !== inside) found.push({ folder, names });
    if (names.includes(".git")) return found;
    if (dirname(folder) === folder) return [];
  }
}

function isIgnored(rules: readonly Rules[], absolute: string, folder: boolean): boolean {
  return rules.some((one) =>
    one.rules.ignores(relative(one.folder, absolute).split(sep).join("/") + (folder ? "/" : "")),
  );
}

const excluded = (path: string, globs: readonly string[]): boolean =>
  globs.some((glob) => matchesGlob(glob, path));

/** What we could not do with one file must not cost the others their findings; it is said, not hidden. */
export function ownFault(path: string, error: unknown): Diagnostic {
  const message =
    error instanceof LeftOut ? error.message : `internal error, please report it: ${reason(error)}`;
  return { path, line: null, message, level: "error" };
}

export function reason(error: unknown): string {
  const code = error instanceof Error && "code" in error ? error.code : null;
  if (code === "ENOENT") return "no such file or folder";
  if (code === "EACCES" || code === "EPERM") return "permission denied";
  if (code === "ENOSPC" || code === "EDQUOT") return "no space left on the device";
  if (code === "EROFS") return "a read-only file system";
  if (code === "ELOOP") return "a symbolic link that leads back to itself";
  return error instanceof Error ? error.message.split("\n")[0]! : String(error);
}
