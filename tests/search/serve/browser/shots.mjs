// Pictures of the page for the documentation: node shots.mjs URL CHROMIUM FOLDER QUESTION.

import { launch } from "./browser.mjs";

const [base, chromium, folder, question] = process.argv.slice(2);
const browser = await launch(chromium);
const shots = [
  { name: "search-page", colorScheme: "light", viewport: { width: 1120, height: 840 }, word: 1 },
  { name: "search-phone", colorScheme: "dark", viewport: { width: 390, height: 844 }, deviceScaleFactor: 1.25, isMobile: true, hasTouch: true, word: 1 },
];
for (const { name, word, ...options } of shots) {
  const page = await browser.newPage(options);
  await page.goto(`${base}/#${new URLSearchParams({ q: question })}`);
  await page.locator(".head").first().click();
  await page.locator(".matrix").waitFor({ state: "attached" });
  const chip = page.locator(".chip").nth(word);
  await (options.isMobile ? chip.tap() : chip.hover());
  await page.locator("details[open] summary").evaluateAll((all) => all.forEach((each) => each.click())); // others are seen below
  await page.waitForTimeout(400);
  await page.screenshot({ path: `${folder}/${name}.png` });
  await page.close();
}
const page = await browser.newPage({ colorScheme: "light", viewport: { width: 1120, height: 900 } });
await page.goto(`${base}/#${new URLSearchParams({ q: question })}`);
await page.locator(".head").first().waitFor();
await page.locator(".place a").first().click();
await page.locator(".line.on").first().waitFor();
await page.locator("#file-outline summary").click();
await page.evaluate(() => scrollTo(0, 0));
await page.waitForTimeout(400);
await page.screenshot({ path: `${folder}/search-file.png` });
await browser.close();
