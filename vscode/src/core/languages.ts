// The languages that can be searched from, by the identifiers that VS Code has for them.

export interface Language {
  /** As the server names it. */
  readonly name: "python" | "java" | "javascript" | "typescript" | "go";
  /** As people name it. */
  readonly title: string;
  /** What begins a line comment. */
  readonly mark: "#" | "//";
  /** Suffixes of its files that are indexed, the usual one first. */
  readonly suffixes: readonly [string, ...string[]];
}

const TYPESCRIPT: Language = {
  name: "typescript",
  title: "TypeScript",
  mark: "//",
  suffixes: [".ts", ".mts", ".cts", ".tsx"],
};
const JAVASCRIPT: Language = {
  name: "javascript",
  title: "JavaScript",
  mark: "//",
  suffixes: [".js", ".mjs", ".cjs", ".jsx"],
};

/** Identifier in VS Code -> language. A new one is a line here, and in `activationEvents` of package.json. */
export const LANGUAGES: Readonly<Record<string, Language>> = {
  python: { name: "python", title: "Python", mark: "#", suffixes: [".py"] },
  java: { name: "java", title: "Java", mark: "//", suffixes: [".java"] },
  javascript: JAVASCRIPT,
  javascriptreact: JAVASCRIPT,
  typescript: TYPESCRIPT,
  typescriptreact: TYPESCRIPT,
  go: { name: "go", title: "Go", mark: "//", suffixes: [".go"] },
};

/** The language with an identifier of VS Code; undefined if there is none. */
export function languageOf(identifier: string): Language | undefined {
  return Object.hasOwn(LANGUAGES, identifier) ? LANGUAGES[identifier] : undefined;
}

/** The title of a language by the server's name for it; that name, if there is none. */
export function titleOf(name: string): string {
  return Object.values(LANGUAGES).find((language) => language.name === name)?.title ?? name;
}
