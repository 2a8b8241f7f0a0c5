import { formatBytes, type Bytes } from "../base/units.ts";
import type { Delta, TapeDiff, Unmatched } from "../tape/diff.ts";
import { paint, type Paint } from "./paint.ts";

/** Two runs' peaks side by side: `before` is the run to compare with, `after` the one inspected. */
export function diffText(diff: TapeDiff, before: string, color: boolean, top: number): string {
  const ink = paint(color);
  const { peak } = diff;
  const lines = [
    `${ink("bold", "Against")} ${before}: peak ${formatBytes(peak.before)} → ${formatBytes(peak.after)} (${change(peak.before, peak.after, ink)})`,
    ...table("by kind at the peak", diff.byKind, top, ink),
    ...table("highest in each phase", diff.byPhase, top, ink),
    ...unmatched("only there", diff.onlyBefore, top),
    ...unmatched("only here", diff.onlyAfter, top),
  ];
  return `${lines.join("\n")}\n`;
}

function table(title: string, deltas: readonly Delta[], top: number, ink: Paint): string[] {
  const changed = deltas.filter((delta) => delta.before !== delta.after);
  if (changed.length === 0) return [`  ${title}: no change`];
  return [
    `  ${title}`,
    ...changed.slice(0, top).map(({ label, before, after }) => {
      const from = formatBytes(before).padStart(9);
      const to = formatBytes(after).padStart(9);
      return `    ${label.padEnd(16)} ${from} → ${to}  ${change(before, after, ink)}`;
    }),
    ...(changed.length > top ? [`    … and ${changed.length - top} more`] : []),
  ];
}

function unmatched(title: string, storages: readonly Unmatched[], top: number): string[] {
  if (storages.length === 0) return [];
  return [
    `  ${title}, at the peak`,
    ...storages.slice(0, top).map(({ bytes, count, kind, module }) => {
      const total = formatBytes(bytes * count).padStart(9);
      return `    ${total}  ${count} × ${formatBytes(bytes)} ${kind}${module === "" ? "" : `  ${module}`}`;
    }),
    ...(storages.length > top ? [`    … and ${storages.length - top} more`] : []),
  ];
}

function change(before: Bytes, after: Bytes, ink: Paint): string {
  const difference = after - before;
  if (difference === 0) return "no change";
  const text = `${difference > 0 ? "+" : ""}${formatBytes(difference)}`;
  return ink(difference > 0 ? "red" : "green", text);
}
