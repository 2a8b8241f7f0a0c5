import { chromium, type Browser } from "playwright-core";
import { findBrowser, HOW_TO_GET_A_BROWSER } from "../../scripts/browser.mjs";

export async function launchBrowser(): Promise<Browser> {
  const executablePath = findBrowser();
  if (!executablePath) throw new Error(HOW_TO_GET_A_BROWSER);
  return chromium.launch({
    executablePath,
    args: [
      "--headless",
      "--no-sandbox",
      "--disable-gpu",
      "--disable-quic",
      "--no-first-run",
      "--disable-background-networking",
      "--disable-component-update",
      "--disable-sync",
    ],
  });
}
