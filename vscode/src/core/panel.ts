// The page of the results panel. It runs one script of this extension and loads nothing else; every text in it is
// escaped, and what a result is aligned with is added by that script as text.

import type { Answer, Result } from "./answers.ts";
import { escaped, oneLine, safeUrl } from "./plain.ts";
import { standingAlone } from "./code.ts";
import type { Language } from "./languages.ts";
import { copiesLine, doubt, folderName, place, scoreOf } from "./results_document.ts";

/** What the page's script sends when it runs; what was sent to it before is lost. */
export const READY = "ready";

/** Lines of code that are shown at once. */
const SHORT = 10;

/** What a button of a result asks for. */
export const ACTIONS = ["explain", "source", "copy", "insert", "relevant", "irrelevant"] as const;
export type Action = (typeof ACTIONS)[number];

export interface Wish {
  readonly action: Action;
  readonly result: number;
}

const TITLES: Readonly<Record<Action, string>> = {
  explain: "What Aligned",
  source: "Goto Source",
  copy: "Copy",
  insert: "Insert",
  relevant: "Relevant",
  irrelevant: "Not Relevant",
};

export interface Files {
  /** Origin of the extension's files in the panel. */
  readonly origin: string;
  readonly script: string;
  readonly style: string;
}

/** The page for an answer. */
export function panelPage(
  answer: Answer,
  judged: ReadonlyMap<number, boolean>,
  language: Language,
  { origin, script, style }: Files,
): string {
  const policy = `default-src 'none'; script-src ${origin}; style-src ${origin}; base-uri 'none'; form-action 'none'`;
  const results = answer.results.map((result, at) => article(result, at, judged.get(at), language)).join("\n");
  const { level, text } = answer.certainty;
  const strong = level === "strong" ? `${oneLine(text)}: ` : "";
  const count = answer.results.length === 1 ? "1 result" : `${answer.results.length} results`;
  const within = folderName(answer) && ` in ${folderName(answer)}`;
  const how = answer.model === "context" ? "with the text above the query" : "by the query alone";
  return `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${escaped(policy)}">
<meta name="viewport" content="width=device-width">
<title>Results</title>
<link rel="stylesheet" href="${escaped(style)}">
</head>
<body>
<h1>${escaped(oneLine(answer.query, 200))}</h1>
${line("doubt", doubt(answer))}${line("notice", oneLine(answer.notice))}<p class="about">${escaped(`${strong}${count}${within} ${how}.`)}
Point at a word to see what it is aligned with.</p>
${results || "<p>Nothing was found.</p>"}
<script src="${escaped(script)}"></script>
</body>
</html>
`;
}

function line(kind: string, text: string): string {
  return text && `<p class="${kind}">${escaped(text)}</p>\n`;
}

function article(result: Result, at: number, relevant: boolean | undefined, language: Language): string {
  const from = safeUrl(result.url) || place(result);
  const about = [oneLine(from, 2000), oneLine(result.license) || "licence not known", `score ${scoreOf(result, 3)}`];
  const buttons = ACTIONS.map((action) => {
    const judges = action === "relevant" || action === "irrelevant";
    const pressed = judges ? ` aria-pressed="${relevant === (action === "relevant") && relevant !== undefined}"` : "";
    return `<button type="button" data-action="${action}"${pressed}>${TITLES[action]}</button>`;
  });
  return `<article data-result="${at}">
<h2>${at + 1} <span>${escaped(oneLine(result.identifier, 200))}</span></h2>
<p class="about">${about.filter(Boolean).map(escaped).join(" · ")}</p>
${line("about", copiesLine(result))}<p>${buttons.join(" ")}</p>
<div class="words" hidden></div>
${codeOf(result, language)}
</article>`;
}

/** The code of a result, folded behind the lines that show it at a glance if it is long. */
function codeOf(result: Result, language: Language): string {
  const code = standingAlone(result.code, language, result.indent);
  const whole = `<pre><code>${escaped(code)}</code></pre>`;
  const lines = code.split("\n").length;
  if (!result.preview || lines <= SHORT) return whole;
  const glance = `<pre class="glance">${escaped(result.preview)}</pre>`;
  return `${glance}\n<details><summary>All ${lines} lines</summary>${whole}</details>`;
}

/** A wish that the panel has sent, checked; undefined if it is none. */
export function wishOf(message: unknown, results: number): Wish | undefined {
  if (typeof message !== "object" || message === null) return undefined;
  const { action, result } = message as { action?: unknown; result?: unknown };
  const known = ACTIONS.find((each) => each === action);
  if (!known || !Number.isInteger(result) || (result as number) < 0 || (result as number) >= results) return undefined;
  return { action: known, result: result as number };
}
