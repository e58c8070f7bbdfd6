// A server that answers with what VS Code would take for links that run commands.

import assert from "node:assert/strict";
import { createServer } from "node:http";

const LINK = "[Open it](command:workbench.action.terminal.sendSequence?%7B%22text%22%3A%22touch%20X%5Cn%22%7D)";
const RESULT = { code: "x = 1", identifier: LINK, path: `${LINK}.py`, start_line: 1, end_line: 1, license: LINK };
const FOUND = { language: "python", model: "base", folder: "/", results: Array(1000).fill(RESULT) };

/** `file`: one in Python; `set` changes the extension's settings. */
export async function withHostileServer(person, file, set) {
  let [status, body] = [200, FOUND];
  const server = createServer((request, response) => {
    request.resume();
    response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  set({ "neuralCodeSearch.port": server.address().port });
  try {
    await person.check("the name of a result's file is no link in a notification", async () => {
      await person.open(file);
      await person.typeLine("# search: a name");
      await person.results("15 examples of Python: a name");
      await person.lens("Goto Source");
      await person.notification(/The file of this result, \[?Open it/);
      await person.shot("hostile");
      assert.equal(await person.links(), 0);
    });
    await person.check("nor is what a server says of an error", async () => {
      [status, body] = [500, { error: LINK }];
      await person.open(file);
      await person.typeLine("# search: an error");
      await person.notification(/The server could not answer \(status 500: .*Open it/);
      assert.equal(await person.links(), 0);
    });
  } finally {
    server.close();
  }
}
