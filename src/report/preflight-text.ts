import type { Status } from "../preflight/check.ts";
import type { PreflightResult } from "../preflight/preflight.ts";
import { paint, type Style } from "./paint.ts";

const INK: Readonly<Record<Status, Style>> = { pass: "green", warn: "yellow", fail: "red" };

/** The table: what must be mended stands out, and how stands beneath it. */
export function preflightText({ checks, status }: PreflightResult, color: boolean): string {
  const ink = paint(color);
  const width = Math.max(...checks.map(({ name }) => name.length));
  const lines = checks.flatMap((check) => {
    const indent = " ".repeat(6 + width + 2);
    return [
      `${ink(INK[check.status], check.status)}  ${ink("bold", check.name.padEnd(width))}  ${check.says}`,
      ...(check.mend === null ? [] : [`${indent}${ink("cyan", `mend: ${check.mend}`)}`]),
      ...(check.source === null ? [] : [`${indent}${ink("dim", `see: ${check.source}`)}`]),
    ];
  });
  const count = (one: Status): string => `${checks.filter((check) => check.status === one).length} ${one}`;
  const verdict = { pass: "ready", warn: "ready, with warnings", fail: "not ready" }[status];
  return `${lines.join("\n")}\n\n${ink(INK[status], verdict)}: ${count("pass")}, ${count("warn")}, ${count("fail")}\n`;
}
