// From a comment, a selection or a typed query to the document of results.

import * as vscode from "vscode";

import type { Answer } from "./core/answers.ts";
import { ServerError } from "./core/client.ts";
import { contextOf } from "./core/context.ts";
import { lackingFailure } from "./core/failure.ts";
import { hasOtherFile } from "./core/folder_files.ts";
import { BY_NAME, type Language, languageOf } from "./core/languages.ts";
import { doubt } from "./core/results_document.ts";
import { isEnter, queryBelow, queryOf } from "./core/trigger.ts";
import { ResultsView, SCHEME, shownOf } from "./results_view.ts";
import { folderNear, type Server } from "./server.ts";
import * as settings from "./settings.ts";
import { briefly, chosen, typed, withProgress } from "./telling.ts";

/** How long it is said that an answer is not certain, or may be old. */
const DOUBT_MILLISECONDS = 10_000;

export interface Searching {
  readonly server: Server;
  readonly view: ResultsView;
}

/** What is searched for, and from where. */
interface Wanted {
  readonly query: string;
  readonly language: Language;
  readonly context: string;
  readonly from: vscode.Uri | undefined;
}

/** Search if a change is Enter at the end of a comment that asks for code. */
export async function searchByComment(searching: Searching, event: vscode.TextDocumentChangeEvent): Promise<void> {
  const { document, contentChanges, reason } = event;
  const [change] = contentChanges;
  const language = languageOf(document.languageId);
  if (!change || contentChanges.length > 1 || reason !== undefined || !language || document.uri.scheme === SCHEME)
    return;
  if (document !== vscode.window.activeTextEditor?.document || !settings.triggers()) return;
  const line = change.range.start.line;
  if (line >= document.lineCount || !isEnter(change.text, language)) return;
  const text = document.lineAt(line).text;
  if (!queryOf(text, language)) return;
  const context = above(document, line);
  const query = queryBelow(context, text, language);
  if (query) await search(searching, { query, language, context, from: document.uri });
}

/** Search for the selected text, for the comment at the cursor, or for what the user types. */
export async function searchByCommand(searching: Searching): Promise<void> {
  const editor = vscode.window.activeTextEditor;
  const language = (editor && languageOf(editor.document.languageId)) ?? (await chosenLanguage());
  if (!language) return;
  const line = editor?.selection.start.line ?? 0;
  const own = editor && editor.document.uri.scheme !== SCHEME ? editor : undefined;
  const selected = own?.document.getText(own.selection).trim();
  const asked = selected || (own && queryOf(own.document.lineAt(line).text, language)) || (await typedQuery());
  if (!asked) return;
  const context = own && languageOf(own.document.languageId)?.name === language.name ? above(own.document, line) : "";
  await search(searching, { query: asked, language, context, from: own?.document.uri });
}

async function search({ server, view }: Searching, { query, language, context, from }: Wanted): Promise<void> {
  const near = contextOf(context, settings.contextBytes());
  const question = { query, context: near, language: language.name, top: settings.numberOfResults() };
  try {
    const answer = await withProgress("Searching for code", (signal): Promise<Answer> =>
      server.ask((client) => client.search(question, signal), from, signal),
    );
    await view.show(shownOf(answer, language, from));
    const said = [doubt(answer), answer.notice].filter(Boolean).join("; ");
    if (said) briefly(said, DOUBT_MILLISECONDS);
  } catch (error) {
    if (!(error instanceof ServerError) || error.kind !== "lacking") throw error;
    throw lackingFailure(error.message, language.title, await hasOthers(language, from));
  }
}

/** Whether the folder that can be indexed has files of a language beside `from`; undefined: it is not known. */
async function hasOthers({ suffixes }: Language, from: vscode.Uri | undefined): Promise<boolean | undefined> {
  const folder = folderNear(from);
  if (!settings.address().local || !vscode.workspace.isTrusted || folder?.scheme !== "file") return undefined;
  return hasOtherFile(folder.fsPath, suffixes, from?.fsPath ?? "");
}

/** The text above a line. */
function above(document: vscode.TextDocument, line: number): string {
  return document.getText(new vscode.Range(0, 0, line, 0));
}

async function chosenLanguage(): Promise<Language | undefined> {
  const all = Object.values(BY_NAME).map((language) => ({ label: language.title, language }));
  return (await chosen(all, "Language of the code that is searched"))?.language;
}

async function typedQuery(): Promise<string | undefined> {
  return (await typed("What should the code do?", "read all lines of a file"))?.trim();
}
