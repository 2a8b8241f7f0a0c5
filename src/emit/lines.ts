/** A value in a config or a keyword argument. */
export type Value = string | number | boolean | null | readonly string[] | { readonly [key: string]: Value };

/** One setting and why it is there. */
export interface Line {
  readonly key: string;
  readonly value: Value;
  readonly why: string;
}

const isTable = (value: Value): value is { readonly [key: string]: Value } =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Words that YAML 1.1 would take for something else, and anything with a mark of its own. */
const plainYaml = (text: string): boolean =>
  /^[A-Za-z_./][\w./+-]*$/.test(text) && !/^(?:true|false|yes|no|on|off|null|y|n|~)$/i.test(text);

function yamlScalar(value: Value): string {
  if (typeof value === "string") return plainYaml(value) ? value : JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map((item) => yamlScalar(item as string)).join(", ")}]`;
  return String(value);
}

function yamlTable(value: { readonly [key: string]: Value }, indent: string): string[] {
  return Object.entries(value).flatMap(([key, inner]) =>
    isTable(inner)
      ? [`${indent}${key}:`, ...yamlTable(inner, `${indent}  `)]
      : [`${indent}${key}: ${yamlScalar(inner)}`],
  );
}

/** Settings as YAML, each under the reason for it. */
export function yaml(lines: readonly Line[], indent = ""): string {
  return lines
    .flatMap(({ key, value, why }) => [
      `${indent}# ${why}`,
      ...(isTable(value)
        ? [`${indent}${key}:`, ...yamlTable(value, `${indent}  `)]
        : [`${indent}${key}: ${yamlScalar(value)}`]),
    ])
    .join("\n")
    .concat("\n");
}

/** A Python literal. Text that begins with a dot-free "torch." name is code. */
export function python(value: Value): string {
  if (value === null) return "None";
  if (typeof value === "boolean") return value ? "True" : "False";
  if (typeof value === "number") return String(value);
  if (typeof value === "string") return /^torch\.\w+$/.test(value) ? value : JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map((item) => python(item as string)).join(", ")}]`;
  const entries = Object.entries(value as { readonly [key: string]: Value });
  return `{${entries.map(([key, inner]) => `${JSON.stringify(key)}: ${python(inner)}`).join(", ")}}`;
}

/** Settings as keyword arguments, each under the reason for it. */
export function keywords(lines: readonly Line[], indent = "    "): string {
  return lines
    .map(({ key, value, why }) => `${indent}# ${why}\n${indent}${key}=${python(value)},`)
    .join("\n");
}
