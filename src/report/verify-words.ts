import { formatBytes } from "../base/units.ts";
import { MARGIN } from "../verify/sameness.ts";
import type { Distance, Quantity, Speed, Verification } from "../verify/result.ts";

export interface Row {
  readonly what: string;
  readonly before: string;
  readonly after: string;
  readonly change: string;
  readonly verdict: string;
  /** For colour: is it what one hopes for? */
  readonly good: boolean | null;
}

/** The table of a comparison, the same in every format. */
export function tableOf(result: Verification): readonly Row[] {
  return [
    resultsRow(result),
    ...result.memory.map((quantity) => quantityRow(quantity, true)),
    speedRow(result.speed),
    warningsRow(result),
    ...result.metrics.map((quantity) => quantityRow(quantity, false)),
  ];
}

function resultsRow({ results, curves, sides }: Verification): Row {
  const last = (values: readonly (number | null)[], steps: number): string => {
    const loss = values.at(-1);
    return loss === undefined || loss === null ? `${steps} steps` : `loss ${loss.toPrecision(6)}`;
  };
  return {
    what: "results",
    before: last(curves.loss.before, sides.before.steps),
    after: last(curves.loss.after, sides.after.steps),
    change: results.losses ? `≤ ${scientific(results.losses.between)}` : "",
    verdict: results.verdict,
    good: results.verdict === "unknown" ? null : results.verdict !== "different",
  };
}

function speedRow({ stepsPerSecond, change, verdict }: Speed): Row {
  const rate = (value: number | null): string => (value === null ? "" : `${value.toPrecision(3)} steps/s`);
  return {
    what: "speed",
    before: rate(stepsPerSecond.before),
    after: rate(stepsPerSecond.after),
    change: change === null ? "" : percent(1 / (1 + change) - 1),
    verdict,
    good: verdict === "faster" ? true : verdict === "slower" ? false : null,
  };
}

function quantityRow({ name, unit, before, after, change, verdict }: Quantity, lessIsBetter: boolean): Row {
  const shown = (value: number | null): string =>
    value === null ? "" : unit === "bytes" ? formatBytes(value) : String(Number(value.toPrecision(6)));
  return {
    what: name,
    before: shown(before),
    after: shown(after),
    change: change === null || Math.abs(change) > 100 ? "" : percent(change),
    verdict,
    good: !lessIsBetter ? null : verdict === "less" ? true : verdict === "more" ? false : null,
  };
}

function warningsRow({ warnings }: Verification): Row {
  const parts = [
    ...(warnings.new.length > 0 ? [`${warnings.new.length} new`] : []),
    ...(warnings.gone.length > 0 ? [`${warnings.gone.length} gone`] : []),
  ];
  return {
    what: "warnings",
    before: "",
    after: "",
    change: "",
    verdict: parts.join(", ") || "the same",
    good: warnings.new.length > 0 ? false : warnings.gone.length > 0 ? true : null,
  };
}

/** How the verdict on results was reached. */
export function derivation({ results }: Verification): readonly string[] {
  const { dtype, roundoff, deterministic } = results;
  const lines = [`${results.verdict}: ${results.why}`];
  if (dtype !== null && roundoff !== null && deterministic !== null)
    lines.push(
      `computed in ${dtype}: one rounding is ${scientific(roundoff)}; a run of before, each weight moved by one rounding behind the first step, is the yardstick; ${MARGIN} × that is the tolerance`,
      deterministic
        ? "two runs of before are bit-identical"
        : "two runs of the same code are not bit-identical: where they are farther apart than the yardstick, they are the yardstick",
    );
  const rows = [
    ["losses", results.losses, "steps", "backward was given no scalar"],
    ["gradient norms", results.gradientNorms, "steps", "no gradients were seen"],
    [
      "final weights",
      results.weights,
      "parameters",
      "the two sides do not train parameters of the same names, or of the same shapes in the same order",
    ],
  ] as const;
  const read = rows.some(([, distance]) => distance !== null);
  for (const [name, distance, unit, otherwise] of rows)
    if (distance) lines.push(`${name}: ${distanceText(distance, unit)}`);
    else if (read) lines.push(`${name}: not compared: ${otherwise}`);
  return lines;
}

function distanceText(distance: Distance, unit: string): string {
  const { compared, identical, between, same, nudged, tolerance } = distance;
  const parts = [`${identical} of ${compared} ${unit} bit-identical`];
  if (identical < compared) parts.push(`apart by ${scientific(between)}`);
  if (nudged !== null) parts.push(`one rounding makes ${scientific(nudged)}`);
  if (same !== null && same > 0) parts.push(`same code ${scientific(same)}`);
  if (tolerance !== null) parts.push(`tolerance ${scientific(tolerance)}`);
  return parts.join(", ");
}

export function speedText(speed: Speed): string {
  const { interval, change, spread, pairs, stepsTimed, warmUp } = speed;
  if (change === null) return `${speed.verdict}: ${speed.why}`;
  const reach = interval ? `, 99 % interval ${percent(interval[0])} to ${percent(interval[1])}` : "";
  return `${speed.verdict}: ${speed.why}; time of a step ${percent(change)}${reach}; ${pairs} ${pairs === 1 ? "pair" : "pairs"} of runs, ${stepsTimed} steps each behind ${warmUp} of warm-up; runs of the same code differ by ${percent(spread ?? 0).replace("+", "")}`;
}

function percent(share: number): string {
  const value = Math.abs(share * 100);
  const digits = value < 10 ? 1 : 0;
  return `${share < 0 && value >= 0.05 ? "−" : "+"}${value.toFixed(digits)} %`;
}

function scientific(value: number): string {
  return value === 0 ? "0" : Number.isFinite(value) ? value.toExponential(1) : "NaN or infinity";
}
