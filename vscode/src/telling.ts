// What the user is told: progress that can be cancelled, and one sentence for what went wrong.

import * as vscode from "vscode";

import { ServerError } from "./core/client.ts";
import { Failure, HELPS } from "./core/failure.ts";
import { oneLine } from "./core/plain.ts";
import { Declined } from "./server.ts";

/** Run something; what goes wrong is shown as one sentence, with what helps where that is known. */
export async function reported(run: () => Promise<unknown>): Promise<void> {
  try {
    await run();
  } catch (error) {
    if (error instanceof Declined || (error instanceof ServerError && error.kind === "cancelled")) return;
    const said = oneLine(error instanceof Error ? error.message : String(error), 1000);
    const helps = error instanceof Failure ? error.helps : [];
    const chosen = await vscode.window.showErrorMessage(said, ...helps);
    if (chosen) await vscode.commands.executeCommand(`neuralCodeSearch.${HELPS[chosen]}`);
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
    const options = { location: vscode.ProgressLocation.Notification, title, cancellable: true };
    await vscode.window.withProgress(options, (_, cancelled) => {
      cancelled.onCancellationRequested(() => abort.abort());
      return ended;
    });
  }
  return done;
}

const pause = (milliseconds: number): Promise<false> =>
  new Promise((resolve) => setTimeout(() => resolve(false), milliseconds));
