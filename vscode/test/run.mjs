// Runs the tests of the core, without VS Code: as they are where node reads TypeScript itself (from 22.18 on), or
// else bundled by esbuild, which `npm ci` installs. Exit code 77: neither can be had.

import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const folder = dirname(fileURLToPath(import.meta.url));
const tests = readdirSync(folder).filter((name) => name.endsWith(".test.ts"));
process.exitCode = process.features.typescript ? run(tests.map((name) => join(folder, name))) : await bundled();

async function bundled() {
  const { build } = await import("esbuild").catch(() => ({}));
  if (!build) {
    console.error("esbuild is not installed: run `npm ci` in vscode/, or use node 22.18 or newer");
    return 77;
  }
  const made = mkdtempSync(join(tmpdir(), "extension-tests-"));
  try {
    const entryPoints = tests.map((name) => join(folder, name));
    const options = {
      bundle: true,
      platform: "node",
      format: "esm",
      sourcemap: "inline",
      outExtension: { ".js": ".mjs" },
    };
    await build({ ...options, entryPoints, outdir: made, logLevel: "warning" });
    return run(readdirSync(made).map((name) => join(made, name)));
  } finally {
    rmSync(made, { recursive: true, force: true });
  }
}

function run(files) {
  const cwd = dirname(folder); // tests read their files from there
  return (
    spawnSync(process.execPath, ["--enable-source-maps", "--test", ...files], { stdio: "inherit", cwd }).status ?? 1
  );
}
