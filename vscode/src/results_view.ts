// The document of results beside the editor, with what can be done with each result above it.

import * as vscode from "vscode";

import type { Answer } from "./core/answers.ts";
import type { Language } from "./core/languages.ts";
import { type ResultsDocument, resultsDocument } from "./core/results_document.ts";

export const SCHEME = "neural-code-search";

/** An answer as it is shown. */
export interface Shown {
  readonly answer: Answer;
  readonly language: Language;
  readonly document: ResultsDocument;
  /** The file from which was searched, if it was one. */
  readonly from: vscode.Uri | undefined;
  /** Number of a result -> whether it was judged relevant. */
  readonly judged: Map<number, boolean>;
}

export function shownOf(answer: Answer, language: Language, from: vscode.Uri | undefined): Shown {
  return { answer, language, document: resultsDocument(answer, language), from, judged: new Map() };
}

export class ResultsView implements vscode.TextDocumentContentProvider, vscode.CodeLensProvider {
  private readonly all = new Map<string, Shown>();
  private readonly changed = new vscode.EventEmitter<vscode.Uri>();
  private readonly lensesChanged = new vscode.EventEmitter<void>();
  readonly onDidChange = this.changed.event;
  readonly onDidChangeCodeLenses = this.lensesChanged.event;

  /** Show an answer beside the editor, which keeps the focus; it replaces the last one of its language. */
  async show(shown: Shown): Promise<void> {
    const uri = vscode.Uri.from({ scheme: SCHEME, path: `/Search${shown.language.suffixes[0]}` });
    this.all.set(uri.toString(), shown);
    this.changed.fire(uri);
    this.refresh();
    const document = await vscode.workspace.openTextDocument(uri);
    const column = visibleColumn(uri) ?? vscode.ViewColumn.Beside;
    const editor = await vscode.window.showTextDocument(document, {
      viewColumn: column,
      preserveFocus: true,
      preview: false,
    });
    editor.revealRange(new vscode.Range(0, 0, 0, 0), vscode.TextEditorRevealType.AtTop);
  }

  /** What the document of a URI shows. */
  of(uri: string): Shown | undefined {
    return this.all.get(uri);
  }

  /** Show the lenses as they are now. */
  refresh(): void {
    this.lensesChanged.fire();
  }

  provideTextDocumentContent(uri: vscode.Uri): string {
    return this.all.get(uri.toString())?.document.text ?? "";
  }

  provideCodeLenses({ uri }: vscode.TextDocument): vscode.CodeLens[] {
    const shown = this.all.get(uri.toString());
    if (!shown) return [];
    const name = uri.toString();
    return [
      lens(0, "User Feedback Form", "feedback", [name]),
      lens(0, "What Aligned", "showPanel", [name]),
      ...shown.document.headings.flatMap((line, at) => [
        lens(line, "Goto Source", "source", [name, at]),
        lens(line, "Copy", "copy", [name, at]),
        lens(line, "Insert", "insert", [name, at]),
        lens(line, "What Aligned", "showPanel", [name, at]),
        lens(line, thumb("up", shown.judged.get(at) === true), "judge", [name, at, true], "Relevant"),
        lens(line, thumb("down", shown.judged.get(at) === false), "judge", [name, at, false], "Not relevant"),
      ]),
    ];
  }
}

/** Where a document is already shown. */
function visibleColumn(uri: vscode.Uri): vscode.ViewColumn | undefined {
  return vscode.window.visibleTextEditors.find(({ document }) => document.uri.toString() === uri.toString())
    ?.viewColumn;
}

function lens(line: number, title: string, command: string, words: readonly unknown[], tooltip = ""): vscode.CodeLens {
  const range = new vscode.Range(line, 0, line, 0);
  const calls = { title, tooltip, command: `neuralCodeSearch.${command}`, arguments: [...words] };
  return new vscode.CodeLens(range, calls);
}

/** An icon, which is filled if the result was judged so. */
const thumb = (way: "up" | "down", is: boolean): string => `$(thumbs${way}${is ? "-filled" : ""})`;
