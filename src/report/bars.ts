const EIGHTHS = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"] as const;

/** A horizontal bar `width` cells long at 1, to an eighth of a cell; anything above nothing shows at least a sliver. */
export function bar(fraction: number, width: number): string {
  const eighths = Math.round(Math.min(Math.max(fraction, 0), 1) * width * 8);
  const shown = fraction > 0 ? Math.max(eighths, 1) : 0;
  return "█".repeat(shown >> 3) + EIGHTHS[shown & 7]!;
}
