import { type Check, fail, pass, warn } from "./check.ts";
import type { NoPython, PythonReading } from "./python.ts";
import { NEEDS, type Scene, TRAPS } from "./traps.ts";

/** The Python, what the recipe needs of it, and the traps it would step into. */
export function libraryChecks(
  python: PythonReading | NoPython,
  { driver, env, recipe, dtypeSaid }: Omit<Scene, "packages" | "cuda">,
): Check[] {
  if ("problem" in python) {
    return [
      warn(
        "python",
        `${python.path}: ${python.problem}; its libraries are not checked`,
        "-- /path/to/python train.py",
      ),
    ];
  }
  const { path, certain, version, packages, cuda } = python;
  const found = Object.entries(packages).map(([name, one]) => `${name} ${one}`);
  const checks = [
    pass(
      "python",
      `${path} ${version}: ${found.length > 0 ? found.join(", ") : "no training library"}${certain ? "" : " (the command names no Python: this is the PATH's)"}`,
    ),
  ];
  for (const need of recipe ? NEEDS.filter(({ when }) => when(recipe)) : []) {
    if (packages[need.package] !== undefined) continue;
    const judged = certain ? fail : warn;
    checks.push(
      judged(
        need.package,
        `${need.package} is not installed: needed for ${need.for}`,
        `${path} -m pip install ${need.package}`,
      ),
    );
  }
  const scene: Scene = { packages, cuda, driver, env, recipe, dtypeSaid };
  for (const { name, status, caught, says, mend, source } of TRAPS) {
    if (!caught(scene)) continue;
    const judged = status === "fail" && certain ? fail : warn;
    checks.push(judged(name, says, mend.replace(/^python /, `${path} `), source));
  }
  return checks;
}
