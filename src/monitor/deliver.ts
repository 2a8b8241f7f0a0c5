import { spawn } from "node:child_process";
import type { Alert } from "./alerts.ts";

export interface Destinations {
  readonly command?: string | undefined;
  readonly webhook?: string | undefined;
}

/** A slow or dead destination may cost the alert, never the training: it is given this long. */
const PATIENCE_MS = 5000;

/** Sends one alert; resolves with what went wrong, or null. Never rejects. */
export async function deliver(alert: Alert, to: Destinations): Promise<string | null> {
  const results = await Promise.all([
    to.command ? runCommand(to.command, alert) : null,
    to.webhook ? post(to.webhook, alert) : null,
  ]);
  return results.find((result) => result !== null) ?? null;
}

function runCommand(command: string, alert: Alert): Promise<string | null> {
  return new Promise((resolve) => {
    const child = spawn(command, {
      shell: true,
      stdio: ["pipe", "ignore", "ignore"],
      timeout: PATIENCE_MS,
      env: { ...process.env, PLIMSOLL_ALERT: alert.message, PLIMSOLL_ALERT_RANK: String(alert.rank) },
    });
    child.on("error", (error) => resolve(`alert command: ${error.message}`));
    child.on("close", (code) =>
      resolve(code === 0 ? null : `alert command ended with ${code ?? "a timeout"}`),
    );
    child.stdin.on("error", () => {});
    child.stdin.end(`${JSON.stringify(alert)}\n`);
  });
}

async function post(url: string, alert: Alert): Promise<string | null> {
  try {
    const response = await fetch(url, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(alert),
      signal: AbortSignal.timeout(PATIENCE_MS),
    });
    return response.ok ? null : `alert webhook answered ${response.status}`;
  } catch (error) {
    return `alert webhook: ${(error as Error).message}`;
  }
}
