// What a person does in the editor, and sees.

import { mkdirSync } from "node:fs";
import { join } from "node:path";

/** How much longer everything may take, on a machine that does much else. */
export const SLOWER = Math.max(1, Number(process.env.GALM_EDITOR_SECONDS || 2) / 2);

export class Person {
  constructor(page, shots) {
    this.page = page;
    this.shots = shots;
    mkdirSync(shots, { recursive: true });
  }

  async check(name, run) {
    try {
      await run();
    } catch (error) {
      error.message = `${name}: ${error.message}`;
      throw error;
    }
    console.log(`ok ${name}`);
    await this.dismiss();
  }

  /** Show a file by the name that is typed, in the first group. */
  async open(name) {
    const tab = this.page.locator(".tab", { hasText: name }).first();
    if (await tab.count()) await tab.click();
    else {
      const found = this.page.locator(".quick-input-list .monaco-list-row", { hasText: name }).first();
      for (let left = 3; left; left -= 1) {
        await this.press("Control+1", "Control+P");
        await this.typeText(name);
        const last = left === 1; // a file that was just written may be missed at first
        if (await found.waitFor({ timeout: last ? 30_000 : 5000 }).then(() => true, last ? undefined : () => false))
          break;
        await this.press("Escape");
      }
      await this.press("Enter");
    }
    await this.tab(name, { selected: true });
    await this.editor().waitFor();
  }

  /** The visible editor of the first group. */
  editor() {
    return this.page.locator(".editor-group-container").first().locator(".monaco-editor .view-lines").first();
  }

  /** The editor with the results. */
  document() {
    return this.page.locator(".editor-instance", { hasText: /\d+\sexamples?\sof/ }).last();
  }

  /** Type a line at the end of the file, then Enter; when Enter was pressed. */
  async typeLine(line, more = "") {
    await this.write("\n");
    await this.page.keyboard.type(line + more, { delay: 5 });
    await this.press("Escape"); // what is suggested
    const started = Date.now();
    await this.press("Enter");
    return started;
  }

  /** Write a text at the end of the file, as it is. */
  async write(text) {
    await this.editor().click();
    await this.press("Control+End");
    await this.page.keyboard.insertText(text);
  }

  async typeText(text, ...keys) {
    await this.page.locator(".quick-input-widget input:visible").first().waitFor();
    await this.page.keyboard.type(text, { delay: 5 });
    await this.press(...keys);
  }

  async press(...keys) {
    for (const key of keys) await this.page.keyboard.press(key);
  }

  async command(title) {
    await this.press("F1");
    await this.typeText(title);
    await this.page.locator(".quick-input-list .monaco-list-row", { hasText: title }).first().click();
  }

  /** Wait for a document of results that begins with `head`, which leaves out the name of the folder. */
  async results(head, timeout = 10_000 * SLOWER) {
    const [what, query] = head.split(": ").map((text) => text.replaceAll(/[^\w ]/g, "\\$&").replaceAll(" ", "\\s"));
    const begun = new RegExp(`${what}(\\sin\\s[^:]+)?:\\s${query}`);
    await this.document().getByText(begun).first().waitFor({ timeout });
    await this.document().getByText("Example 1 of 15").waitFor({ timeout });
  }

  /** The titles above the first lines of the results. */
  async lenses() {
    await this.document().locator(".codelens-decoration a:visible", { hasText: "Copy" }).first().waitFor();
    const all = await this.document().locator(".codelens-decoration a:visible").allInnerTexts();
    return all
      .map((title) => title.replaceAll("\u00a0", " ").trim())
      .filter(Boolean)
      .slice(0, 6);
  }

  async lens(title) {
    await this.document().locator(".codelens-decoration a:visible", { hasText: title }).first().click();
  }

  async thumb(icon) {
    await this.document().locator(`.codelens-decoration a .codicon-thumbs${icon}`).first().click();
  }

  /** Tick the first entries of a list, and accept. */
  async tick(number) {
    const rows = this.page.locator(".quick-input-list .monaco-list-row");
    for (let at = 0; at < number; at += 1) await rows.nth(at).click();
    await this.press("Enter");
  }

  async toEnd() {
    await this.document().locator(".view-lines").click();
    await this.press("Control+End");
  }

  /** Scroll up until a text is seen: the last result may be longer than the window. */
  async upTo(text) {
    const found = this.page.getByText(text).first();
    for (let pages = 0; pages < 30 && !(await found.isVisible()); pages += 1) {
      await this.press("PageUp");
      await this.wait(200);
    }
    await this.sees(text);
  }

  async toStart() {
    await this.press("Control+Home");
  }

  async sees(text) {
    await this.page
      .getByText(text)
      .first()
      .waitFor({ timeout: 10_000 * SLOWER });
  }

  async notification(text, timeout = 15_000 * SLOWER) {
    await this.page.locator(".notification-toast", { hasText: text }).first().waitFor({ timeout });
  }

  /** How many links the texts of notifications have. */
  links() {
    return this.page.locator(".notification-list-item-message a").count();
  }

  async answer(button) {
    await this.page.locator(".notification-toast").getByRole("button", { name: button, exact: true }).click();
  }

  async dismiss() {
    const close = this.page.locator(".notification-toast .codicon-notifications-clear");
    while (await close.count())
      await close
        .first()
        .click({ force: true })
        .catch(() => undefined);
  }

  panel() {
    return this.page.frameLocator("iframe.webview.ready").frameLocator("#active-frame");
  }

  async tab(name, { selected }) {
    await this.page.locator(`.tab[aria-selected=${selected}]`, { hasText: name }).first().waitFor();
  }

  async closeTab(name) {
    await this.page.locator(".tab", { hasText: name }).first().click({ button: "middle" });
  }

  clipboard() {
    return this.page.evaluate(() => navigator.clipboard.readText());
  }

  wait(milliseconds) {
    return this.page.waitForTimeout(milliseconds);
  }

  async shot(name) {
    await this.page.mouse.move(200, 650);
    await this.page.waitForTimeout(700); // what fades in
    await this.page.screenshot({ path: join(this.shots, `${name}.png`) });
  }
}
