// What went wrong, in one sentence for the user, with the buttons that help.

import { oneLine } from "./plain.ts";

/** Title of a button -> the command that it runs. */
export const HELPS = { "Index This Folder": "index", "Show Log": "showLog" } as const;
export type Help = keyof typeof HELPS;

export class Failure extends Error {
  readonly helps: readonly Help[];

  constructor(message: string, ...helps: readonly Help[]) {
    super(message);
    this.helps = helps;
  }
}

/** What the user did not want; nothing more is said. */
export class Declined extends Error {}

/** Characters of a program's line that are shown at most; the log has all that it said. */
const LONGEST_LINE = 160;

/** The failure of a program by the last line that it said; `what` happened, such as "The server ended". */
export function programFailure(what: string, line: string): Failure {
  const said = `${what}: ${oneLine(line, LONGEST_LINE) || "it said nothing"}`;
  return new Failure(said, /the index .* is empty/.test(line) ? "Index This Folder" : "Show Log");
}

/**
 * The failure that the index has no code of a language, as the server has said.
 *
 * @param others whether the folder has files of it, beside that from which was searched; undefined: it is not known
 */
export function lackingFailure(said: string, title: string, others: boolean | undefined): Failure {
  if (others) return new Failure(`${said} This folder has ${title} files: index it to find them.`, "Index This Folder");
  return new Failure(others === undefined ? said : `${said} This folder has no other ${title} file.`);
}
