import { formatBytes } from "../base/units.ts";
import type {
  Fragmentation,
  InspectResult,
  Leak,
  OomReport,
  Share,
  Site,
  SiteShare,
} from "../inspect/result.ts";
import { bar } from "./bars.ts";
import { paint, type Paint } from "./paint.ts";

export interface TextOptions {
  readonly width: number;
  readonly color: boolean;
  /** Lines a list may have. */
  readonly top: number;
}

const BAR_CELLS = 24;
const LABEL_CELLS = 16;

/** The inspection as a person reads it: the verdicts first in what they matter, each number with its unit. */
export function inspectText(result: InspectResult, options: TextOptions): string {
  const ink = paint(options.color);
  return [
    headline(result),
    ...result.ooms.map((oom) => outOfMemory(oom, options, ink)),
    peak(result, options, ink),
    growth(result, options, ink),
    fragmentation(result, ink),
  ]
    .filter((section) => section !== "")
    .join("\n\n")
    .concat("\n");
}

function headline(result: InspectResult): string {
  const lines = [
    [
      `${result.file}: ${count(result.events, "event")}`,
      result.steps > 0 ? count(result.steps, "step") : "no training steps seen",
      `device ${result.device}`,
      ...(result.allocConf === "" ? [] : [result.allocConf]),
    ].join(", "),
  ];
  if (result.truncated) {
    lines.push(
      "the recording's beginning is missing (ring buffer full): what was allocated before may have no stack",
    );
  }
  if (!result.frames && result.source === "plan") lines.push("predicted by plimsoll plan");
  else if (!result.frames) {
    lines.push('no Python stacks were recorded: record with stacks="python" to see lines, modules and kinds');
  }
  return lines.join("\n");
}

function peak(
  { peak: at, phasePeaks, frames, ooms }: InspectResult,
  options: TextOptions,
  ink: Paint,
): string {
  const when = [at.step > 0 ? `step ${at.step}` : "", at.phase === "unknown" ? "" : at.phase]
    .filter(Boolean)
    .join(", ");
  const title = `${ink("bold", "Peak")}: ${formatBytes(at.allocated)} allocated${at.reserved > 0 ? `, ${formatBytes(at.reserved)} reserved` : ""}`;
  const lines = [when === "" ? title : `${title}, in ${when}`];
  if (frames) {
    if (ooms.some((oom) => oom.allocated === at.allocated)) {
      lines.push("  the moment of the failed allocation: by kind and by line see above");
    } else {
      lines.push("  by kind", ...bars(at.byKind, at.allocated, options, ink));
      lines.push("  by line", ...sites(at.bySite, at.allocated, options, ink));
    }
    lines.push("  by module", ...shareLines(named(at.byModule), at.allocated, options, ink));
  } else if (at.byKind.some((share) => share.label !== "unknown")) {
    lines.push("  by kind", ...bars(at.byKind, at.allocated, options, ink));
  }
  lines.push("  by size of one storage", ...sizes(at.bySize, at.allocated, options, ink));
  const phases = phasePeaks.filter((one) => one.phase !== "unknown");
  if (phases.length > 1) {
    lines.push(
      `  highest in each phase: ${phases.map((one) => `${one.phase} ${formatBytes(one.bytes)}`).join(", ")}`,
    );
  }
  return lines.join("\n");
}

function named(shares: readonly Share[]): Share[] {
  return shares.map((share) =>
    share.label === "" ? { ...share, label: "(no model code on the stack)" } : share,
  );
}

/** One line a share, a bar behind it. */
function bars(shares: readonly Share[], total: number, options: TextOptions, ink: Paint): string[] {
  return listed(shares, options, (share) => {
    const part = total > 0 ? share.bytes / total : 0;
    return `    ${share.label.padEnd(LABEL_CELLS)} ${size(share.bytes)} ${percent(part)}  ${ink("cyan", bar(part, BAR_CELLS))}`;
  });
}

function shareLines(shares: readonly Share[], total: number, options: TextOptions, ink: Paint): string[] {
  return listed(shares, options, (share) => {
    const part = total > 0 ? share.bytes / total : 0;
    const of = `${share.count} × `.padStart(9);
    return fit(
      `    ${size(share.bytes)} ${percent(part)} ${ink("cyan", bar(part, 8).padEnd(8))} ${of}${share.label}`,
      options,
    );
  });
}

function sizes(shares: readonly Share[], total: number, options: TextOptions, ink: Paint): string[] {
  return shareLines(shares, total, { ...options, top: Math.min(options.top, 5) }, ink);
}

function sites(all: readonly SiteShare[], total: number, options: TextOptions, ink: Paint): string[] {
  return listed(all, options, (site) => {
    const part = total > 0 ? site.bytes / total : 0;
    const what = `${site.count} × ${site.kind}`.padEnd(22);
    return fit(
      `    ${size(site.bytes)} ${percent(part)} ${ink("cyan", bar(part, 8).padEnd(8))} ${what} ${place(site)}`,
      options,
    );
  });
}

function growth({ growth: report, frames }: InspectResult, options: TextOptions, ink: Paint): string {
  if (report.steps.length === 0) return "";
  const title = {
    leak: ink("red", "leak: memory grows from step to step"),
    steady: ink("green", "steady: nothing grows from step to step"),
    unknown: "cannot tell: fewer than three complete steps were recorded",
  }[report.verdict];
  const lines = [`${ink("bold", "Growth")}: ${title}`];
  for (const leak of report.leaks) lines.push(...leakLines(leak, options, ink));
  const shown = report.steps.slice(-options.top);
  lines.push(`  step ${"peak".padStart(9)} ${"at end".padStart(9)} ${"growth".padStart(9)}`);
  if (shown.length < report.steps.length)
    lines.push(`     … ${count(report.steps.length - shown.length, "earlier step")}`);
  for (const step of shown) {
    lines.push(
      `  ${String(step.step).padStart(4)} ${size(step.peak)} ${size(step.atEnd)} ${size(step.growth)}`,
    );
  }
  if (report.warmUp.length > 0)
    lines.push(`  kept since step 1, as expected: ${inWords(report.warmUp, frames)}`);
  if (report.lastStep.length > 0)
    lines.push(`  still in scope from the last step: ${inWords(report.lastStep, frames)}`);
  return lines.join("\n");
}

function leakLines(leak: Leak, options: TextOptions, ink: Paint): string[] {
  const where = leak.user
    ? `${shortFile(leak.user.file)}:${leak.user.line} in ${leak.user.function}`
    : "unknown: no Python frames were recorded for it";
  const lines = [
    `  ${ink("red", `${formatBytes(leak.perStep)} more a step`)}, ${formatBytes(leak.held)} held by ${count(leak.count, "storage")}` +
      ` after step ${leak.heldByStep.length}`,
    `    your line   ${ink("bold", where)}`,
  ];
  for (const site of leak.sites.slice(0, options.top)) {
    const at = site.allocation
      ? `${shortFile(site.allocation.file)}:${site.allocation.line} in ${site.allocation.function}`
      : "no Python frames";
    lines.push(
      `    allocated   ${at}: ${site.kind}, ${site.count} × ${formatBytes(site.largest)}${site.module === "" ? "" : `, ${site.module}`}`,
    );
  }
  if (leak.sites.length > options.top)
    lines.push(`    … and ${leak.sites.length - options.top} more allocations`);
  if (leak.user) {
    lines.push(
      "    what that line made outlives its step: a list, dict, attribute or closure still holds it;",
    );
    lines.push("    drop it, keep a number (.item()), or keep a detached copy on the CPU");
  }
  return lines;
}

function outOfMemory(oom: OomReport, options: TextOptions, ink: Paint): string {
  const { layout } = oom;
  const when = [oom.step > 0 ? `step ${oom.step}` : "", oom.phase === "unknown" ? "" : oom.phase]
    .filter(Boolean)
    .join(", ");
  const lines = [
    `${ink("red", "Out of memory")}: ${formatBytes(oom.asked)} asked for${when === "" ? "" : ` in ${when}`}` +
      (oom.site.allocation ? `, at ${place(oom.site)}` : ""),
    `  held: ${formatBytes(layout.active)} in live blocks of ${formatBytes(layout.reserved)} reserved; ` +
      `${formatBytes(layout.free)} free in ${count(layout.freeBlocks, "piece")}, the largest ${formatBytes(layout.largestFree)}`,
    oom.cause === "fragmented"
      ? `  cause: ${ink("yellow", "fragmented")}: enough was free, but in pieces; the largest falls ${formatBytes(oom.short)} short. ` +
        "Try: plimsoll replay FILE --sweep"
      : `  cause: ${ink("yellow", "full")}: even in one piece the free bytes fall ${formatBytes(oom.short)} short`,
  ];
  if (oom.capped && oom.deviceFree !== null) {
    lines.push(
      `  the device had ${formatBytes(oom.deviceFree)} free: a limit on this process (memory fraction) refused, not the card`,
    );
  } else if (oom.deviceFree !== null) {
    lines.push(`  the device had ${formatBytes(oom.deviceFree)} free`);
  }
  lines.push(`  would have fitted: a request of up to ${formatBytes(largestFit(oom))}`);
  lines.push("  who held it, by kind", ...bars(oom.byKind, oom.allocated, options, ink));
  lines.push("  who held it, by line", ...sites(oom.bySite, oom.allocated, options, ink));
  return lines.join("\n");
}

export function largestFit(oom: OomReport): number {
  return Math.max(oom.layout.largestFree, oom.capped ? 0 : (oom.deviceFree ?? 0));
}

function fragmentation(result: InspectResult, ink: Paint): string {
  const { fragmentation: end, fragmentationAtPeak: atPeak } = result;
  if (!end && !atPeak) return "";
  const lines = [`${ink("bold", "Fragmentation")}`];
  if (atPeak) lines.push(`  at the peak of reserved   ${layoutLine(atPeak)}`);
  if (end) lines.push(`  at the end                ${layoutLine(end)}`);
  return lines.join("\n");
}

export function layoutLine(layout: Fragmentation): string {
  if (layout.reserved === 0) return "nothing reserved";
  const free = layout.free / layout.reserved;
  return (
    `${formatBytes(layout.reserved)} reserved, ${percent(free).trim()} free: ${formatBytes(layout.free)} in ` +
    `${count(layout.freeBlocks, "block")}, largest ${formatBytes(layout.largestFree)}, ${formatBytes(layout.trapped)} beside live blocks`
  );
}

function listed<T>(items: readonly T[], options: TextOptions, line: (item: T) => string): string[] {
  const lines = items.slice(0, options.top).map(line);
  if (items.length > options.top) lines.push(`    … and ${items.length - options.top} more`);
  return lines;
}

function inWords(shares: readonly Share[], frames: boolean): string {
  return shares
    .map((one) => `${formatBytes(one.bytes)}${frames || one.label !== "unknown" ? ` ${one.label}` : ""}`)
    .join(", ");
}

export function place({ allocation, user, phase }: Pick<Site, "allocation" | "user" | "phase">): string {
  if (!allocation) return phase === "backward" ? "backward (no Python frames)" : "(no Python frames)";
  const at = `${baseName(allocation.file)}:${allocation.line} ${allocation.function}`;
  const same = user && user.file === allocation.file && user.line === allocation.line;
  return !user || same ? at : `${at} ← ${baseName(user.file)}:${user.line}`;
}

const baseName = (file: string): string => file.replace(/^.*[\\/]/, "");

export function shortFile(file: string): string {
  return file.replace(/^.*[\\/](?:site|dist)-packages[\\/]/, "");
}

/** Cut to the terminal's width; colour codes take no room. */
function fit(line: string, { width }: TextOptions): string {
  // oxlint-disable-next-line no-control-regex
  const codes = line.length - line.replaceAll(/\u001b\[\d+m/g, "").length;
  return line.length - codes <= width ? line : `${line.slice(0, width + codes - 1)}…`;
}

const size = (bytes: number): string => formatBytes(bytes).padStart(9);
const percent = (part: number): string => `${(part * 100).toFixed(1)}%`.padStart(6);

export function count(number: number, noun: string): string {
  return `${number.toLocaleString("en")} ${noun}${number === 1 ? "" : "s"}`;
}
