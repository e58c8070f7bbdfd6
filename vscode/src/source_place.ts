// Where a result stands: in a file of this machine, or else at its permanent link.

import * as vscode from "vscode";

import type { Spot } from "./core/answers.ts";
import { filesOf, lineOf } from "./core/places.ts";
import { safeUrl } from "./core/plain.ts";
import { warning } from "./telling.ts";

/** Show the source of a result, in a folder of the workspace or in `indexed`, the folder that the server names. */
export async function gotoSource(result: Spot, indexed: string, from: vscode.Uri | undefined): Promise<void> {
  const folders = (vscode.workspace.workspaceFolders ?? []).map(({ uri }) => uri);
  if (from) folders.push(vscode.Uri.joinPath(from, ".."));
  for (const folder of folders.filter(({ scheme }) => scheme === "file")) {
    for (const place of await filesOf(folder.fsPath, result.path, indexed)) {
      if (await showed(vscode.Uri.file(place), result)) return;
    }
  }
  const url = safeUrl(result.url);
  if (url) await vscode.env.openExternal(vscode.Uri.parse(url, true));
  else void warning(`The file of this result, ${result.path || "which is not known"}, is not in this workspace.`);
}

/** Show a file at a result, if it has it. */
async function showed(uri: vscode.Uri, result: Spot): Promise<boolean> {
  let document: vscode.TextDocument;
  try {
    document = await vscode.workspace.openTextDocument(uri);
  } catch {
    return false; // it is no text
  }
  const line = lineOf(document.getText(), result.code, result.startLine - 1);
  if (line < 0) return false;
  const last = Math.min(line + result.code.split(/\r\n|\r|\n/).length, document.lineCount) - 1;
  const range = new vscode.Range(line, 0, last, document.lineAt(last).text.length);
  const editor = await vscode.window.showTextDocument(document, { viewColumn: vscode.ViewColumn.One, preview: true });
  editor.selection = new vscode.Selection(range.start, range.start);
  editor.revealRange(range, vscode.TextEditorRevealType.InCenterIfOutsideViewport);
  return true;
}
