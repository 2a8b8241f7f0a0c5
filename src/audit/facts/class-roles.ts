import { isModuleRole, roleOfBase } from "./classes.ts";
import type { Role } from "./classes.ts";
import type { Names } from "./names.ts";
import type { FileSummary } from "./summary.ts";

/** What the classes of a tree are, by what they derive from in whatever file. */
export function rolesOf(names: Names): ReadonlyMap<string, Role> {
  const roles = new Map<string, Role>();
  for (const name of names.classes.keys()) roleOf(name, names, roles, new Set());
  mixedIn(names, roles);
  return roles;
}

/** By class of networks: its attributes that are modules, with a comma between them. */
export function partsOfNetworks(
  summaries: readonly FileSummary[],
  names: Names,
  roles: ReadonlyMap<string, Role>,
): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  for (const { classes } of summaries)
    for (const { name } of classes) {
      if (!isModuleRole(roles.get(name)!)) continue;
      const parts = new Set<string>();
      addParts(name, names, parts, 0);
      if (parts.size > 0) found.set(name, [...parts].join(","));
    }
  return found;
}

/** A class's own parts, and those of the classes of the tree that it derives from. */
function addParts(name: string, names: Names, parts: Set<string>, depth: number): void {
  const cls = names.classes.get(name);
  if (!cls || depth > DEEPEST_CLASS) return;
  if (cls.parts !== undefined) for (const part of cls.parts.split(",")) parts.add(part);
  for (const base of cls.bases) addParts(names.base(base), names, parts, depth + 1);
}

const DEEPEST_CLASS = 8;

function roleOf(name: string, names: Names, roles: Map<string, Role>, seen: Set<string>): Role {
  const known = roles.get(name);
  if (known) return known;
  const cls = names.classes.get(name);
  if (!cls || seen.has(name)) return roleOfBase(name) ?? "other";
  seen.add(name);
  let role: Role = "other";
  for (const base of cls.bases) {
    const full = names.base(base);
    const one = names.classes.has(full) ? roleOf(full, names, roles, seen) : (roleOfBase(base) ?? "other");
    if (one !== "other") {
      role = one;
      break;
    }
  }
  // `class TextDataset(object)`: a loader asks for no more.
  if (
    role === "other" &&
    name.endsWith("Dataset") &&
    ["__getitem__", "__len__"].every((one) => cls.methods.includes(one))
  )
    role = "dataset";
  roles.set(name, role);
  return role;
}

/** `class Net(Summaries, nn.Module)`, and `Summaries` has the forward: what is mixed into a network so is a part of it. */
function mixedIn(names: Names, roles: Map<string, Role>): void {
  for (const [name, { bases }] of names.classes) {
    const role = bases.length > 1 ? roles.get(name)! : "other";
    if (!isModuleRole(role)) continue;
    for (const base of bases) {
      const full = names.base(base);
      if (roles.get(full) === "other" && names.classes.get(full)!.methods.includes("forward"))
        roles.set(full, role);
    }
  }
}
