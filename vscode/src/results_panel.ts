// The panel of results: all of them with what the words of the query are aligned with.

import * as vscode from "vscode";

import { type Action, panelPage, READY, wishOf } from "./core/panel.ts";
import { oneLine } from "./core/plain.ts";
import { folderName } from "./core/results_document.ts";
import type { Shown } from "./results_view.ts";

/** Does what a button asks for; `explain` gives an explanation by {@link ResultsPanel.send}. */
export type Act = (shown: Shown, action: Action, result: number) => Promise<void>;

export class ResultsPanel implements vscode.Disposable {
  private panel: vscode.WebviewPanel | undefined;
  private shown: Shown | undefined;
  /** Messages until the page's script has said that it runs; undefined since then. */
  private waiting: object[] | undefined;
  private readonly folder: vscode.Uri;
  private readonly act: Act;

  /** `folder`: of the extension. */
  constructor(folder: vscode.Uri, act: Act) {
    this.folder = folder;
    this.act = act;
  }

  /** Show an answer, and explain one of its results. */
  async show(shown: Shown, result: number): Promise<void> {
    const panel = (this.panel ??= this.created());
    if (this.shown !== shown) {
      this.shown = shown;
      this.waiting = [];
      panel.title = oneLine(
        `Results of ${shown.language.title} ${folderName(shown.answer) && `in ${folderName(shown.answer)}`}`,
      );
      panel.webview.html = this.page(panel.webview, shown);
    }
    panel.reveal(undefined, true);
    if (shown.answer.results.length) await this.act(shown, "explain", result);
  }

  /** Send something about a result to the page, if it shows that answer. */
  send(shown: Shown, message: { readonly result: number; readonly [name: string]: unknown }): void {
    if (this.shown !== shown) return;
    if (this.waiting) this.waiting.push(message);
    else void this.panel?.webview.postMessage(message);
  }

  private ready(webview: vscode.Webview): void {
    for (const message of this.waiting ?? []) void webview.postMessage(message);
    this.waiting = undefined;
  }

  dispose(): void {
    this.panel?.dispose();
  }

  private created(): vscode.WebviewPanel {
    const media = vscode.Uri.joinPath(this.folder, "media");
    const dist = vscode.Uri.joinPath(this.folder, "dist");
    const panel = vscode.window.createWebviewPanel(
      "neuralCodeSearch.results",
      "Results",
      { viewColumn: vscode.ViewColumn.Beside, preserveFocus: true },
      { enableScripts: true, localResourceRoots: [media, dist], retainContextWhenHidden: true },
    );
    panel.onDidDispose(() => {
      this.panel = this.shown = undefined;
    });
    panel.webview.onDidReceiveMessage((message: unknown) => {
      if (message === READY) this.ready(panel.webview);
      const wish = this.shown && wishOf(message, this.shown.answer.results.length);
      if (this.shown && wish) void this.act(this.shown, wish.action, wish.result);
    });
    return panel;
  }

  private page(webview: vscode.Webview, { answer, judged, language }: Shown): string {
    const file = (...parts: string[]): string =>
      webview.asWebviewUri(vscode.Uri.joinPath(this.folder, ...parts)).toString();
    const files = { origin: webview.cspSource, script: file("dist", "panel.js"), style: file("media", "panel.css") };
    return panelPage(answer, judged, language, files);
  }
}
