/** From the bottom up: what stays lies below what comes and goes. */
const ORDER = [
  "weight",
  "adapter",
  "optimizer state",
  "gradient",
  "input",
  "workspace",
  "unknown",
  "activation",
  "temporary",
];

/** Codes of the kinds that occur, in the order they are stacked. */
export function stackingOrder(
  kinds: readonly string[],
  curves: readonly (Float64Array | null)[],
): readonly number[] {
  return kinds
    .map((_, code) => code)
    .filter((code) => curves[code])
    .sort((a, b) => ORDER.indexOf(kinds[a]!) - ORDER.indexOf(kinds[b]!));
}

/** A class that carries the kind's colour (style.ts). */
export const kindClass = (kind: string): string => `k-${kind.replaceAll(" ", "-")}`;

/** Nothing is known of any storage's kind: then the one colour means "allocated". */
export const kindName = (kind: string, alone: boolean): string =>
  kind === "unknown" && alone ? "allocated" : kind;
