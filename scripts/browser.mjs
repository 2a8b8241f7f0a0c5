import { accessSync, constants, statSync } from "node:fs";
import { delimiter, join } from "node:path";

const NAMES = ["chromium", "chromium-browser", "google-chrome-stable", "google-chrome", "chrome"];
const FOLDERS = ["/usr/bin", "/usr/local/bin", "/snap/bin", "/opt/google/chrome"];
const MAC = [
  "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
  "/Applications/Chromium.app/Contents/MacOS/Chromium",
];

export const HOW_TO_GET_A_BROWSER =
  "no Chromium or Chrome found: the tests of HTML reports need one. " +
  "Install it (Debian: apt-get install chromium) or put its path in PLIMSOLL_CHROME";

/** The Chromium or Chrome that the browser tests drive; PLIMSOLL_CHROME decides when it is set. */
export function findBrowser() {
  const chosen = process.env["PLIMSOLL_CHROME"];
  if (chosen) return isProgram(chosen) ? chosen : undefined;
  const folders = [...(process.env["PATH"] ?? "").split(delimiter), ...FOLDERS];
  const candidates = folders.flatMap((folder) => NAMES.map((name) => join(folder, name)));
  return [...candidates, ...MAC].find(isProgram);
}

/** @param {string} path */
function isProgram(path) {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}
