// What can be done with a result: see its source and what aligned, copy it, insert it, judge it.

import * as vscode from "vscode";

import type { Result } from "./core/answers.ts";
import { standingAlone } from "./core/code.ts";
import type { Action } from "./core/panel.ts";
import { attribution, partLine, place } from "./core/results_document.ts";
import { ResultsPanel } from "./results_panel.ts";
import { SCHEME, type Shown } from "./results_view.ts";
import type { Searching } from "./searching.ts";
import { gotoSource } from "./source_place.ts";
import { briefly, reported, ticked } from "./telling.ts";

export class Actions implements vscode.Disposable {
  private readonly searching: Searching;
  private readonly panel: ResultsPanel;

  constructor(folder: vscode.Uri, searching: Searching) {
    this.searching = searching;
    this.panel = new ResultsPanel(folder, (shown, action, result) => reported(() => this.act(shown, action, result)));
  }

  /** The commands, of which the code lenses give the URI of the document and the number of the result. */
  commands(): Readonly<Record<string, (name?: string, result?: number, relevant?: boolean) => Promise<void>>> {
    const each =
      (action: Action) =>
      async (name?: string, result = 0) =>
        this.act(this.shown(name), action, result);
    return {
      source: each("source"),
      copy: each("copy"),
      insert: each("insert"),
      judge: async (name, result = 0, relevant) =>
        this.act(this.shown(name), relevant ? "relevant" : "irrelevant", result),
      showPanel: async (name, result = 0) => this.panel.show(this.shown(name), result),
      feedback: async (name) => this.feedback(this.shown(name)),
    };
  }

  dispose(): void {
    this.panel.dispose();
  }

  /** The answer in a document of results: by its URI, or that of the visible one. */
  private shown(name?: string): Shown {
    const editors = vscode.window.visibleTextEditors
      .map(({ document }) => document.uri)
      .filter(({ scheme }) => scheme === SCHEME);
    const found = this.searching.view.of(name ?? editors[0]?.toString() ?? "");
    if (!found) throw new Error("There are no results: search first.");
    return found;
  }

  private async act(shown: Shown, action: Action, number: number): Promise<void> {
    const result = shown.answer.results[number];
    if (!result) throw new Error("This result is not shown any more: search again.");
    if (action === "source") await gotoSource(result, shown.answer.folder, shown.from);
    else if (action === "copy") await copy(shown, result);
    else if (action === "insert") await insert(shown, result);
    else if (action === "explain") await this.explain(shown, result, number);
    else await this.judge(shown, number, action === "relevant");
  }

  private async explain(shown: Shown, result: Result, number: number): Promise<void> {
    const { query, index } = shown.answer;
    const explanation = await this.searching.server.client().explain(query, index, result);
    this.panel.send(shown, { result: number, explanation });
  }

  /** Save a judgement; the same again takes it back. */
  private async judge(shown: Shown, number: number, relevant: boolean): Promise<void> {
    const now = shown.judged.get(number) === relevant ? null : relevant;
    await this.save(shown, number, now);
    const said = { null: "taken back", true: "saved: relevant", false: "saved: not relevant" }[String(now)];
    briefly(`Judgement of example ${number + 1} ${said}`, 4000);
  }

  private async save(shown: Shown, number: number, relevant: boolean | null): Promise<void> {
    const result = shown.answer.results[number];
    if (!result) return;
    await this.searching.server.client().judge(shown.answer.query, result, relevant);
    if (relevant === null) shown.judged.delete(number);
    else shown.judged.set(number, relevant);
    this.searching.view.refresh();
    this.panel.send(shown, { result: number, relevant });
  }

  /** The form: which examples answer the query. Those that are not ticked are not relevant. */
  private async feedback(shown: Shown): Promise<void> {
    const items = shown.answer.results.map((result, at) => ({
      label: `${at + 1} ${result.identifier}`,
      description: place(result),
      picked: shown.judged.get(at) === true,
      at,
    }));
    const title = "Tick the examples that answer the query; the others are saved as not relevant";
    const found = await ticked(items, title);
    if (!found) return;
    const chosen = new Set(found.map(({ at }) => at));
    for (const { at } of items) await this.save(shown, at, chosen.has(at));
    briefly(`Judgements saved: ${chosen.size} of ${items.length} examples relevant`, 4000);
  }
}

async function copy({ language }: Shown, result: Result): Promise<void> {
  await vscode.env.clipboard.writeText(standingAlone(result.code, language, result.indent));
  briefly("Copied", 2000);
}

/** Insert a result at the cursor of the file from which was searched, below a comment that says where it is from. */
async function insert(shown: Shown, result: Result): Promise<void> {
  const from = shown.from?.toString();
  const editor = vscode.window.visibleTextEditors.find(({ document }) => document.uri.toString() === from);
  if (!editor) throw new Error("The file from which was searched is not visible: show it first.");
  const [source, licence] = attribution(result);
  const about = [source, licence, partLine(result)].filter(Boolean).join(", ");
  const lines = [
    `${shown.language.mark} ${about}`,
    ...standingAlone(result.code, shown.language, result.indent).split("\n"),
  ];
  const { line, character } = editor.selection.active;
  const before = editor.document.lineAt(line).text.slice(0, character);
  const text = `${before.trim() ? "\n" : ""}${lines.join(before.trim() ? "\n" : `\n${before}`)}\n`;
  await editor.edit((change) => change.insert(editor.selection.active, text));
}
