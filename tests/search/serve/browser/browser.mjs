// Chromium by playwright-core, from the folder that GALM_PLAYWRIGHT names or where node finds it; else exit code 77.

import { createRequire } from "node:module";

const NO_PLAYWRIGHT = 77;

export async function launch(executablePath) {
  let playwright;
  try {
    playwright = createRequire(import.meta.url)(process.env.GALM_PLAYWRIGHT || "playwright-core");
  } catch (error) {
    if (error.code !== "MODULE_NOT_FOUND") throw error;
    console.error(error.message);
    process.exit(NO_PLAYWRIGHT);
  }
  return playwright.chromium.launch({ executablePath, args: ["--no-sandbox"] });
}
