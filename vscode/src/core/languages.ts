// The languages that can be searched from; tests/vscode/languages.py writes their table.

import table from "./languages.json" with { type: "json" };

export interface Quote {
  /** What opens and closes a string. */
  readonly mark: string;
  /** Whether a backslash protects the next character. */
  readonly escapes: boolean;
  /** Whether it goes on in the next line; another one ends with its line, unless a backslash ends that. */
  readonly lines: boolean;
}

export interface Language {
  /** As the server names it. */
  readonly name: string;
  /** As people name it. */
  readonly title: string;
  /** The identifiers that VS Code has for it. */
  readonly editorNames: readonly string[];
  /** What begins a line comment. */
  readonly mark: string;
  /** A regular expression of what else begins one; "": nothing. */
  readonly otherMark: string;
  /** What begins and ends a block comment; null: there are none. */
  readonly block: readonly [string, string] | null;
  /** Suffixes of its files that are indexed, the usual one first. */
  readonly suffixes: readonly [string, ...string[]];
  /** Longer marks first. */
  readonly quotes: readonly Quote[];
  /** Whether a slash may begin a regular expression. */
  readonly slashExpressions: boolean;
  /** Whether markup may stand in its code: in JavaScript, and in TypeScript for React. */
  readonly markup: boolean;
  /** A regular expression of what begins the last line of a declaration; "": nothing, as in Python. */
  readonly closing: string;
}

/** Identifier in VS Code -> language. */
export const LANGUAGES: Readonly<Record<string, Language>> = Object.fromEntries(
  (table as unknown as readonly Language[]).flatMap((each) =>
    each.editorNames.map((name) => {
      const markup = each.slashExpressions && name !== "typescript";
      return [name, { ...each, markup }] as const;
    }),
  ),
);

/** The server's name -> language. */
export const BY_NAME: Readonly<Record<string, Language>> = Object.fromEntries(
  Object.values(LANGUAGES).map((each) => [each.name, each]),
);

/** A regular expression of what begins a line comment. */
export function lineComment({ mark, otherMark }: Language): string {
  return otherMark ? `(?:${mark}|${otherMark})` : mark;
}

/** The language with an identifier of VS Code; undefined if there is none. */
export function languageOf(identifier: string): Language | undefined {
  return Object.hasOwn(LANGUAGES, identifier) ? LANGUAGES[identifier] : undefined;
}

/** The title of a language by the server's name for it; that name, if there is none. */
export function titleOf(name: string): string {
  return (Object.hasOwn(BY_NAME, name) ? BY_NAME[name]?.title : undefined) ?? name;
}
