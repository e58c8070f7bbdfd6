// The editor of the test: code-server, which is VS Code in a browser, with what it needs, in a cache folder (360 MB).
// It is installed without running scripts of packages, except to compile the few modules that are compiled.

import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const VERSION = "4.96.4"; // VS Code 1.96.4, for node 20
const COMPILED = ["@vscode/spdlog", "native-watchdog", "node-pty", "@parcel/watcher"];
const NPM = ["--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"];

/** The script that starts code-server, installed into `cache` if it is not there. */
export function installedEditor(cache) {
  const folder = join(cache, `code-server-${VERSION}`);
  const root = join(folder, "node_modules", "code-server");
  const done = join(folder, "installed");
  const versions = `${VERSION} ${process.version}`;
  if (!existsSync(done) || readFileSync(done, "utf8") !== versions) {
    console.log(`installing code-server ${VERSION} into ${folder} (once, about 2 minutes)`);
    rmSync(folder, { recursive: true, force: true });
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, "package.json"), '{ "private": true }\n');
    npm(folder, "install", ...NPM, "--save-exact", `code-server@${VERSION}`);
    const vscode = join(root, "lib", "vscode");
    for (const each of [vscode, join(vscode, "extensions")]) {
      rmSync(join(each, "npm-shrinkwrap.json"), { force: true }); // it names a registry
      npm(each, "install", ...NPM, "--omit=dev", "--legacy-peer-deps");
    }
    npm(folder, "rebuild", "argon2");
    npm(vscode, "rebuild", ...COMPILED);
    writeFileSync(done, versions);
  }
  return join(root, "out", "node", "entry.js");
}

/** Run npm in `folder`. */
export function npm(folder, ...words) {
  try {
    execFileSync("npm", words, { cwd: folder, stdio: ["ignore", "pipe", "pipe"] });
  } catch (error) {
    const said = `${error.stderr ?? ""}`.trim().split("\n").slice(-5).join("\n");
    throw new Error(`npm ${words[0]} failed in ${folder}:\n${said || error.message}`);
  }
}
