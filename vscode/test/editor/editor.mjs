// code-server with the packaged extension, and Chromium that shows it.

import { execFileSync, spawn } from "node:child_process";
import { mkdirSync, openSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { chromium } from "playwright-core";

/** A port of this machine that nothing uses now. */
export function freePort() {
  return new Promise((resolve, reject) => {
    const server = createServer().once("error", reject);
    server.listen(0, "127.0.0.1", () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });
}

/** Start a program in a group of processes of its own, which `stop` ends; what it says goes to `log`. */
export function started(command, words, options, log) {
  const file = openSync(log, "a");
  const child = spawn(command, words, { ...options, detached: true, stdio: ["ignore", file, file] });
  child.stop = () => {
    try {
      process.kill(-child.pid, "SIGKILL");
    } catch (error) {
      if (error.code !== "ESRCH") throw error;
    }
  };
  return child;
}

/** Wait until a URL is answered with status 200. */
export async function answering(url, milliseconds) {
  for (const end = Date.now() + milliseconds; Date.now() < end; await new Promise((done) => setTimeout(done, 200))) {
    const answer = await fetch(url).catch(() => undefined);
    if (answer?.ok) return;
  }
  throw new Error(`${url} did not answer within ${milliseconds / 1000} s`);
}

/** Start code-server with the extension; `folder` is the test's own, `settings` are of the extension. */
export async function startEditor({ entry, vsix, folder, settings }) {
  const port = await freePort();
  const user = join(folder, "user");
  const extensions = join(folder, "extensions");
  const env = { ...process.env, XDG_CONFIG_HOME: join(folder, "config"), XDG_DATA_HOME: join(folder, "data") };
  const places = ["--user-data-dir", user, "--extensions-dir", extensions];
  execFileSync(process.execPath, [entry, ...places, "--install-extension", vsix], { env, stdio: "pipe" });
  write(join(user, "User"), {
    "extensions.autoCheckUpdates": false,
    "extensions.ignoreRecommendations": true,
    "files.autoSave": "off",
    "remote.autoForwardPorts": false,
    "security.workspace.trust.enabled": false,
    "telemetry.telemetryLevel": "off",
    "update.mode": "none",
    "workbench.startupEditor": "none",
    "workbench.tips.enabled": false,
  });
  write(join(user, "Machine"), settings);
  const flags = ["--auth", "none", "--bind-addr", `127.0.0.1:${port}`, "--disable-telemetry", "--disable-update-check"];
  const child = started(process.execPath, [entry, ...flags, ...places], { env }, join(folder, "editor.log"));
  await answering(`http://127.0.0.1:${port}/healthz`, 60_000);
  const set = (more) => write(join(user, "Machine"), { ...settings, ...more });
  return { port, child, set };
}

function write(folder, settings) {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "settings.json"), JSON.stringify(settings, null, 2));
}

/** Chromium with a page that shows a folder in the editor; requests to other machines are refused and noted. */
export async function openPage(program, port, workspace) {
  const browser = await chromium.launch({ executablePath: program, args: ["--no-sandbox"] });
  const permissions = ["clipboard-read", "clipboard-write"];
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 }, permissions });
  const outside = [];
  await context.route(
    ({ hostname }) => hostname !== "127.0.0.1" && !hostname.endsWith(".vscode-cdn.net"),
    (route) => (outside.push(route.request().url()), route.abort()),
  );
  const page = await context.newPage();
  page.setDefaultTimeout(30_000);
  const open = async (folder) => {
    await page.goto(`http://127.0.0.1:${port}/?folder=${encodeURIComponent(folder)}`);
    await page.locator(".explorer-folders-view .monaco-list-row").first().waitFor({ timeout: 90_000 });
  };
  page.on("dialog", (dialog) => dialog.accept());
  await open(workspace);
  return { browser, page, outside, open };
}
