// Uses the extension in an editor as a person does, and prints "ok NAME" for each check. Screenshots and logs stay in
// the folder `work`.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { answering, freePort, openPage, startEditor, started } from "./editor.mjs";
import { withHostileServer } from "./hostile.mjs";
import { Person, SLOWER } from "./person.mjs";

/** A file a language with something above the query, and what is asked. */
const ASKED = {
  python: [
    "fetch.py",
    "import requests\n\n\ndef names(response):\n    return list(response.headers)\n\n\n",
    "# search: parse the link header",
    "Python",
  ],
  java: [
    "Upload.java",
    "import java.io.File;\nimport java.io.InputStream;\n\nclass Upload {\n",
    "// Search : copy a stream to a file",
    "Java",
  ],
  javascript: ["jobs.js", 'const async = require("async");\n\n', "//search: run tasks with a limit", "JavaScript"],
  go: [
    "main.go",
    'package main\n\nimport "github.com/spf13/afero"\n\n',
    "//  SEARCH: walk all files below a folder",
    "Go",
  ],
};
/** How long results may take; a machine that does much else at the time needs more. */
const SECONDS = Number(process.env.GALM_EDITOR_SECONDS || 2);
const query = (comment) => comment.replace(/.*?: */, "");

/** All checks; the exit status. */
export async function check({ chromium, entry, vsix, root, python, work }) {
  const sample = join(work, "sample");
  const other = join(work, "other");
  const env = {
    ...process.env,
    GALM_PYTHON: python,
    XDG_CACHE_HOME: join(work, "xdg-cache"),
    XDG_DATA_HOME: join(work, "xdg-data"),
  };
  Object.assign(process.env, env); // for the editor, and the server that it starts
  const search = [join(root, "run.sh")];
  execFileSync("bash", [...search, "index", sample], { env, stdio: "inherit" });
  for (const [file, above] of Object.values(ASKED)) writeFileSync(join(sample, file), above);
  mkdirSync(other);
  cpSync(join(sample, "python", "requests"), join(other, "requests"), { recursive: true });
  writeFileSync(join(other, ASKED.python[0]), ASKED.python[1]);

  const port = await freePort();
  const base = `http://127.0.0.1:${port}`;
  const settings = {
    "neuralCodeSearch.port": port,
    "neuralCodeSearch.command": ["bash", ...search],
    "neuralCodeSearch.timeoutSeconds": Math.min(300, Math.ceil(20 * SLOWER)),
  };
  const editor = await startEditor({ entry, vsix, folder: work, settings });
  const serve = () =>
    started("bash", [...search, "serve", `--port=${port}`], { env, cwd: sample }, join(work, "server.log"));
  const running = [editor.child];
  let opened;
  try {
    opened = await openPage(chromium, editor.port, sample);
    const person = new Person(opened.page, join(work, "screenshots"));
    await inSample(person, base);
    await withServers(person, base, () => running[running.push(serve()) - 1], editor.set);
    await withHostileServer(person, ASKED.python[0], editor.set);
    editor.set({ "neuralCodeSearch.startServer": "always" });
    await opened.open(other);
    await inOther(person, other);
    assert.deepEqual(opened.outside, [], "the editor asked other machines");
    console.log(`all checks passed; screenshots and logs: ${work}`);
    return 0;
  } catch (error) {
    await opened?.page.screenshot({ path: join(work, "failed.png") });
    console.error(`${error.stack}\nlogs and failed.png: ${work}`);
    return 1;
  } finally {
    await opened?.browser.close();
    for (const child of running) child.stop();
  }
}

/** No server runs at first; the extension starts one after it has asked. */
async function inSample(person, base) {
  await person.check("without a server the user is asked before one is started", async () => {
    await person.open(ASKED.python[0]);
    await person.command("Code Search: Stop the Server"); // so that the extension is active when something is typed
    await person.notification(/has not started a search server/, 90_000);
    await person.typeLine(ASKED.python[2]);
    await person.notification(/No search server answers at .* Start it/);
    await person.shot("consent");
    await assert.rejects(fetch(`${base}/health`));
    await person.answer("Start");
    await person.results(`15 examples of Python: ${query(ASKED.python[2])}`, 90_000 * SLOWER);
  });
  for (const [file, , comment, title] of Object.values(ASKED)) {
    await person.check(`${title}: Enter after the comment shows 15 results in under ${SECONDS} s`, async () => {
      await person.open(file);
      const took = [];
      for (const more of [" first", " again"]) {
        const started = await person.typeLine(comment, more);
        await person.results(`15 examples of ${title}: ${query(comment)}${more}`);
        took.push(Date.now() - started);
      }
      console.log(`   ${took.join(" and ")} ms from Enter to the results`);
      assert.ok(Math.min(...took) < 1000 * SECONDS);
      assert.deepEqual(await person.lenses(), [
        "User Feedback Form",
        "What Aligned",
        "Goto Source",
        "Copy",
        "Insert",
        "What Aligned",
      ]);
      await person.sees("with the text above the query");
      await person.shot(title.toLowerCase());
    });
  }
  await person.check("the last of the results is the fifteenth", async () => {
    await person.toEnd();
    await person.upTo("Example 15 of 15");
    await person.toStart();
  });
  await person.check("a comment without a query and one in a string ask for nothing", async () => {
    await person.open(ASKED.go[0]);
    await person.typeLine("// search:");
    await person.write("\nvar text = `\n");
    await person.typeLine("// search: not this");
    await person.write("`\n");
    await person.wait(1500);
    await person.results(`15 examples of Go: ${query(ASKED.go[2])} again`);
  });
  await person.check("Copy puts the code into the clipboard", async () => {
    await person.lens("Copy");
    await person.sees("Copied");
    assert.match(await person.clipboard(), /^func .*\n[^]*}\s*$/);
  });
  await person.check("Insert writes the code with its source and licence at the cursor", async () => {
    await person.open(ASKED.go[0]);
    await person.lens("Insert");
    await person.sees(/^\/\/\sSource:\sgo\/.*,\sLicense:\sApache-2\.0$/);
    await person.shot("inserted");
  });
  await person.check("a judgement is saved by the server, and taken back", async () => {
    const judged = async () => (await (await fetch(`${base}/api/judgements`)).json()).queries;
    await person.thumb("up");
    await person.sees("Judgement of example 1 saved: relevant");
    const [saved] = await judged();
    assert.equal(saved.query, `${query(ASKED.go[2])} again`);
    assert.match(saved.relevant[0].path, /^go\/.*\.go$/);
    await person.thumb("up-filled");
    await person.sees("Judgement of example 1 taken back");
    assert.deepEqual(await judged(), []);
  });
  await person.check("the feedback form takes all examples at once", async () => {
    await person.lens("User Feedback Form");
    await person.tick(2);
    await person.sees("Judgements saved: 2 of 15 examples relevant");
    const [saved] = (await (await fetch(`${base}/api/judgements`)).json()).queries;
    assert.deepEqual([saved.relevant.length, saved.irrelevant.length], [2, 13]);
  });
  await person.check("the panel shows what aligned", async () => {
    await person.lens("What Aligned");
    const panel = person.panel();
    await panel.locator("article .words:not([hidden])").first().waitFor();
    assert.match(await panel.locator(".words").first().innerText(), /files → .*\b0\.\d\d \(\w+\)/);
    assert.ok((await panel.locator("mark.strong, mark.middle, mark.weak").count()) > 0);
    assert.equal(await panel.locator("article").count(), 15);
    await panel.locator("article").nth(1).getByRole("button", { name: "What Aligned" }).click();
    await panel.locator("article").nth(1).locator(".words:not([hidden])").waitFor();
    await panel
      .locator("article")
      .nth(1)
      .getByRole("button", { name: "Relevant", exact: true, pressed: true })
      .waitFor();
    await person.shot("panel");
    await person.closeTab(/^Results of Go/);
  });
  await person.check("Goto Source shows the file at the function", async () => {
    await person.open(ASKED.java[0]);
    await person.typeLine("// search: read all lines of a file");
    await person.results("15 examples of Java: read all lines of a file");
    await person.lens("Goto Source");
    await person.tab(/\.java$/, { selected: true });
    await person.sees(/Ln [1-9]\d+, Col 1\b/);
    await person.shot("source");
  });
  await person.check("the command takes the selected text, and a typed query", async () => {
    await person.open(ASKED.python[0]);
    await person.press("Control+Home", "Shift+ArrowDown", "Control+K", "Q");
    await person.results("15 examples of Python: import requests");
    await person.press("Control+End", "Control+K", "Q");
    await person.typeText("send a request through a proxy", "Enter");
    await person.results("15 examples of Python: send a request through a proxy");
  });
}

/** A server that is ended, one that dies while the editor waits, and hosts that are not this machine. */
async function withServers(person, base, serve, set) {
  await person.check("the server that the extension has started is stopped by its command", async () => {
    await person.command("Code Search: Stop the Server");
    await person.notification(/was stopped/);
    for (let left = 50; await fetch(`${base}/health`).catch(() => undefined); left -= 1) {
      assert.ok(left > 0, "it still answers");
      await person.wait(100);
    }
  });
  await person.check("a server that dies while the editor waits is one sentence", async () => {
    const server = serve();
    await answering(`${base}/health`, 60_000);
    process.kill(-server.pid, "SIGSTOP");
    await person.open(ASKED.python[0]);
    await person.typeLine("# search: open a session");
    await person.notification(/Searching for code/);
    server.stop();
    await person.notification(/The server ended before it answered: search again/);
    await person.shot("died");
  });
  await person.check("nothing is sent to another host that is not allowed", async () => {
    set({ "neuralCodeSearch.host": "search.example.com" });
    await person.open(ASKED.python[0]);
    await person.typeLine("# search: close a session");
    await person.notification(/Nothing was sent: search\.example\.com is not this machine/);
  });
}

/** A folder without an index, which the server makes that the extension starts; it has no Go. */
async function inOther(person, folder) {
  await person.check("a folder without an index is indexed by the server that is started", async () => {
    await person.open(ASKED.python[0]);
    await person.command("Code Search: Stop the Server"); // so that the extension of the new window is active
    await person.notification(/has not started a search server/, 90_000);
    await person.typeLine(ASKED.python[2]);
    await person.results(`15 examples of Python: ${query(ASKED.python[2])}`, 60_000 * SLOWER);
    await person.shot("first-index");
  });
  await person.check("a language that the index does not have is one sentence", async () => {
    mkdirSync(join(folder, "dist")); // which is not indexed
    writeFileSync(join(folder, "dist", "built.go"), ASKED.go[1]);
    await person.open("built.go");
    await person.typeLine(ASKED.go[2]);
    await person.notification(/The index has no Go, but Python\. This folder has no other Go file/);
    await person.shot("no-language");
    await person.dismiss();
    writeFileSync(join(folder, "other.go"), "package main\n\nfunc other() {}\n");
    await person.typeLine(ASKED.go[2], " now");
    await person.sees(/\d+\sexamples?\sof\sGo/); // the server reads a new file before it says that there is none
  });
}
