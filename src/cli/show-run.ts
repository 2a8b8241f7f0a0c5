import { readAdvice } from "../monitor/advice.ts";
import { Alerts, DEFAULT_RULES, parseRule } from "../monitor/alerts.ts";
import { readRun } from "../monitor/run-folder.ts";
import { summarize } from "../monitor/summary.ts";
import { ROWS, Tail } from "../monitor/tail.ts";
import { runText } from "../report/run-text.ts";
import type { Io } from "./command.ts";
import type { ExitCode } from "./exit.ts";

/** A run's folder as text or JSON, and as one HTML file when asked for. */
export async function showRun(
  folder: string,
  { json, html }: { readonly json: boolean; readonly html?: string | undefined },
  io: Io,
): Promise<ExitCode> {
  const run = readRun(folder);
  const records = new Tail(folder, ROWS).read();
  const summary = summarize(records);
  const advice = readAdvice(folder);
  if (html !== undefined) {
    const { renderRunPage } = await import("../report/html/run-page.ts");
    const { writeWhole } = await import("../tape/file.ts");
    const alerts = new Alerts((run.rules ?? DEFAULT_RULES).map(parseRule)).check(summary);
    await writeWhole(html, renderRunPage({ folder, run, summary, advice, alerts, records }));
  }
  io.out(
    json
      ? `${JSON.stringify({ run, summary, advice }, null, 2)}\n`
      : runText(run, summary, folder, io.color, advice),
  );
  return summary.leaks.length > 0 || summary.ooms.length > 0 ? 1 : 0;
}
