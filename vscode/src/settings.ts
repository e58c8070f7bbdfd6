// What the user has set; package.json describes it. Where the server is and how it is started are settings of the
// machine, which no workspace can change.

import * as vscode from "vscode";

import { type Address, addressOf } from "./core/address.ts";

const SECTION = "neuralCodeSearch";

export type StartServer = "ask" | "always" | "never";

function get<T>(name: string, otherwise: T): T {
  return vscode.workspace.getConfiguration(SECTION).get<T>(name, otherwise);
}

/** A whole number as set, moved into its bounds. */
function whole(name: string, otherwise: number, least: number, most: number): number {
  const set = get<unknown>(name, otherwise);
  return typeof set === "number" && Number.isFinite(set) ? Math.min(most, Math.max(least, Math.trunc(set))) : otherwise;
}

export const triggers = (): boolean => get<unknown>("trigger", true) === true;
export const numberOfResults = (): number => whole("results", 15, 1, 100);
export const contextBytes = (): number => 1024 * whole("contextKilobytes", 64, 0, 64);
export const port = (): number => whole("port", 8765, 1, 65535);
export const timeoutMilliseconds = (): number => 1000 * whole("timeoutSeconds", 20, 1, 300);

export function startServer(): StartServer {
  const set = get<string>("startServer", "ask");
  return set === "always" || set === "never" ? set : "ask";
}

export async function alwaysStart(): Promise<void> {
  const global = vscode.ConfigurationTarget.Global;
  await vscode.workspace.getConfiguration(SECTION).update("startServer", "always", global);
}

/** The address of the server, as {@link addressOf}. */
export function address(): Address {
  return addressOf(String(get("host", "127.0.0.1")), port(), get<unknown>("allowOtherHost", false) === true);
}

/**
 * The program of the search with its first arguments.
 *
 * @throws Error: it is not a list of texts
 */
export function command(): readonly [string, ...string[]] {
  const set = get<unknown>("command", ["galm"]);
  if (!Array.isArray(set) || !set[0] || !set.every((part) => typeof part === "string")) {
    throw new Error('neuralCodeSearch.command takes a list such as ["bash", "/path/to/run.sh"].');
  }
  return set as unknown as readonly [string, ...string[]];
}
