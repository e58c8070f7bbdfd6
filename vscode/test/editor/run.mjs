// The extension in a real editor: node run.mjs PYTHON. It installs what is missing into a cache folder, packages the
// extension, indexes a small folder of four languages, and uses the extension as a person does (check.mjs).

import { spawnSync } from "node:child_process";
import { accessSync, constants, existsSync, mkdirSync, rmSync } from "node:fs";
import { homedir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { installedEditor, npm } from "./install.mjs";

const CHROMIUM = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome"];
const here = dirname(fileURLToPath(import.meta.url));
const extension = dirname(dirname(here));
const root = dirname(extension);
const python = process.argv[2];
const xdg = process.env.XDG_CACHE_HOME || join(homedir(), ".cache");
const cache = process.env.GALM_EDITOR_CACHE || join(xdg, "galm", "editor");

/** Where a program is: its path, or the first folder of PATH that has it; undefined if there is none. */
function program(name) {
  const places = name.includes("/") ? [name] : process.env.PATH.split(delimiter).map((folder) => join(folder, name));
  return places.find((place) => {
    try {
      accessSync(place, constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}

function fail(message) {
  console.error(`test_editor: ${message}`);
  process.exit(2);
}

function run(command, words, options = {}) {
  const done = spawnSync(command, words, { stdio: "inherit", ...options });
  if (done.status !== 0) fail(`${[command, ...words].join(" ")} failed (status ${done.status})`);
}

if (!/^v(?:2[0-9]|[3-9][0-9])\./.test(process.version)) fail(`node 20 or newer is needed, not ${process.version}`);
if (!program("npm")) fail("npm is needed, which comes with node");
const named = process.env.GALM_CHROMIUM;
const chromium = (named ? [named] : CHROMIUM).map(program).find(Boolean);
if (!chromium)
  fail(`Chromium is needed (no program ${named || CHROMIUM.join(" or ")}): on Debian, apt install chromium`);

mkdirSync(cache, { recursive: true });
try {
  if (!existsSync(join(extension, "node_modules", "playwright-core"))) npm(extension, "ci", "--ignore-scripts");
  const entry = installedEditor(cache);
  const vsix = join(cache, "extension.vsix");
  npm(extension, "run", "package", "--", "--out", vsix);
  const work = join(cache, "test");
  rmSync(work, { recursive: true, force: true });
  mkdirSync(work);
  const sample = [join(here, "sample.py"), join(work, "sample"), join(cache, "downloads")];
  run(python, sample, { env: { ...process.env, PYTHONPATH: root } });
  const { check } = await import("./check.mjs");
  process.exitCode = await check({ chromium, entry, vsix, root, python, work });
} catch (error) {
  fail(error.stack);
}
