// The extension: what triggers a search, and what can be done with its results.

import * as vscode from "vscode";

import { Actions } from "./actions.ts";
import { searchByComment, searchByCommand, type Searching } from "./searching.ts";
import { Server, folderOf } from "./server.ts";
import { ServerProcess } from "./server_process.ts";
import { SCHEME, ResultsView } from "./results_view.ts";
import { information, reported, withProgress } from "./telling.ts";
import { showUsages } from "./usages.ts";

export function activate(context: vscode.ExtensionContext): void {
  const log = vscode.window.createOutputChannel("Neural Code Search");
  const process = new ServerProcess(log);
  const view = new ResultsView();
  const searching: Searching = { server: new Server(process), view };
  const actions = new Actions(context.extensionUri, searching);
  const near = (): vscode.Uri | undefined => vscode.window.activeTextEditor?.document.uri;
  const commands: Readonly<Record<string, (...words: never[]) => unknown>> = {
    search: () => searchByCommand(searching),
    usages: () => showUsages(searching.server),
    startServer: () => withProgress("Starting the search server", (signal) => searching.server.start(near(), signal)),
    stopServer: () => {
      const told = process.stop() ? "The search server was stopped." : "This editor has not started a search server.";
      void information(told);
    },
    index: () => index(process, near()),
    showLog: () => log.show(true),
    ...actions.commands(),
  };
  context.subscriptions.push(
    log,
    process,
    actions,
    vscode.workspace.registerTextDocumentContentProvider(SCHEME, view),
    vscode.languages.registerCodeLensProvider({ scheme: SCHEME }, view),
    vscode.workspace.onDidChangeTextDocument((event) => void reported(() => searchByComment(searching, event))),
    ...Object.entries(commands).map(([name, run]) =>
      vscode.commands.registerCommand(`neuralCodeSearch.${name}`, (...words: never[]) =>
        reported(async () => run(...words)),
      ),
    ),
  );
}

async function index(process: ServerProcess, near: vscode.Uri | undefined): Promise<void> {
  const folder = folderOf(near);
  const told = await withProgress(`Indexing ${folder}`, (signal) => process.index(folder, signal));
  void information(told);
}
