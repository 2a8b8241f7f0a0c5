import { UserError } from "../base/errors.ts";
import { type Located, type Table, Unread, isList, isTable, lookup } from "./located.ts";
import { joinPath, folderOf } from "./paths.ts";
import type { Beside, RecipeFile } from "./reading.ts";
import { readYaml } from "./yaml.ts";

/** Configs include each other by name: a cycle would not end. */
const MAX_FILES = 100;

/** A Hydra config with the files its defaults lists name, later ones over earlier ones, references resolved. */
export function composeHydra(file: RecipeFile, beside: Beside): Located {
  const root = folderOf(file.name);
  let files = 0;

  /** One config file and its defaults, placed where its group says. */
  const load = (config: RecipeFile, group: string, primary: boolean): Table => {
    if (++files > MAX_FILES)
      throw new UserError(`${config.name}: its defaults lists include each other without end`);
    const { value, place } = readYaml(config);
    const own = new Map(isTable(value) ? value : []);
    const list = own.get("defaults");
    own.delete("defaults");
    let result: Table = new Map();
    let placedSelf = false;
    for (const item of list && isList(list.value) ? list.value : []) {
      if (item.value === "_self_") {
        result = merge(result, own);
        placedSelf = true;
        continue;
      }
      for (const named of entries(item)) {
        const included = include(named, group, config);
        if (included) result = merge(result, included);
      }
    }
    // Hydra 1.1 and later: a config without _self_ goes over its own defaults.
    if (!placedSelf) result = merge(result, own);
    const global = /^#\s*@package\s+_global_/m.test(config.text);
    if (primary || global || group === "") return result;
    return group
      .split("/")
      .reduceRight<Table>((inner, part) => new Map([[part, { value: inner, place }]]), result);
  };

  const include = (named: Named, group: string, from: RecipeFile): Table | null => {
    if (/^(?:override\s+)?hydra\//.test(named.group)) return null;
    const [path = "", target] = named.group.replace(/^(?:override|optional)\s+/, "").split("@");
    const absolute = path.startsWith("/") ? path.slice(1) : [group, path].filter(Boolean).join("/");
    const at = absolute === "" ? named.option : `${absolute}/${named.option}`;
    const name = joinPath(root, /\.ya?ml$/.test(at) ? at : `${at}.yaml`);
    const text = beside(name) ?? beside(name.replace(/\.yaml$/, ".yml"));
    if (text === null) {
      if (from.name === file.name && !named.group.startsWith("optional"))
        return new Map([
          [path || named.option, { value: new Unread(`${name} is not there`), place: named.at.place }],
        ]);
      return null;
    }
    const inside = load({ name, text }, absolute, false);
    if (target === undefined || absolute === "") return inside;
    const content = lookup(inside, absolute.replaceAll("/", "."));
    if (!content || !isTable(content.value)) return inside;
    if (target === "_global_" || target === "_here_") return content.value;
    return target
      .split(".")
      .reduceRight<Table>(
        (inner, part) => new Map([[part, { value: inner, place: content.place }]]),
        content.value,
      );
  };

  const table = load(file, "", true);
  const whole: Located = { value: table, place: { file: file.name, line: 1 } };
  return resolve(whole, table, 0);
}

interface Named {
  /** "model", "override model", "" for a file of the same folder. */
  readonly group: string;
  readonly option: string;
  readonly at: Located;
}

function entries(item: Located): Named[] {
  if (typeof item.value === "string") return [{ group: "", option: item.value, at: item }];
  if (!isTable(item.value)) return [];
  return [...item.value].flatMap(([group, at]): Named[] => {
    if (typeof at.value === "string") return [{ group, option: at.value, at }];
    if (!isList(at.value)) return [];
    return at.value.flatMap((one) =>
      typeof one.value === "string" ? [{ group, option: one.value, at: one }] : [],
    );
  });
}

/** Tables are merged key by key; anything else is replaced. */
function merge(below: Table, above: Table): Table {
  const result = new Map(below);
  for (const [key, over] of above) {
    const under = result.get(key);
    const both = under && isTable(under.value) && isTable(over.value);
    result.set(key, both ? { value: merge(under.value, over.value), place: over.place } : over);
  }
  return result;
}

/** A chain of references longer than this goes in a circle. */
const MAX_REFERENCES = 20;

/** OmegaConf's ${a.b}, ${.sibling}, ${oc.env:NAME,default} and ${oc.select:key,default}. */
function resolve(at: Located, root: Table, depth: number, parent: Table = root): Located {
  const { value } = at;
  if (isTable(value)) {
    return { ...at, value: new Map([...value].map(([key, one]) => [key, resolve(one, root, depth, value)])) };
  }
  if (isList(value)) return { ...at, value: value.map((one) => resolve(one, root, depth, parent)) };
  if (typeof value !== "string" || !value.includes("${")) return at;
  if (depth > MAX_REFERENCES) return { ...at, value: new Unread(`${value} refers to itself`) };
  const alone = /^\$\{([^${}]*)\}$/.exec(value);
  if (alone) return reference(alone[1]!, at, root, parent, depth);
  let unread: Unread | null = null;
  const text = value.replace(/\$\{([^${}]*)\}/g, (_, inner: string) => {
    const one = reference(inner, at, root, parent, depth).value;
    if (one instanceof Unread) unread = one;
    return typeof one === "string" || typeof one === "number" ? String(one) : "";
  });
  if (unread) return { ...at, value: unread };
  // References may stand inside references, the innermost first.
  return resolve({ ...at, value: text }, root, depth + 1, parent);
}

function reference(inner: string, at: Located, root: Table, parent: Table, depth: number): Located {
  const resolver = /^([\w.]+):(.*)$/.exec(inner);
  if (resolver) {
    const [name, ...rest] = resolver[2]!.split(",");
    const fallback = rest.join(",").trim();
    const found = resolver[1] === "oc.select" ? lookup(root, name!.trim()) : undefined;
    if (found) return resolve(found, root, depth + 1);
    const guess = fallback === "" ? null : { value: scalar(fallback), place: at.place };
    return { ...at, value: new Unread(`\${${inner}} is known only when the run starts`, guess) };
  }
  const key = inner.trim().replaceAll(/\[([^\]]*)\]/g, ".$1");
  const found = key.startsWith(".") ? lookup(parent, key.slice(1)) : lookup(root, key);
  if (!found) return { ...at, value: new Unread(`\${${inner}} names nothing in the file`) };
  return resolve(found, root, depth + 1);
}

function scalar(text: string): string | number | boolean {
  if (/^(?:true|false)$/i.test(text)) return text.toLowerCase() === "true";
  return text !== "" && Number.isFinite(Number(text)) ? Number(text) : text.replaceAll(/^["']|["']$/g, "");
}
