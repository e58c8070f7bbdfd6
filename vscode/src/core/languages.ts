// The languages that can be searched from, by the identifiers that VS Code has for them.

export interface Language {
  /** As the server names it. */
  readonly name: "python" | "java" | "javascript" | "typescript" | "go";
  /** As people name it. */
  readonly title: string;
  /** What begins a line comment. */
  readonly mark: "#" | "//";
  /** Suffix of its files. */
  readonly suffix: string;
}

const TYPESCRIPT: Language = { name: "typescript", title: "TypeScript", mark: "//", suffix: ".ts" };
const JAVASCRIPT: Language = { name: "javascript", title: "JavaScript", mark: "//", suffix: ".js" };

/** Identifier in VS Code -> language. A new one is a line here, and in `activationEvents` of package.json. */
export const LANGUAGES: Readonly<Record<string, Language>> = {
  python: { name: "python", title: "Python", mark: "#", suffix: ".py" },
  java: { name: "java", title: "Java", mark: "//", suffix: ".java" },
  javascript: JAVASCRIPT,
  javascriptreact: JAVASCRIPT,
  typescript: TYPESCRIPT,
  typescriptreact: TYPESCRIPT,
  go: { name: "go", title: "Go", mark: "//", suffix: ".go" },
};

/** The language with an identifier of VS Code; undefined if there is none. */
export function languageOf(identifier: string): Language | undefined {
  return Object.hasOwn(LANGUAGES, identifier) ? LANGUAGES[identifier] : undefined;
}
