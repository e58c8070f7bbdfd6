import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import { LANGUAGES } from "../src/core/languages.ts";

interface Manifest {
  readonly activationEvents: readonly string[];
  readonly dependencies?: object;
  readonly contributes: {
    readonly commands: readonly { readonly command: string }[];
    readonly configuration: {
      readonly properties: Readonly<Record<string, { readonly scope?: string; readonly default: unknown }>>;
    };
  };
}

const manifest = JSON.parse(readFileSync("package.json", "utf8")) as Manifest;
const sources = readdirSync("src", { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".ts"));
const read = (name: string): string => readFileSync(join("src", name), "utf8");

test("it is activated by the languages that there are", () => {
  assert.deepEqual(
    [...manifest.activationEvents].sort(),
    Object.keys(LANGUAGES)
      .map((name) => `onLanguage:${name}`)
      .sort(),
  );
});

test("no workspace sets which program is started, and where code is sent", () => {
  const { properties } = manifest.contributes.configuration;
  for (const name of ["command", "startServer", "host", "port", "allowOtherHost", "timeoutSeconds"]) {
    assert.equal(properties[`neuralCodeSearch.${name}`]?.scope, "machine", name);
  }
  assert.equal(properties["neuralCodeSearch.host"]?.default, "127.0.0.1");
  assert.equal(properties["neuralCodeSearch.allowOtherHost"]?.default, false);
  assert.equal(properties["neuralCodeSearch.startServer"]?.default, "ask");
});

test("every setting is read, and every setting that is read is declared", () => {
  const names = Object.keys(manifest.contributes.configuration.properties).map((name) =>
    name.replace("neuralCodeSearch.", ""),
  );
  const used = [...read("settings.ts").matchAll(/(?:get|whole)(?:<\w+>)?\("(\w+)"/g)].map((found) => found[1]);
  assert.deepEqual([...new Set(used)].sort(), names.sort());
});

test("the core runs without VS Code, and only the client uses the network", () => {
  for (const name of sources) {
    if (name.startsWith("core")) assert.doesNotMatch(read(name), /from "vscode"/, name);
    if (!name.endsWith("client.ts"))
      assert.doesNotMatch(read(name), /node:(?:https?|net|tls|dgram)|\bfetch\(|WebSocket|XMLHttpRequest/, name);
    assert.doesNotMatch(read(name), /\beval\(|new Function|innerHTML|TelemetryLogger/, name);
  }
  assert.equal(manifest.dependencies, undefined);
});

/** What shows no text by VS Code's own means, which would make links and icons of it. */
const SHOWS_NO_TEXT = new Set([
  "activeTextEditor",
  "createOutputChannel",
  "createWebviewPanel",
  "showTextDocument",
  "visibleTextEditors",
]);

test("what VS Code shows goes through one module, which makes each text plain", () => {
  for (const name of sources) {
    const source = read(name);
    const markdown = /\b(?:MarkdownString|MarkedString|Hover|supportThemeIcons|enableCommandUris|isTrusted =)\b/;
    assert.doesNotMatch(source, markdown, name);
    assert.doesNotMatch(source, /\[["'`](?:window|show|with|set)/, name);
    for (const [line] of source.matchAll(/^.*(?:from|import|require)\W*["']vscode["'].*$/gm))
      assert.equal(line, 'import * as vscode from "vscode";', name);
    if (name === "telling.ts") continue;
    for (const [used, member] of source.matchAll(/\bwindow\b(?:\.(\w+))?/g))
      if (!name.startsWith("panel")) assert.ok(SHOWS_NO_TEXT.has(member ?? ""), `${name}: ${used}`);
  }
  const telling = read("telling.ts");
  const calls = [...telling.matchAll(/\bvscode\.window\.\w+\((?<shown>[^\n]*)/g)];
  assert.ok(calls.length >= 7);
  for (const { groups } of calls)
    assert.match(
      groups?.["shown"] ?? "",
      /^(?:notice\(|items\.map\(plainItem\), \{ placeHolder: notice\(|\{ prompt: notice\(|options, )/,
    );
  assert.match(telling, /Notification, title: notice\(title\)/);
});
