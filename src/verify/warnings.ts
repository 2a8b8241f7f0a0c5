/** A warning as Python's `warnings` prints it: file, line, category, text. */
const PYTHON = /^(\S.*?):\d+: (\w*Warning): (.*)$/;
const SOUNDS_LIKE_ONE = /\b(warn(ing)?|deprecated)\b|^\[W\d{3}/i;

/** The warnings of a run, without what changes from run to run: paths, lines, numbers, times. */
export function warningsOf(stderr: string, trees: readonly string[]): Set<string> {
  const found = new Set<string>();
  let quoted = false;
  for (const line of stderr.split(/[\r\n]+/)) {
    const python = PYTHON.exec(line);
    if (python) found.add(`${python[2]}: ${steady(python[3]!, trees)}`);
    // Beneath a warning of its own, Python quotes the line that gave it.
    else if (!(quoted && line.startsWith("  ")) && SOUNDS_LIKE_ONE.test(line)) found.add(steady(line, trees));
    quoted = python !== null;
  }
  return found;
}

function steady(text: string, trees: readonly string[]): string {
  return trees
    .reduce((line, tree) => line.replaceAll(tree, "."), text)
    .replaceAll(/\b0x[0-9a-f]+\b/gi, "0x…")
    .replaceAll(/\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d\S*/g, "…")
    .replaceAll(/\d+(\.\d+)?(e[+-]?\d+)?/gi, "N")
    .trim()
    .slice(0, 300);
}

/** Seen in every run of one side and in none of the other's: what comes and goes is no news. */
export function compareWarnings(
  before: readonly ReadonlySet<string>[],
  after: readonly ReadonlySet<string>[],
): { new: string[]; gone: string[] } {
  return { new: only(after, before), gone: only(before, after) };
}

function only(inAll: readonly ReadonlySet<string>[], inNone: readonly ReadonlySet<string>[]): string[] {
  const [first, ...others] = inAll;
  return [...(first ?? [])]
    .filter((text) => others.every((run) => run.has(text)) && !inNone.some((run) => run.has(text)))
    .toSorted();
}
