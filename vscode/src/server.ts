// A server that answers: the one that runs, or one that is started if the user agrees.

import * as vscode from "vscode";

import { Client, ServerError } from "./core/client.ts";
import { Declined, Failure } from "./core/failure.ts";
import type { ServerProcess } from "./server_process.ts";
import * as settings from "./settings.ts";
import { information } from "./telling.ts";

export class Server {
  private readonly process: ServerProcess;

  constructor(process: ServerProcess) {
    this.process = process;
  }

  /**
   * Ask the server; if there is none, start one with the user's consent and ask again.
   *
   * @param ask what is asked
   * @param near a file; the folder of the workspace that has it is what a server is started for
   * @throws Error: with one sentence for the user; Declined: without
   */
  async ask<T>(ask: (client: Client) => Promise<T>, near: vscode.Uri | undefined, signal: AbortSignal): Promise<T> {
    try {
      return await this.askOrStart(ask, near, signal);
    } catch (error) {
      if (error instanceof ServerError && error.kind === "ended" && this.process.hasStarted())
        throw new Failure(error.message, "Show Log");
      throw error;
    }
  }

  private async askOrStart<T>(
    ask: (client: Client) => Promise<T>,
    near: vscode.Uri | undefined,
    signal: AbortSignal,
  ): Promise<T> {
    const client = this.client();
    try {
      return await ask(client);
    } catch (error) {
      if (!(error instanceof ServerError) || error.kind !== "absent") throw error;
      await this.started(error.message, near, signal);
      return ask(client);
    }
  }

  /** Start the server for the folder of `near`, as {@link ask}. */
  async start(near: vscode.Uri | undefined, signal: AbortSignal): Promise<void> {
    await this.process.start(folderOf(near), this.client(), signal);
  }

  client(): Client {
    return new Client(settings.address(), settings.timeoutMilliseconds());
  }

  private async started(absent: string, near: vscode.Uri | undefined, signal: AbortSignal): Promise<void> {
    if (settings.startServer() === "never" || !settings.address().local)
      throw new Error(`${absent} Start one by \`serve\`.`);
    const folder = folderOf(near);
    if (settings.startServer() === "ask") {
      const command = [...settings.command(), "serve"].join(" ");
      const asked = `${absent} Start it (\`${command}\` in ${folder})?`;
      const answer = await information(asked, "Start", "Always Start", "Not Now");
      if (answer === "Always Start") await settings.alwaysStart();
      else if (answer !== "Start") throw new Declined();
    }
    await this.process.start(folder, this.client(), signal);
  }
}

/**
 * As {@link folderNear}, where a program may be started.
 *
 * @throws Error: the workspace is not trusted, or there is no such folder on this machine
 */
export function folderOf(near: vscode.Uri | undefined): string {
  if (!vscode.workspace.isTrusted) {
    throw new Error(
      "No server runs, and none is started since this workspace is not trusted: trust it, or start `serve` yourself.",
    );
  }
  const found = folderNear(near);
  if (found?.scheme !== "file")
    throw new Error("Open a folder of this machine: the server reads the index of a folder.");
  return found.fsPath;
}

/** The folder of the workspace that has a file, or else its own folder. */
export function folderNear(near: vscode.Uri | undefined): vscode.Uri | undefined {
  const folder = near && vscode.workspace.getWorkspaceFolder(near)?.uri;
  return folder ?? vscode.workspace.workspaceFolders?.[0]?.uri ?? (near && vscode.Uri.joinPath(near, ".."));
}
