// Drives the page of the search: node check.mjs URL CHROMIUM FOLDER_FOR_SCREENSHOTS. Prints "ok NAME" for each check.

import assert from "node:assert/strict";
import { launch } from "./browser.mjs";
import { weakTexts } from "./contrast.mjs";

const [base, chromium, folder] = process.argv.slice(2);
const browser = await launch(chromium);
const context = await browser.newContext({ viewport: { width: 1200, height: 900 }, permissions: ["clipboard-read", "clipboard-write"] });
const asked = [], outside = [], complaints = [];
await context.route((url) => url.hostname !== "127.0.0.1", (route) => route.abort());
context.on("request", (request) => (new URL(request.url()).hostname === "127.0.0.1" ? asked : outside).push(request.url()));
const page = await context.newPage();
page.setDefaultTimeout(10_000);
page.on("console", (message) => ["error", "warning"].includes(message.type()) && complaints.push(message.text()));
page.on("pageerror", (error) => complaints.push(String(error)));

console.log("checks");
async function check(name, run) {
  try {
    await run();
  } catch (error) {
    await page.screenshot({ path: `${folder}/failed.png`, fullPage: true });
    console.error(`failed: ${name}\n${error.stack}\n${complaints.join("\n")}`);
    await browser.close();
    process.exit(1);
  }
  console.log(`ok ${name}`);
}

const query = page.getByRole("searchbox", { name: "What should the code do?" });
const path = page.getByRole("searchbox", { name: "Only in paths with" });
const head = (name, state = {}) => page.getByRole("button", { name, exact: true, ...state });
const lines = "Lines.readAllLines";
const heads = page.locator(".hit .head");
const language = page.getByRole("combobox", { name: "Language" });
const searches = () => asked.filter((url) => url.includes("/api/search")).length;
const fresh = async (hash = "") => {
  await page.goto("about:blank");
  await page.goto(`${base}/${hash}`);
};
const active = () => page.evaluate(() => document.activeElement.textContent || document.activeElement.id);
const lit = () => page.locator(".word.lit").evaluateAll((all) => all.map((each) => [each.textContent, Number(each.style.getPropertyValue("--strength"))]));

await check("typing gives results, and not a question a key", async () => {
  await fresh();
  assert.equal(await active(), "query");
  const whole = page.waitForResponse(/api\/search\?q=read\+all\+lines\+of\+a\+file&/);
  await query.pressSequentially("read all lines of a file", { delay: 20 });
  await whole;
  await page.waitForFunction(() => !document.querySelector("#hits[aria-busy]"));
  await head(lines, { expanded: false }).waitFor();
  assert.equal(await heads.first().textContent(), lines);
  assert.ok(searches() >= 1 && searches() <= 6, `${searches()} questions`);
  assert.match(await page.getByRole("status").first().textContent(), /^strong match · \d+ results in \d+ ms$/);
  assert.match(await page.locator("#about").textContent(), /^15 functions, types and files of 5 files$/);
});

await check("what is typed into a field is text, and no key", async () => {
  for (const name of ["What should the code do?", "Only in paths with", "Text that matches"]) {
    await fresh("#q=read all lines of a file");
    await head(lines).waitFor();
    const field = page.getByRole("searchbox", { name });
    await field.fill("");
    await field.pressSequentially("jkocvryn/f?");
    assert.equal(await field.inputValue(), "jkocvryn/f?");
    await page.waitForFunction(() => !document.querySelector("#hits[aria-busy]"));
    await field.fill("");
    await head(name.startsWith("What") ? "Lines.countWords" : lines).waitFor({ state: name.startsWith("What") ? "detached" : "visible" });
    await field.press("ArrowDown");
    if (!name.startsWith("What")) assert.equal(await active(), lines);
  }
  complaints.splice(0); // no file is in such a path
});

await check("what is typed before the page is ready is asked", async () => {
  let ready = () => {};
  await page.route(/api\/judgements/, (route) => (ready = () => route.continue()));
  await fresh();
  await query.fill("write lines to a file");
  await page.waitForTimeout(300);
  ready();
  await head("Lines.writeLines").waitFor();
  assert.equal(await query.inputValue(), "write lines to a file");
  await page.unrouteAll({ behavior: "ignoreErrors" });
  await fresh("#q=read+all+lines+of+a+file");
});

await check("the folder names the page, and its own code gives the examples", async () => {
  await page.waitForFunction(() => document.title.includes("tree"));
  assert.equal(await page.title(), "read all lines of a file – tree – code search");
  assert.match(await page.locator("h1").innerText(), /^tree\s+Code search$/);
  await fresh();
  await page.locator("#examples a").first().waitFor();
  assert.equal(await page.title(), "tree – code search");
  const shown = await page.locator("#examples").innerText();
  assert.ok(!shown.includes("HashMap"), shown);
  const links = page.locator("#examples a"), name = await links.first().innerText();
  assert.match(name, /^(Lines|Hostile)\.\w+$/);
  await links.first().click();
  await head(name).waitFor();
  assert.equal(await query.inputValue(), name);
  assert.equal(await path.getAttribute("placeholder"), "io or *test*");
});

await check("a hit shows its best lines as they stand in its file; the chosen one more of them", async () => {
  await fresh("#q=close the socket of a connection");
  await head("Lines.closeQuietly").waitFor();
  const hit = page.locator(".hit", { hasText: "Lines.closeQuietly" });
  const lines = () => hit.locator(".glance .line").filter({ visible: true }).allTextContents();
  assert.deepEqual(await lines(), ["public void closeQuietly(Socket socket) {\n", "    try {\n"]);
  assert.deepEqual(await hit.locator(".found").filter({ visible: true }).allTextContents(), ["closeQuietly", "Socket", "socket"]);
  await head("Lines.closeQuietly").click();
  await head("Lines.closeQuietly").click();
  assert.deepEqual((await lines()).slice(2), ["        socket.close();\n", "    } catch (IOException ignored) {\n", '        log.fine("not closed");\n', "    }\n"]);
  assert.ok((await hit.locator(".glance .keyword").allTextContents()).includes("public"));
  await fresh("#q=read lines of paths&language=python");
  await head("read_lines").waitFor();
  await head("read_lines").click();
  await page.locator(".code .keyword").first().waitFor();
  assert.deepEqual(await page.locator(".code .line").allTextContents(), ["def read_lines(paths):\n", "    lines = []\n", "    for path in paths:\n", "        lines += read(path)\n", "    return lines\n"]);
});

await check("an open hit tells signature, documentation, licence and score", async () => {
  await fresh("#q=read all lines of a file");
  await head(lines).click();
  await page.locator(".chip").first().waitFor();
  const text = await page.locator(".hit").first().innerText();
  assert.equal(await page.locator(".place").first().textContent(), "io/Lines.java:8–19");
  for (const part of ["readAllLines(Path path, Charset charset)", "Reads all lines of a file.", "licence not known", "score\u00a0"]) {
    assert.ok(text.includes(part), `${part} is not in ${text}`);
  }
});

const changed = (pattern, change) => page.route(pattern, async (route) => {
  try {
    const told = await (await route.fetch()).json();
    await route.fulfill({ json: { ...told, ...change(told) } });
  } catch {
    // the page was left, or typed on, before the answer came
  }
});
const answered = async (change, health = {}) => {
  await changed(/api\/search/, change);
  await changed(/\/health/, () => health);
};
const unanswered = () => page.unrouteAll({ behavior: "ignoreErrors" });

await check("the first line says how certain the answer is, and links the nearest names", async () => {
  const hurt = "<img src=x onerror=window.hurt=1>";
  await answered(() => ({ certainty: { level: "weak", absent: [hurt], nearest: ["Lines.countWords", hurt], text: `weak match: no file has ${hurt}; nearest: Lines.countWords, ${hurt}; perhaps nothing here answers it` }, notice: `2 files have changed: ${hurt}`, freshness: { line: "", changed: ["io/Lines.java"], changed_count: 2 } }), { unread: { ".md": 2, ".rs": 1200, [hurt]: 1 } });
  await fresh("#q=lines&language=java");
  const status = page.locator("#status");
  await page.locator("#status[data-level=weak]").waitFor();
  assert.match(await status.innerText(), /^weak match: no file has <img[^;]*>; perhaps nothing here answers it · \d+ results in \d+ ms\s+Nearest: Lines\.countWords, <img/);
  assert.equal(await page.locator("#notice").innerText(), `2 files have changed: ${hurt}`);
  const old = await page.locator(".hit", { has: page.locator(".tag", { hasText: "may be old" }) }).locator(".place a").allTextContents();
  assert.deepEqual([...new Set(old)], ["io/Lines.java"]);
  assert.ok(old.length < (await heads.count()));
  await page.locator("#unread").waitFor();
  assert.equal(await page.locator("#unread").innerText(), `Not read: 1,200 .rs, 2 .md, 1 ${hurt}.`);
  assert.equal(await page.locator("main img").count(), 0);
  await page.getByRole("link", { name: "Lines.countWords", exact: true }).click();
  await page.waitForFunction(() => document.querySelector("#query").value === "Lines.countWords");
  assert.equal(await language.inputValue(), "java");
  await unanswered();
  await answered(() => ({ certainty: { level: "none", absent: ["zzzz"], nearest: [], text: "nothing found: no file has these words" }, results: [] }));
  await fresh("#q=zzzz");
  await page.locator("#status[data-level=none]").waitFor();
  assert.equal(await status.innerText(), "nothing found: no file has these words");
  await unanswered();
});

await check("copies are folded behind their hit", async () => {
  const path = "copied/<img src=x onerror=window.hurt=1>.java";
  await answered(({ results: [first, ...rest] }) => ({ results: [{ ...first, copies: [{ path, start_line: 3, end_line: 4 }, { path: "io/Lines.java", start_line: 7, end_line: 20 }] }, ...rest] }));
  await fresh("#q=read all lines of a file");
  const shows = page.getByRole("button", { name: `${lines} and 2 copies` });
  await shows.waitFor();
  assert.equal(await page.locator(".copies").isVisible(), false);
  await shows.click();
  assert.deepEqual(await page.locator(".copies a").allTextContents(), [`${path}:3–4`, "io/Lines.java:7–20"]);
  assert.equal(await page.locator("main img").count(), 0);
  await page.locator(".copies a").nth(1).click();
  await page.locator(".line.on").first().waitFor();
  await unanswered();
});

await check("ten hits are seen at once", async () => {
  await answered(({ results }) => ({ results: Array.from({ length: 20 }, (_, place) => ({ ...results[0], rank: place + 1, row: place })) }));
  await page.setViewportSize({ width: 1280, height: 900 });
  await fresh("#q=read all lines of a file");
  await heads.nth(19).waitFor();
  const bottom = await page.locator(".hit").nth(9).evaluate((each) => each.getBoundingClientRect().bottom);
  assert.ok(bottom <= 900, `the tenth ends at ${bottom}`);
  await page.setViewportSize({ width: 1200, height: 900 });
  await unanswered();
});

await check("an answer that comes too late is dropped", async () => {
  await fresh();
  await page.route(/api\/search\?q=write/, async (route) => {
    await new Promise((done) => setTimeout(done, 700));
    await route.continue().catch(() => {});
  });
  await query.fill("write lines");
  await page.waitForTimeout(300);
  await query.fill("count words");
  await page.waitForTimeout(1200);
  assert.equal(await heads.first().textContent(), "Lines.countWords");
  await page.unroute(/api\/search\?q=write/);
});

await check("a word lights up what it is aligned with, one without alignment nothing", async () => {
  await fresh("#q=read all lines of a file");
  await head(lines).click();
  await page.getByRole("group", { name: "Words of the question" }).waitFor();
  const all = await lit();
  assert.ok(all.length > 4);
  await page.locator(".chip", { hasText: /^read$/ }).hover();
  const found = await lit();
  assert.ok(found.some(([text, strength]) => text === "read" && strength > 0.5), JSON.stringify(found));
  assert.ok(found.every(([, strength]) => strength > 0 && strength <= 1));
  assert.notDeepEqual(found, all);
  assert.match(await page.locator(".said").first().textContent(), /^read → .*read \([^)]*name\s0\.\d\d/);
  const weak = page.getByRole("button", { name: "of (no alignment)" });
  await weak.hover();
  assert.deepEqual(await lit(), []);
  assert.equal(await page.locator(".said").first().textContent(), "of has no alignment here.");
  assert.equal(await weak.evaluate((each) => getComputedStyle(each).borderStyle), "dashed");
  await page.mouse.move(0, 0);
  assert.deepEqual(await lit(), all);
});

await check("a word can be held, and the focus does what pointing does", async () => {
  const chip = page.locator(".chip", { hasText: /^read$/ });
  await page.locator(".chip", { hasText: /^file$/ }).focus();
  const file = await lit();
  assert.ok(file.length > 0);
  await chip.click();
  assert.equal(await chip.getAttribute("aria-pressed"), "true");
  await page.mouse.move(0, 0);
  await head(lines).focus();
  const held = await lit();
  assert.ok(held.some(([text]) => text === "read"));
  assert.notDeepEqual(held, file);
  await chip.click();
  assert.equal(await chip.getAttribute("aria-pressed"), "false");
});

await check("code is cut into kinds, with its line numbers", async () => {
  const kinds = async (kind) => page.locator(`.code .${kind}`).allTextContents();
  assert.ok((await kinds("keyword")).includes("public"));
  assert.deepEqual(await kinds("annotation"), ["@Override"]);
  assert.deepEqual(await kinds("comment"), ["// no more than that"]);
  assert.deepEqual(await kinds("string"), ['"a // text with \\" quotes"']);
  assert.ok((await kinds("type")).includes("Buffered") && !(await kinds("type")).includes("LIMIT"));
  const told = await page.locator(".code .line").evaluateAll((all) => all.map((each) => [each.dataset.number, each.textContent]));
  assert.equal(told.length, 12);
  assert.match(told[1][1], /^public List<String> readAllLines/);
  assert.match(told[2][1], /^ {4}\/\/ no/);
  assert.equal(Number(told[11][0]) - Number(told[0][0]), 11);
});

await check("the matrix is a table with its numbers, and a cell tells itself", async () => {
  const table = page.getByRole("table");
  assert.equal(await table.locator("tbody tr").count(), 6);
  const [words, columns] = [await table.locator("th[scope=col]").count(), await table.locator("tbody tr").first().locator("td").count()];
  assert.ok(words === columns && words > 8);
  const sum = await table.locator("tbody tr").first().locator("td").evaluateAll((all) => all.reduce((sum, each) => sum + Number(each.textContent), 0));
  assert.ok(Math.abs(sum - 1) < 0.1, `sum ${sum}`);
  await table.locator("td[data-row='0'][data-column='0']").hover();
  assert.match(await page.locator("details .said").textContent(), /^read → read \(name\): 0\.\d{3}$/);
  assert.deepEqual([...new Set((await lit()).map(([text]) => text))].sort(), ["read"]);
});

await check("keys do all there is to do", async () => {
  await fresh("#q=read all lines of a file");
  await head(lines).waitFor();
  await page.keyboard.press("ArrowDown");
  assert.equal(await active(), lines);
  await page.keyboard.press("j");
  const second = await active();
  assert.notEqual(second, lines);
  await page.keyboard.press("ArrowUp");
  assert.equal(await active(), lines);
  await page.keyboard.press("Enter");
  await head(lines, { expanded: true }).waitFor();
  await page.locator(".chip").first().waitFor();
  await page.keyboard.press("Tab");
  await page.keyboard.press("c");
  await page.locator(".copy", { hasText: "Copied" }).waitFor();
  const copied = await page.evaluate(() => navigator.clipboard.readText());
  assert.match(copied, /^@Override\npublic List<String> readAllLines[^]*\n\}$/);
  await page.keyboard.press("k");
  assert.equal(await active(), "query");
  await page.keyboard.press("Enter");
  await head(lines, { expanded: false }).waitFor();
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("?");
  const keys = page.getByRole("dialog", { name: "Keys" });
  await keys.waitFor();
  await page.keyboard.press("j");
  await page.keyboard.press("Escape");
  await keys.waitFor({ state: "hidden" });
  assert.equal(await active(), lines);
  await page.keyboard.press("/");
  assert.equal(await active(), "query");
  await page.keyboard.type("?/jk");
  assert.equal(await query.inputValue(), "?/jk");
});

await check("the focus is seen", async () => {
  await fresh("#q=read all lines of a file");
  await head(lines).waitFor();
  for (let step = 0; step < 6; step++) {
    await page.keyboard.press("Tab");
    const style = await page.evaluate(() => {
      const { outlineStyle, outlineWidth } = getComputedStyle(document.activeElement);
      return [outlineStyle, parseFloat(outlineWidth), document.activeElement.tagName];
    });
    assert.ok(style[0] !== "none" && style[1] >= 2, style.join(" "));
  }
});

await check("o follows the link, which tells its page nothing", async () => {
  await fresh("#q=read all lines of a file");
  const link = page.locator(".hit").first().locator(".acts a");
  assert.match(await link.getAttribute("href"), /^https:\/\/github\.com\/owner\/name\/blob\/[0-9a-f]{40}\/io\/Lines\.java#L\d+-L\d+$/);
  assert.match(await link.getAttribute("rel"), /noreferrer/);
  assert.deepEqual(outside, []);
  await page.keyboard.press("ArrowDown");
  const [popup] = await Promise.all([context.waitForEvent("page"), page.keyboard.press("o")]);
  await page.waitForTimeout(300);
  await popup.close();
  assert.equal(outside.length, 1);
  assert.match(outside.pop(), /^https:\/\/github\.com\/owner\/name\//);
});

await check("a path narrows the answers, and the address keeps both", async () => {
  await fresh("#q=read all lines of a file");
  await head(lines).waitFor();
  await path.fill("web/");
  await page.waitForFunction(() => [...document.querySelectorAll(".hit .place")].every((each) => each.textContent.startsWith("web/")));
  assert.equal(new URL(page.url()).hash, "#q=read+all+lines+of+a+file&path=web%2F");
  await fresh(new URL(page.url()).hash);
  await page.waitForFunction(() => document.querySelector("#path").value === "web/");
  assert.equal(await query.inputValue(), "read all lines of a file");
  await page.evaluate(() => (location.hash = "q=count+words"));
  await head("Lines.countWords").waitFor();
  assert.equal(await path.inputValue(), "");
});

await check("a regular expression leaves what matches, with a question and alone", async () => {
  await fresh("#q=read all lines of a file");
  await head(lines).waitFor();
  const regex = page.getByRole("searchbox", { name: "Text that matches" });
  await regex.fill("return twice");
  await page.waitForFunction(() => document.querySelectorAll(".hit").length === 1);
  assert.deepEqual(await heads.allTextContents(), ["fourfold"]);
  await query.fill("");
  await page.waitForFunction(() => location.hash === "#regex=return+twice" && !document.querySelector("#hits[aria-busy]"));
  await head("fourfold").click();
  await page.locator(".code .line").first().waitFor();
  assert.match(await page.getByRole("status").first().textContent(), /^strong match · 1 result in \d+ ms$/);
  await regex.fill("(");
  await page.waitForFunction(() => document.querySelector("#trouble").textContent.includes("missing )"));
  await regex.fill("nowhere");
  await page.waitForFunction(() => document.querySelector("#status").textContent.includes("nothing matches 'nowhere'"));
});

await check("one result a file, by the switch and by a key; the address keeps it", async () => {
  await fresh("#q=lines");
  await head(lines).waitFor();
  const files = () => page.locator(".hit .place").evaluateAll((all) => all.map((each) => each.textContent.split(":")[0]));
  const all = await files();
  assert.ok(new Set(all).size < all.length, JSON.stringify(all));
  const toggle = page.getByRole("checkbox", { name: "One result per file" });
  const settled = (count) => page.waitForFunction((count) => document.querySelectorAll(".hit").length === count, count);
  await toggle.click();
  await settled(new Set(all).size);
  assert.equal(new Set(await files()).size, (await files()).length);
  assert.match(page.url(), /by=file/);
  await heads.first().focus();
  await page.keyboard.press("f");
  await settled(all.length);
  assert.equal(await toggle.isChecked(), false);
  assert.doesNotMatch(page.url(), /by=file/);
  await fresh("#q=lines&by=file");
  await settled(new Set(all).size);
  assert.equal(await toggle.isChecked(), true);
});

await check("hostile text is text", async () => {
  const text = "<img src=x onerror=window.hurt=1></script><script>window.hurt=1</script> escape markup";
  await fresh();
  await query.fill(text);
  await head("Hostile.escapeMarkup").waitFor();
  await head("Hostile.escapeMarkup").click();
  await page.locator(".matrix").waitFor();
  const hit = page.locator(".hit", { hasText: "Hostile.escapeMarkup" });
  const told = await hit.innerText();
  for (const part of ["web/<img src=x onerror=window.hurt=1>.java", "Escapes <img src=x onerror=window.hurt=1>", '@Markup("<img src=x', "</script><script>window.hurt=1</script>\"; // <img"]) {
    assert.ok(told.includes(part), `${part} is not in ${told}`);
  }
  assert.ok(!told.includes("\u202e") && told.includes("\ufffd</script>"), "turned text");
  assert.equal(await hit.locator("img, script, iframe, [onerror]").count(), 0);
  assert.equal(await page.evaluate(() => window.hurt), undefined);
  assert.equal(new URLSearchParams(new URL(page.url()).hash.slice(1)).get("q"), text);
  const spans = await page.locator(".word").allTextContents();
  assert.ok(spans.includes("Markup") && spans.includes("markup") && spans.includes("turned") === false || spans.length, "words stand right after an emoji");
  for (const word of spans) assert.match(word, /^[\p{L}\p{N}]+$/u);
});

await check("an address that is none of the web is no link; trouble is told", async () => {
  const forged = (url) => ({ query: "x", milliseconds: 1, index: "x", results: [{ rank: 1, row: 0, path: "p", start_line: 1, end_line: 1, name: "n", signature: "s", documentation: "", source: "s", score: 1, bm25: 1, model: null, stage: "words", license: "", url }] });
  await fresh();
  for (const [url, links] of [["javascript:window.hurt=1", 0], ["data:text/html,x", 0], ["http://example.org/x", 0], ["", 0], ["https://example.org/x", 1]]) {
    await page.route(/api\/search/, (route) => route.fulfill({ json: forged(url) }));
    await query.fill(`x ${url}`);
    await page.waitForResponse(/api\/search/);
    await head("n").waitFor();
    assert.equal(await page.locator(".hit .acts a").count(), links, url);
    await page.unroute(/api\/search/);
  }
  const before = complaints.length;
  await query.fill("!!!");
  await page.getByRole("alert").filter({ hasText: "expected a question in words" }).waitFor();
  assert.equal(complaints.splice(before).filter((line) => !line.includes("400")).length, 0);
  await page.route(/api\/search/, (route) => route.abort());
  await query.fill("anything");
  await page.getByRole("alert").filter({ hasText: "does not respond" }).waitFor();
  await page.unroute(/api\/search/);
  complaints.splice(before);
});

await check("when the index was replaced since, the question is asked again", async () => {
  await fresh("#q=read all lines of a file");
  await head(lines).waitFor();
  const before = searches(), said = complaints.length;
  await page.route(/api\/explain/, (route) => route.fulfill({ status: 409, json: { error: "replaced" } }));
  await Promise.all([page.waitForResponse(/api\/search/), head(lines).click()]);
  assert.equal(searches(), before + 1);
  await page.unroute(/api\/explain/);
  complaints.splice(said);
});

const shown = (name) => page.getByRole("navigation", { name: "Views" }).getByRole("link", { name, exact: true });

await check("a language is chosen among those of the index; the address keeps it", async () => {
  await fresh("#q=lines");
  await heads.first().waitFor();
  assert.deepEqual(await language.locator("option").allTextContents(), ["All languages", "Java (2)", "Python (3)"]);
  await language.selectOption("python");
  await page.waitForFunction(() => [...document.querySelectorAll(".hit .place a")].every((each) => each.textContent.endsWith(".py")));
  assert.match(page.url(), /language=python/);
  await fresh("#q=lines&language=go");
  await page.getByText("Nothing found").waitFor();
  assert.equal(await language.inputValue(), "go");
});

await check("a file is shown around a hit, with its neighbours, and back again", async () => {
  await fresh("#q=count words");
  await head("Lines.countWords").waitFor();
  await head("Lines.countWords").focus();
  await page.keyboard.press("v");
  await page.locator(".line.on").first().waitFor();
  assert.equal(await page.getByRole("heading", { name: "io/Lines.java" }).textContent(), "io/Lines.java");
  assert.match(await page.locator(".line.on").first().textContent(), /countWords/);
  assert.equal(await page.locator("#file-code .line").first().getAttribute("data-number"), "1");
  assert.ok((await page.locator("#file-code .keyword").allTextContents()).includes("package"));
  assert.match(await page.locator("#file-facts").innerText(), /Java\s*39 lines\s*licence not known/);
  assert.equal(await page.locator("#file-acts a[target]").count(), 1);
  await page.getByRole("link", { name: "↓ Lines.closeQuietly" }).click();
  await page.waitForFunction(() => document.querySelector(".line.on")?.textContent.includes("closeQuietly"));
  await page.locator("summary", { hasText: "Functions and types" }).click();
  await page.getByRole("link", { name: "Lines.readAllLines", exact: true }).click();
  await page.waitForFunction(() => document.querySelector(".line.on")?.textContent.includes("@Override"));
  await page.goBack();
  await page.goBack();
  await page.goBack();
  await head("Lines.countWords").waitFor();
});

await check("who uses a name is listed by file, with links to the lines", async () => {
  await fresh(`#${new URLSearchParams({ view: "file", file: "io/used.py", lines: "1-1" })}`);
  await page.locator("#file-usages summary", { hasText: "Usages of twice" }).click();
  await page.locator(".used h3", { hasText: "io/used.py" }).waitFor();
  assert.match(await page.locator(".used .said").first().textContent(), /twice: 1 definition; 1 usage in 1 file, 1 call/);
  assert.equal(await page.locator(".used code").innerText(), "return twice(x) * 2");
  assert.equal(await page.locator(".used .place").innerText(), "fourfold");
  await page.locator(".used a").click();
  await page.waitForFunction(() => document.querySelector(".line.on")?.textContent.includes("twice(x)"));
});

await check("a hostile file is text", async () => {
  await fresh(`#${new URLSearchParams({ view: "file", file: "web/<img src=x onerror=window.hurt=1>.java", lines: "4-8" })}`);
  await page.locator(".line.on").first().waitFor();
  assert.equal(await page.locator("#view-file").locator("img, script, iframe, [onerror]").count(), 0);
  assert.equal(await page.evaluate(() => window.hurt), undefined);
  await fresh("#view=file&file=../secret&lines=1-2");
  await page.getByRole("alert").filter({ hasText: "there is no indexed file" }).waitFor();
  complaints.splice(0);
});

const paste = (text) => query.evaluate((box, text) => {
  const clipboardData = new DataTransfer();
  clipboardData.setData("text/plain", text);
  return box.dispatchEvent(new ClipboardEvent("paste", { clipboardData, bubbles: true, cancelable: true }));
}, text); // whether the input takes it itself

await check("a trace that is pasted as a question keeps its lines", async () => {
  await fresh();
  assert.equal(await paste("read all\nlines"), true);
  assert.equal(await paste(`java.io.IOException: x${"\n\tat io.Lines.readAllLines(Lines.java:14)".repeat(60)}\n`), false); // longer than a question
  await page.locator("#paste-status").filter({ hasText: "60 of 60 frames in the index" }).waitFor();
  await fresh();
  assert.equal(await paste("java.io.IOException: x\n\tat io.Lines.readAllLines(Lines.java:14)\n"), true);
  await query.fill("java.io.IOException: x at io.Lines.readAllLines(Lines.java:14)");
  await page.locator("#paste-status").filter({ hasText: "1 of 1 frames in the index" }).waitFor();
  await fresh();
  await query.fill("java.io.IOException: x at io.Lines.readAllLines(Lines.java:14) at io.Main.main(Main.java:3)");
  await page.locator("#paste-status").filter({ hasText: "1 of 2 frames in the index" }).waitFor();
  await fresh();
  assert.equal(await paste("at load (a.js:1:2)\nat main (b.js:3:4)"), true);
  await query.fill("at load (a.js:1:2) at main (b.js:3:4)"); // as an input of one line takes it
  await page.locator("#paste-status").filter({ hasText: "0 of 2 frames in the index" }).waitFor();
});

await check("a pasted message of several lines is a question, pasted code is code", async () => {
  for (const message of ["No lines were read:\n  the file is empty;\nread it again", "KeyError: 'x';\nmore text", "It overwrites\n    an existing endpoint: index"]) {
    await fresh();
    assert.equal(await paste(message), true, message);
  }
  for (const code of ["for path in paths:\n    lines += read(path)", "if (a) {\n  b();\n}", "def twice(x)\n  2 * x\nend", "x = read(path)\ny = write(x)"]) {
    await fresh();
    assert.equal(await paste(code), false, code);
    await page.locator("#paste-status").filter({ hasText: / ms$/ }).waitFor();
  }
});

await check("of a long type its first lines are shown, which is said", async () => {
  await fresh("#q=Catalogue");
  await head("Catalogue").click();
  const part = page.locator(".hit.open .part");
  await part.waitFor();
  assert.equal(await part.innerText(), "The first 40 of 64 lines");
  await page.locator(".matrix, .hit.open .code .keyword").first().waitFor();
  assert.equal(await part.count(), 1);
  await page.locator(".hit.open").getByRole("link", { name: "Whole file" }).click();
  await page.locator(".line.on").first().waitFor();
  assert.equal(await page.locator(".line.on").count(), 64);
});

await check("a pasted trace has its frames, and code like it; related code of a hit", async () => {
  await fresh();
  await shown("Stack trace or code").click();
  const box = page.getByRole("textbox", { name: "A stack trace or code" });
  await box.fill("java.io.IOException: <img src=x onerror=window.hurt=1>\n\tat io.Lines.readAllLines(Lines.java:14)\n\tat app.Main.main(Main.java:3)\n");
  await box.press("Control+Enter");
  const frame = page.locator(".frame").first();
  await frame.waitFor();
  assert.match(await page.locator("#paste-status").textContent(), /^1 of 2 frames in the index; /);
  assert.match(await frame.innerText(), /Lines\.readAllLines\s*raised here/);
  assert.match(await page.locator(".frame").nth(1).innerText(), /not in the index/);
  assert.equal(await page.evaluate(() => window.hurt), undefined);
  await frame.getByRole("link").click();
  await page.locator(".line.on").waitFor();
  assert.equal(await page.locator(".line.on").getAttribute("data-number"), "14");
  await page.goBack();
  await box.fill("for path in paths:\n    lines += read(path)");
  await page.getByRole("button", { name: "Find code" }).click();
  await head("read_lines").waitFor();
  await head("read_lines").click();
  await page.locator("#paste-hits .code .keyword").first().waitFor();
  await page.locator("#paste-hits .related").first().click();
  await page.getByText("Code like read_lines").waitFor();
});

await check("a hit is judged, and the judged questions are measured", async () => {
  for (const [question, name] of [["read all lines of a file", lines], ["count words", "Lines.countWords"]]) {
    await fresh(`#q=${question}`);
    await head(name).click();
    const yes = page.locator(".hit.open").getByRole("button", { name: "Yes" });
    await Promise.all([page.waitForResponse(/api\/judgements/), yes.click()]);
    await page.locator(".judge-y[aria-pressed=true]").waitFor();
  }
  await head("Lines.countWords").focus();
  await Promise.all([page.waitForResponse(/api\/judgements/), page.keyboard.press("n")]);
  await page.locator(".judge-n[aria-pressed=true]").waitFor();
  await Promise.all([page.waitForResponse(/api\/judgements/), page.keyboard.press("y")]);
  await page.locator(".judge-y[aria-pressed=true]").waitFor();
  await shown("Measure").click();
  await page.getByRole("button", { name: "Measure my 2 questions" }).click();
  await page.locator("#quality-result table").first().waitFor();
  assert.match(await page.locator("#quality-status").textContent(), /^2 questions over 5 files: NDCG@10 by file 1\.00/);
  assert.equal(await page.locator(".asked > li").count(), 2);
});

await check("questions of a file are measured; a saved result is shown, and says why one failed", async () => {
  await fresh("#view=quality");
  const open = (told) => page.locator("#quality-file").setInputFiles({ name: "file.json", mimeType: "application/json", buffer: Buffer.from(JSON.stringify(told)) });
  const queries = [{ query: "read all lines of a file", relevant: [{ path: "Hostile<img src=x onerror=window.hurt=1>.java" }] }, { query: "count words", relevant: [{ path: "io/Lines.java" }] }];
  const [answer] = await Promise.all([page.waitForResponse(/api\/quality/), open({ mine: { queries }, other: { queries } }).then(() => page.getByRole("button", { name: "mine" }).click())]);
  await page.locator("#quality-result table").first().waitFor();
  const failed = page.locator(".asked details").first();
  assert.match(await failed.innerText(), /0\.00\s+failed\s+read all lines of a file[^]*not indexed[^]*Before it:[^]*io\/Lines\.java read \(/);
  const result = await answer.json();
  await fresh("#view=quality");
  await open(result);
  await page.locator("#quality-result table").first().waitFor();
  assert.equal(await page.evaluate(() => window.hurt), undefined);
  await open([3]);
  await page.getByRole("alert").filter({ hasText: "is neither a file of questions" }).waitFor();
});

await check("posts are found for an error", async () => {
  await fresh();
  await shown("Posts").click();
  await page.getByRole("textbox", { name: "Code, its error, or both" }).fill('x3 = open(name3)\nTraceback (most recent call last):\n  File "a.py", line 1, in <module>\nFileNotFoundError: name3');
  await page.getByRole("button", { name: "Find posts" }).click();
  const post = page.locator("#posts-hits .hit").first();
  await post.waitFor();
  for (const part of ["Title 3", "FileNotFoundError", "Check that name3 exists.", "CC BY-SA 3.0", "question by ", "answer by "]) assert.ok((await post.innerText()).includes(part), part);
  assert.match(await post.getByRole("link").getAttribute("href"), /^https:\/\/a\.example\/questions\/3/);
});

for (const colorScheme of ["light", "dark"]) {
  await check(`every text has enough contrast: ${colorScheme}`, async () => {
    await page.emulateMedia({ colorScheme });
    for (const hash of ["#q=read all lines of a file", "", "#q=zzzz qqqq", "#view=file&file=io/Lines.java&lines=8-19", "#view=code", "#view=quality", "#view=posts"]) {
      await fresh(hash);
      if (hash.includes("read")) {
        await head(lines).click();
        await page.locator(".matrix").waitFor();
        await page.locator(".chip", { hasText: /^read$/ }).hover();
        await page.waitForTimeout(250);
        await page.screenshot({ path: `${folder}/${colorScheme}.png`, fullPage: true });
      }
      const { seen, weak } = await page.evaluate(weakTexts);
      assert.ok(seen > 3);
      assert.deepEqual(weak, []);
    }
    const ground = await page.evaluate(() => getComputedStyle(document.body).backgroundColor.match(/\d+/g).map(Number));
    assert.equal(ground[0] > 128, colorScheme === "light");
  });
}

await check("a phone's width is enough", async () => {
  await page.setViewportSize({ width: 360, height: 740 });
  const wide = () => page.evaluate(() => [document.scrollingElement.scrollWidth, innerWidth]);
  await fresh();
  assert.deepEqual(await wide(), [360, 360]);
  await query.fill("escape markup read all lines of a file");
  await head("Hostile.escapeMarkup").waitFor();
  assert.deepEqual(await wide(), [360, 360]);
  for (const name of ["Hostile.escapeMarkup", lines]) {
    await head(name).click();
    await page.locator(".hit.open", { hasText: name }).locator("summary").last().click();
  }
  await page.locator(".hit.open .usages summary").last().click();
  await page.locator(".hit.open .used .said", { hasText: "by name, not by type" }).first().waitFor();
  await page.screenshot({ path: `${folder}/phone.png`, fullPage: true });
  assert.deepEqual(await wide(), [360, 360]);
});

await check("nothing else was asked of anybody, and nothing went wrong", async () => {
  assert.deepEqual(outside, []);
  assert.deepEqual(complaints, []);
  assert.ok(asked.length > 20);
});

await browser.close();
