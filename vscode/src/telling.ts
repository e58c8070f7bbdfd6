// What the user is told and asked. All that VS Code shows by its own means goes through here, where `notice` makes it
// plain: names of files and answers of servers are part of it, and VS Code would run commands for links in them.

import * as vscode from "vscode";

import { ServerError } from "./core/client.ts";
import { Declined, Failure, HELPS } from "./core/failure.ts";
import { notice } from "./core/plain.ts";

/** Show one sentence; the button that was pressed. */
export function information(text: string, ...buttons: readonly string[]): Thenable<string | undefined> {
  return vscode.window.showInformationMessage(notice(text), ...buttons);
}

/** As {@link information}. */
export function warning(text: string): Thenable<string | undefined> {
  return vscode.window.showWarningMessage(notice(text));
}

/** Show a few words in the status bar for a while. */
export function briefly(text: string, milliseconds: number): void {
  vscode.window.setStatusBarMessage(notice(text), milliseconds);
}

/** The entry of a list that the user chooses. */
export function chosen<T extends vscode.QuickPickItem>(items: readonly T[], title: string): Thenable<T | undefined> {
  return vscode.window.showQuickPick(items.map(plainItem), { placeHolder: notice(title) });
}

/** The entries of a list that the user ticks; undefined: it was closed. */
export function ticked<T extends vscode.QuickPickItem>(items: readonly T[], title: string): Thenable<T[] | undefined> {
  return vscode.window.showQuickPick(items.map(plainItem), { placeHolder: notice(title), canPickMany: true });
}

function plainItem<T extends vscode.QuickPickItem>(item: T): T {
  return { ...item, label: notice(item.label), description: notice(item.description ?? "") };
}

/** What the user types. */
export function typed(prompt: string, placeHolder: string): Thenable<string | undefined> {
  return vscode.window.showInputBox({ prompt: notice(prompt), placeHolder: notice(placeHolder) });
}

/** Run something; what goes wrong is shown as one sentence, with what helps where that is known. */
export async function reported(run: () => Promise<unknown>): Promise<void> {
  try {
    await run();
  } catch (error) {
    if (error instanceof Declined || (error instanceof ServerError && error.kind === "cancelled")) return;
    const said = error instanceof Error ? error.message : String(error);
    const helps = error instanceof Failure ? error.helps : [];
    const help = await vscode.window.showErrorMessage(notice(said), ...helps);
    if (help) await vscode.commands.executeCommand(`neuralCodeSearch.${HELPS[help]}`);
  }
}

/** Until something is shown as in progress, so that a quick search shows its results only. */
const QUICK_MILLISECONDS = 700;

/** Run something that the user may cancel. */
export async function withProgress<T>(title: string, run: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const abort = new AbortController();
  const done = run(abort.signal);
  const ended = done.then(
    () => true,
    () => true,
  );
  if (!(await Promise.race([ended, pause(QUICK_MILLISECONDS)]))) {
    const options = { location: vscode.ProgressLocation.Notification, title: notice(title), cancellable: true };
    await vscode.window.withProgress(options, (_, cancelled) => {
      cancelled.onCancellationRequested(() => abort.abort());
      return ended;
    });
  }
  return done;
}

const pause = (milliseconds: number): Promise<false> =>
  new Promise((resolve) => setTimeout(() => resolve(false), milliseconds));
