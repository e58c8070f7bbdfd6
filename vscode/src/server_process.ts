// The server of this machine, started and ended by the extension, with the user's consent.

import { type ChildProcess, spawn } from "node:child_process";
import * as vscode from "vscode";

import type { Client } from "./core/client.ts";
import { Failure, programFailure } from "./core/failure.ts";
import { oneLine } from "./core/plain.ts";
import * as settings from "./settings.ts";

/** Until a server that was started has to answer: it reads its index and model first. */
const START_MILLISECONDS = 120_000;
const POLL_MILLISECONDS = 150;
/** That an answer waits for the first index of a folder; it then has what is read so far. */
const INDEX_MILLISECONDS = 10_000;

export class ServerProcess implements vscode.Disposable {
  private child: ChildProcess | undefined;
  private lastLine = "";
  private readonly log: vscode.OutputChannel;

  constructor(log: vscode.OutputChannel) {
    this.log = log;
  }

  /**
   * Start the server of the index of `folder`, or of the nearest folder above it that has one, and wait until it is
   * ready. The first index of a folder is waited for, too, but not for long.
   *
   * @throws Error: it has ended, with its own last line as the reason, or is not ready in time
   */
  async start(folder: string, client: Client, signal: AbortSignal): Promise<void> {
    const child = this.running() ?? this.launch(["serve", `--port=${settings.port()}`], folder);
    this.child = child;
    const begun = Date.now();
    for (; Date.now() < begun + START_MILLISECONDS; await pause(POLL_MILLISECONDS)) {
      const readiness = await client.readiness(signal);
      if (readiness === "ready") return;
      if (readiness === "indexing" && Date.now() > begun + INDEX_MILLISECONDS) return;
      if (signal.aborted) throw new Error("The search was cancelled.");
      if (!isRunning(child)) throw programFailure("The server ended", this.lastLine);
    }
    throw new Failure(`The server did not get ready within ${START_MILLISECONDS / 1000} seconds.`, "Show Log");
  }

  /** Index `folder`; the message is the last line of the program. As {@link start}, if it fails. */
  async index(folder: string, signal: AbortSignal): Promise<string> {
    const child = this.launch(["index", folder], folder);
    signal.addEventListener("abort", () => child.kill());
    const code = await new Promise<number | null>((resolve) => child.once("close", resolve));
    if (code !== 0)
      throw signal.aborted ? new Error("Indexing was cancelled.") : programFailure("Indexing failed", this.lastLine);
    return this.lastLine;
  }

  /** Whether this extension has started a server, which it has not stopped. */
  hasStarted(): boolean {
    return this.child !== undefined;
  }

  /** The server that this extension has started and that runs. */
  running(): ChildProcess | undefined {
    return this.child && isRunning(this.child) ? this.child : undefined;
  }

  /** End the server, if this extension has started it; whether it did. */
  stop(): boolean {
    const child = this.running();
    this.child = undefined;
    return child?.kill() ?? false;
  }

  dispose(): void {
    this.stop();
  }

  private launch(more: readonly string[], folder: string): ChildProcess {
    const [program, ...first] = settings.command();
    const words = [...first, ...more];
    this.log.appendLine(`> ${[program, ...words].join(" ")}   (in ${folder})`);
    this.lastLine = "";
    const child = spawn(program, words, {
      cwd: folder,
      shell: false,
      stdio: ["ignore", "pipe", "pipe"],
      windowsHide: true,
    });
    const note = (part: Buffer): void => {
      this.log.append(part.toString("utf8"));
      this.lastLine = oneLine(part.toString("utf8").trim().split("\n").at(-1) ?? "") || this.lastLine;
    };
    child.stdout.on("data", note);
    child.stderr.on("data", note);
    child.on("error", (error: NodeJS.ErrnoException) => {
      this.lastLine =
        error.code === "ENOENT" ? `there is no program ${program}: set neuralCodeSearch.command` : error.message;
      this.log.appendLine(this.lastLine);
    });
    return child;
  }
}

function isRunning(child: ChildProcess): boolean {
  return child.pid !== undefined && child.exitCode === null && child.signalCode === null;
}

const pause = (milliseconds: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, milliseconds));
