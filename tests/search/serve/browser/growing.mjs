// A page whose index is still being made: node growing.mjs URL CHROMIUM. Prints what it sees, a line each time.

import { launch } from "./browser.mjs";

const [base, chromium] = process.argv.slice(2);
const browser = await launch(chromium);
const page = await browser.newPage();
page.setDefaultTimeout(30_000);
await page.goto(base);
await page.getByRole("searchbox", { name: "What should the code do?" }).fill("function_29");
console.log("page");
await page.locator("#notice", { hasText: "files are indexed so far" }).waitFor();
await page.locator("#status").getByText("nearest").or(page.locator("#status").getByText("nothing")).first().waitFor();
console.log("some");
await page.locator(".hit .head", { hasText: "function_29" }).waitFor();
await page.locator("#notice").waitFor({ state: "hidden" });
console.log(`all: ${await page.locator("#about").textContent()}`);
await browser.close();
