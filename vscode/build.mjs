// Bundles the extension and the script of its panel into dist/.

import { rm } from "node:fs/promises";
import { build } from "esbuild";

await rm("dist", { recursive: true, force: true });
const options = { bundle: true, logLevel: "warning" };
await build({
  ...options,
  entryPoints: ["src/extension.ts"],
  outfile: "dist/extension.js",
  platform: "node",
  target: "node16.17",
  format: "cjs",
  external: ["vscode"],
});
await build({
  ...options,
  entryPoints: ["src/panel/script.ts"],
  outfile: "dist/panel.js",
  platform: "browser",
  target: "es2022",
  format: "iife",
});
