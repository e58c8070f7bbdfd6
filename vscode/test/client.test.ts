import assert from "node:assert/strict";
import { connect } from "node:net";
import { test } from "node:test";

import { addressOf } from "../src/core/address.ts";
import { Client, ServerError } from "../src/core/client.ts";
import { answers, asked, type Handler } from "./answering.ts";
import { result } from "./samples.ts";

const QUESTION = { query: "read lines", context: "import json\n", language: "python", top: 15 };
const ROW = {
  rank: 1,
  row: 3,
  identifier: "f",
  code: "x",
  path: "a.py",
  start_line: 1,
  end_line: 2,
  url: "",
  license: "MIT",
  score: 0.5,
};
const FOUND = { language: "python", model: "context", took_ms: 1.5, index: "abc", results: [ROW] };

/** That a search fails in one sentence. */
async function fails(client: Client, kind: ServerError["kind"], said: RegExp, signal?: AbortSignal): Promise<void> {
  await assert.rejects(client.search(QUESTION, signal), (error: unknown) => {
    assert.ok(error instanceof ServerError, String(error));
    assert.match(error.message, said);
    assert.doesNotMatch(error.message, /\n/);
    assert.equal(error.kind, kind);
    return true;
  });
}

test("a search is what the API takes, and its answer is read", async () => {
  let seen: unknown;
  const handler: Handler = (request, body, response) => {
    seen = { method: request.method, url: request.url, host: request.headers.host, body: JSON.parse(body) as unknown };
    answers(200, FOUND)(request, body, response);
  };
  await asked(handler, async (client, port) => {
    const found = await client.search(QUESTION);
    assert.deepEqual(seen, { method: "POST", url: "/api/search", host: `127.0.0.1:${port}`, body: QUESTION });
    assert.equal(found.query, "read lines");
    assert.deepEqual([found.model, found.milliseconds, found.index], ["context", 1.5, "abc"]);
    const { path, startLine, endLine, row, score } = found.results[0] ?? assert.fail("no result");
    assert.deepEqual([path, startLine, endLine, row, score], ["a.py", 1, 2, 3, 0.5]);
  });
});

test("halves of characters are not sent", async () => {
  let body = "";
  await asked(
    (request, sent, response) => answers(200, FOUND)(request, (body = sent), response),
    async (client) => {
      await client.search({ ...QUESTION, query: "a\ud800 \\ud800", context: "\udc00😀\n" });
    },
  );
  assert.deepEqual(JSON.parse(body), { ...QUESTION, query: "a\ufffd \\ud800", context: "\ufffd😀\n" });
});

test("a judgement and a question for an explanation", async () => {
  const seen: string[] = [];
  const handler: Handler = (request, body, response) => {
    seen.push(`${request.method} ${request.url} ${body}`);
    answers(200, { query: [], code: [], spans: [] })(request, body, response);
  };
  await asked(handler, async (client) => {
    await client.judge("read lines", result(), null);
    const { pieces } = await client.explain("a&b=ü", "abc", result());
    assert.deepEqual(pieces, [{ text: result().code, word: "" }]);
  });
  const judged = '{"query":"read lines","path":"src/lines.py","start_line":8,"end_line":9,"relevant":null}';
  assert.deepEqual(seen, [`POST /api/judgements ${judged}`, "GET /api/explain?q=a%26b%3D%C3%BC&row=3&index=abc "]);
});

test("a question for usages", async () => {
  let url = "";
  const handler: Handler = (request, body, response) =>
    answers(200, { text: "none", files: [] })(request, body, ((url = request.url ?? ""), response));
  await asked(handler, async (client) => {
    assert.deepEqual(await client.usages("A::b&c=\ud800", 9), { text: "none", notice: "", usages: [] });
  });
  assert.equal(url, "/api/usages?name=A%3A%3Ab%26c%3D%EF%BF%BD&top=9");
});

const STATUSES: readonly [number, ServerError["kind"], RegExp][] = [
  [400, "refused", /^The server refused the search: why\.$/],
  [404, "refused", /older than this extension, or another program \(status 404: why\)\.$/],
  [409, "refused", /^The index was replaced since: search again\.$/],
  [413, "refused", /too long for the server: lower neuralCodeSearch\.contextKilobytes \(why\)\.$/],
  [500, "refused", /could not answer \(status 500: why\)\.$/],
  [503, "busy", /opening its index: search again in a moment \(why\)\.$/],
];

test("each status is one sentence", async () => {
  for (const [status, kind, said] of STATUSES) {
    await asked(answers(status, { error: "why" }), (client) => fails(client, kind, said));
  }
  const lacking = { error: "the index has no go, but java, javascript, markdown" };
  await asked(answers(400, lacking), (client) =>
    fails(client, "lacking", /^The index has no Go, but Java, JavaScript, markdown\.$/),
  );
  await asked(answers(400, { error: "two\nlines \u202e" }), (client) => fails(client, "refused", /: two lines\.$/));
});

test("answers of another program are refused", async () => {
  const others: readonly [unknown, RegExp][] = [
    ["<!DOCTYPE html>", /is not this search's server: /],
    [{}, /is not this search's server: it has no results\.$/],
    [{ results: [{ rank: 1 }] }, /is not this search's server: a result has no code\.$/],
    ["", /is not this search's server: /],
  ];
  for (const [body, said] of others) await asked(answers(200, body), (client) => fails(client, "broken", said));
  const elsewhere: Handler = (_request, _body, response) =>
    void response.writeHead(302, { location: "http://example.com/" }).end("{}");
  await asked(elsewhere, (client) => fails(client, "refused", /status 302/));
});

test("no server, one that ends, one that is late, and a cancelled search", async () => {
  let free = 0;
  await asked(answers(200, FOUND), async (_, port) => void (free = port));
  await fails(
    new Client(addressOf("127.0.0.1", free, false), 5000),
    "absent",
    /^No search server answers at http:\/\/127\.0\.0\.1:\d+\.$/,
  );
  await asked(
    (request) => void request.socket.destroy(),
    (client) => fails(client, "ended", /^The server ended before it answered: search again\.$/),
  );
  const half: Handler = (request, _body, response) => {
    response.writeHead(200, { "content-length": 100 }).write("{", () => request.socket.destroy());
  };
  await asked(half, (client) => fails(client, "ended", /ended before it answered/));
  const silent: Handler = () => undefined;
  await asked(silent, (client) => fails(client, "late", /did not answer within 0\.2 seconds\.$/), 200);
  await asked(silent, async (client) => {
    const abort = new AbortController();
    setTimeout(() => abort.abort(), 50);
    await fails(client, "cancelled", /cancelled/, abort.signal);
    await fails(client, "cancelled", /cancelled/, abort.signal);
  });
});

test("a server that drips is late as well", async () => {
  const drips: Handler = (_request, _body, response) => {
    response.writeHead(200);
    const timer = setInterval(() => response.write(" "), 20);
    response.on("close", () => clearInterval(timer));
  };
  await asked(drips, (client) => fails(client, "late", /did not answer within/), 300);
});

test("an answer without end is not read to its end", async () => {
  const endless: Handler = (_request, _body, response) => {
    const more = (): void => void (response.writable && response.write(Buffer.alloc(1 << 20, 32), more));
    more();
  };
  await asked(endless, (client) => fails(client, "broken", /too large/), 20_000);
});

test("whether a server is ready", async () => {
  await asked(answers(200, { status: "ok" }), async (client) => assert.equal(await client.readiness(), "ready"));
  const whole = { status: "ok", indexing: "" };
  await asked(answers(200, whole), async (client) => assert.equal(await client.readiness(), "ready"));
  const part = { status: "ok", indexing: "3 of 19 files are indexed so far" };
  await asked(answers(200, part), async (client) => assert.equal(await client.readiness(), "indexing"));
  await asked(answers(503, { error: "opening" }), async (client, port) => {
    assert.equal(await client.readiness(), "absent");
    await new Promise<void>((resolve) =>
      connect(port, "127.0.0.1")
        .end()
        .on("close", () => resolve())
        .resume(),
    );
  });
  const ended: Handler = (request) => void request.socket.destroy();
  await asked(ended, async (client) => assert.equal(await client.readiness(), "absent"));
  const silent: Handler = () => undefined;
  await asked(silent, async (client) => assert.equal(await client.readiness(), "absent"), 200);
  await asked(silent, async (client) => {
    const abort = new AbortController();
    setTimeout(() => abort.abort(), 50);
    await assert.rejects(client.readiness(abort.signal), /cancelled/);
  });
  await asked(answers(200, "hello"), (client) => assert.rejects(client.readiness(), /is not this search's server/));
});
