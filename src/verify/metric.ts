import { UserError } from "../base/errors.ts";

export interface MetricPattern {
  readonly name: string;
  readonly pattern: RegExp;
}

/** "accuracy=(\d+\.\d+)": a regular expression with one group; its first word is the metric's name. */
export function parseMetric(text: string): MetricPattern {
  let pattern: RegExp;
  try {
    pattern = new RegExp(text, "g");
  } catch (error) {
    throw new UserError(`--metric ${text}: ${(error as Error).message}`);
  }
  if (new RegExp(`${text}|`).exec("")!.length < 2)
    throw new UserError(
      `--metric ${text} has no group`,
      String.raw`put the number in brackets: 'accuracy=(\d+\.\d+)'`,
    );
  return { name: /[A-Za-z_]\w*/.exec(text.replaceAll(/\\./g, " "))?.[0] ?? text, pattern };
}

/** The last match in a run's output that is a number. */
export function metricIn({ pattern }: MetricPattern, output: string): number | null {
  const values = [...output.matchAll(pattern)].map((match) =>
    match.slice(1).find((group) => group !== undefined),
  );
  return values.map(Number).findLast((value) => Number.isFinite(value)) ?? null;
}

/** The last number of what a command printed. */
export function lastNumber(output: string): number | null {
  const values = output.match(/[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?/gi);
  return values ? Number(values.at(-1)) : null;
}
