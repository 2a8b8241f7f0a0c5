// Brings a fresh clone to where it can build and test, and does nothing when nothing changed.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { findBrowser, HOW_TO_GET_A_BROWSER } from "./browser.mjs";
import { must, ROOT, say, script, Stop, works } from "./process.mjs";
import { hashOf, isFresh, markFresh } from "./stamp.mjs";

/** What the bundle is made of. */
const SOURCES = ["src", "probe", "package.json", "package-lock.json", "scripts/build.mjs"];
const BUILD_STAMP = ".cache/build-stamp";
const VENV_STAMP = ".venv/.stamp";
const OLDEST_PYTHON = "3.10";

/** Node's packages and the bundle: all that the program itself needs. */
export function bootstrapNode() {
  const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
  if (major < 20 || (major === 20 && minor < 19)) {
    throw new Stop(`plimsoll needs Node 20.19 or newer; this is ${process.versions.node}`);
  }
  if (!installed()) {
    say("installing Node packages");
    // Not `npm ci`: it insists on lock entries for the native builds of every platform, and the lock file
    // has Linux's alone. The versions are the lock file's all the same, and --no-save leaves it as it is.
    must("npm", ["install", "--no-save", "--no-audit", "--no-fund", "--loglevel=error"]);
  }
  const stamp = hashOf(SOURCES);
  if (!isFresh(BUILD_STAMP, stamp) || !existsSync(join(ROOT, "dist/plimsoll.js"))) {
    must(process.execPath, ["scripts/build.mjs"]);
    markFresh(BUILD_STAMP, stamp);
  }
}

/** The tests' own Python, with the libraries whose behaviour they compare against, and a browser. */
export function bootstrapTests() {
  bootstrapNode();
  bootstrapPython();
  if (!findBrowser()) {
    if (canAptInstall()) aptInstall("chromium");
    if (!findBrowser()) say(HOW_TO_GET_A_BROWSER);
  }
}

/** npm keeps in node_modules what it installed there: compare that with what the lock file asks for. */
function installed() {
  const record = join(ROOT, "node_modules/.package-lock.json");
  if (!existsSync(record)) return false;
  const wanted = packagesOf(join(ROOT, "package-lock.json"));
  const present = packagesOf(record);
  return Object.entries(wanted).every(
    ([path, { version, optional }]) =>
      path === "" || optional || isDeepStrictEqual(present[path]?.version, version),
  );
}

/** @param {string} file @returns {Record<string, { version: string, optional?: boolean }>} */
function packagesOf(file) {
  return JSON.parse(readFileSync(file, "utf8")).packages;
}

function bootstrapPython() {
  const stamp = hashOf(["requirements-test.txt", "requirements-parsers.txt"]);
  if (isFresh(VENV_STAMP, stamp)) return;
  const python = findPython();
  if (!works(python, ["-c", "import venv, ensurepip"])) {
    if (canAptInstall()) aptInstall("python3-venv");
    if (!works(python, ["-c", "import venv, ensurepip"])) {
      throw new Stop(
        `${python} cannot make virtual environments: install its venv module (on Debian and Ubuntu: python3-venv)`,
      );
    }
  }
  say("installing what requirements-test.txt asks for into .venv (a few minutes the first time)");
  if (!works(".venv/bin/python", ["-m", "pip", "--version"]))
    must(python, ["-m", "venv", "--clear", ".venv"]);
  const pip = ["-m", "pip", "install", "-qq", "--disable-pip-version-check"];
  const requirements = readFileSync(join(ROOT, "requirements-test.txt"), "utf8");
  const torch = /^torch==\S+/m.exec(requirements)?.[0];
  if (!torch) throw new Stop("requirements-test.txt must pin torch");
  // Alone and first: where an index offers a CPU build of this exact version, the resolver takes it here,
  // and the other packages then find torch satisfied instead of pulling a CUDA build of their own choice.
  must(".venv/bin/python", [...pip, torch]);
  must(".venv/bin/python", [...pip, "-r", "requirements-test.txt"]);
  // Each of these stacks asks for versions of the libraries above that the others refuse, so they come alone, in a
  // folder of their own that only the test of the emitted files looks into.
  const apart = ["--no-deps", "--upgrade", "--target", ".venv/parsers", "-r", "requirements-parsers.txt"];
  must(".venv/bin/python", [...pip, ...apart]);
  markFresh(VENV_STAMP, stamp);
}

function findPython() {
  const candidates = [process.env["PLIMSOLL_PYTHON"] ?? "", "python3", "python"].filter(Boolean);
  const test = `import sys; sys.exit(sys.version_info < (${OLDEST_PYTHON.replace(".", ", ")}))`;
  const found = candidates.find((python) => works(python, ["-c", test]));
  if (!found)
    throw new Stop(
      `the tests need Python ${OLDEST_PYTHON} or newer as python3 (or its path in PLIMSOLL_PYTHON)`,
    );
  return found;
}

function canAptInstall() {
  return process.getuid?.() === 0 && works("apt-get", ["--version"]);
}

/** @param {string} name */
function aptInstall(name) {
  say(`installing ${name} (apt-get)`);
  works("apt-get", ["update", "-qq"]);
  works("apt-get", ["install", "-y", "-qq", "--no-install-recommends", name]);
}

if (process.argv[1] === import.meta.filename) {
  await script(process.argv[2] === "node" ? bootstrapNode : bootstrapTests);
}
