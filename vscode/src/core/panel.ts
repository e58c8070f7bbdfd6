// The page of the results panel. It runs one script of this extension and loads nothing else; every text in it is
// escaped, and what a result is aligned with is added by that script as text.

import type { Answer, Result } from "./answers.ts";
import { escaped, oneLine, safeUrl } from "./plain.ts";
import { place, scoreOf } from "./results_document.ts";

/** What the page's script sends when it runs; what was sent to it before is lost. */
export const READY = "ready";

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
  { origin, script, style }: Files,
): string {
  const policy = `default-src 'none'; script-src ${origin}; style-src ${origin}; base-uri 'none'; form-action 'none'`;
  const results = answer.results.map((result, at) => article(result, at, judged.get(at))).join("\n");
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
<p class="about">${answer.results.length} results ${answer.model === "context" ? "with the text above the query" : "by the query alone"}.
Point at a word to see what it is aligned with.</p>
${results || "<p>Nothing was found.</p>"}
<script src="${escaped(script)}"></script>
</body>
</html>
`;
}

function article(result: Result, at: number, relevant: boolean | undefined): string {
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
<p>${buttons.join(" ")}</p>
<div class="words" hidden></div>
<pre><code>${escaped(result.code)}</code></pre>
</article>`;
}

/** A wish that the panel has sent, checked; undefined if it is none. */
export function wishOf(message: unknown, results: number): Wish | undefined {
  if (typeof message !== "object" || message === null) return undefined;
  const { action, result } = message as { action?: unknown; result?: unknown };
  const known = ACTIONS.find((each) => each === action);
  if (!known || !Number.isInteger(result) || (result as number) < 0 || (result as number) >= results) return undefined;
  return { action: known, result: result as number };
}
