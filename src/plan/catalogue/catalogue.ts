import type { Config } from "../../nets/config.ts";
import type { Entry } from "./entry.ts";
import { LLAMA } from "./llama.ts";
import { MISTRAL } from "./mistral.ts";
import { OTHERS } from "./others.ts";
import { QWEN } from "./qwen.ts";

export interface Model {
  /** As the hub spells it. */
  readonly name: string;
  readonly config: Config;
  readonly parameters: number | null;
}

function expand(pattern: string): string[] {
  const match = /^(.*?)\{([^}]*)\}(.*)$/.exec(pattern);
  if (!match) return [pattern];
  return match[2]!.split(",").flatMap((choice) => expand(`${match[1]}${choice}${match[3]}`));
}

/** Every model whose sizes are built in, once for each of its names. */
export const MODELS: readonly Model[] = ([LLAMA, MISTRAL, QWEN, OTHERS] as const).flatMap(
  (group: readonly Entry[]) =>
    group.flatMap(({ names, config, parameters }) =>
      names.flatMap(expand).map((name) => ({ name, config, parameters })),
    ),
);

const lastPart = (name: string): string => name.slice(name.lastIndexOf("/") + 1).toLowerCase();

/** By hub name, whatever its case, or by the part behind the slash; the first of those that share it. */
export function findModel(name: string): Model | undefined {
  const wanted = name.toLowerCase();
  return (
    MODELS.find((model) => model.name.toLowerCase() === wanted) ??
    (wanted.includes("/") ? undefined : MODELS.find((model) => lastPart(model.name) === wanted))
  );
}
