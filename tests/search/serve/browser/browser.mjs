// Chromium by playwright-core, from the folder that GALM_PLAYWRIGHT names or where node finds it, beside these files or
// among its global packages (npm install -g playwright-core); else exit code 77.

import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const NO_PLAYWRIGHT = 77;

export function playwright() {
  const require = createRequire(import.meta.url);
  const paths = [dirname(fileURLToPath(import.meta.url)), join(dirname(dirname(process.execPath)), "lib")];
  try {
    return require(process.env.GALM_PLAYWRIGHT || require.resolve("playwright-core", { paths }));
  } catch (error) {
    if (error.code !== "MODULE_NOT_FOUND") throw error;
    console.error(error.message.split("\n")[0]);
    process.exit(NO_PLAYWRIGHT);
  }
}

export async function launch(executablePath) {
  return playwright().chromium.launch({ executablePath, args: ["--no-sandbox"] });
}
