// Who uses the name at the cursor: a list of lines, of which one is shown in its file.

import * as vscode from "vscode";

import type { Usage } from "./core/answers.ts";
import { oneLine } from "./core/plain.ts";
import type { Server } from "./server.ts";
import { gotoSource } from "./source_place.ts";
import { chosen, information, typed, withProgress } from "./telling.ts";

/** Usages that are listed, at most. */
const MOST = 500;

/** List who calls or mentions the selected name, that at the cursor, or what the user types; show the chosen place. */
export async function showUsages(server: Server): Promise<void> {
  const editor = vscode.window.activeTextEditor;
  const name = (editor && nameAt(editor)) || (await typed("Whose usages?", "Type.method"))?.trim();
  if (!name) return;
  const from = editor?.document.uri;
  const found = await withProgress("Searching for usages", (signal) =>
    server.ask((client) => client.usages(name, MOST, signal), from, signal),
  );
  const said = [oneLine(found.text), oneLine(found.notice)].filter(Boolean).join("; ");
  if (!found.usages.length) return void information(`${said || "nothing found"}.`);
  const usage = (await chosen(found.usages.map(itemOf), said))?.usage;
  if (usage) await gotoSource(usage, "", from);
}

function nameAt({ document, selection }: vscode.TextEditor): string {
  const range = selection.isEmpty ? document.getWordRangeAtPosition(selection.active) : selection;
  return range ? document.getText(range).trim() : "";
}

/** A line of the list, with its place and what is around it. */
function itemOf(usage: Usage): vscode.QuickPickItem & { usage: Usage } {
  const { kind, path, startLine, around, shown } = usage;
  const told = [kind === "call" ? "" : kind, `${oneLine(path)}:${startLine}`, oneLine(around, 100)];
  return { label: oneLine(shown, 200) || path, description: told.filter(Boolean).join("  "), usage };
}
