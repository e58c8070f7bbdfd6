// Runs in the results panel: sends what a button asks for, and shows what the words of the query are aligned with.

import type { Aligned, Explanation } from "../core/answers.ts";
import { READY } from "../core/panel.ts";

declare function acquireVsCodeApi(): { postMessage(message: unknown): void };

/** What the extension sends: an explanation, or what was judged. */
type Message =
  | { readonly result: number; readonly explanation: Explanation }
  | { readonly result: number; readonly relevant: boolean | null };

const editor = acquireVsCodeApi();

document.addEventListener("click", (event) => {
  const button = event.target instanceof Element ? event.target.closest<HTMLElement>("[data-action]") : null;
  const article = button?.closest<HTMLElement>("article");
  if (button && article)
    editor.postMessage({ action: button.dataset["action"], result: Number(article.dataset["result"]) });
});

window.addEventListener("message", ({ data }: MessageEvent<Message>) => {
  const article = document.querySelector<HTMLElement>(`article[data-result="${Number(data.result)}"]`);
  if (!article) return;
  if ("explanation" in data) explain(article, data.explanation);
  else judge(article, data.relevant);
  article.scrollIntoView({ block: "nearest" });
});

editor.postMessage(READY);

function judge(article: HTMLElement, relevant: boolean | null): void {
  for (const button of article.querySelectorAll<HTMLElement>("[aria-pressed]")) {
    const is = relevant !== null && (button.dataset["action"] === "relevant") === relevant;
    button.setAttribute("aria-pressed", String(is));
  }
}

function explain(article: HTMLElement, { words, pieces }: Explanation): void {
  const code = article.querySelector("code");
  article.querySelector("details")?.setAttribute("open", "");
  const box = article.querySelector<HTMLElement>(".words");
  if (!code || !box) return;
  code.replaceChildren(...pieces.map(({ text, word }) => (word ? element("mark", text, word) : text)));
  const light = (lit: readonly Aligned[]): void => {
    const strengths = strengthsBy(lit);
    for (const mark of code.querySelectorAll<HTMLElement>("mark")) {
      mark.className = strengthClass(strengths.get(mark.dataset["word"] ?? "") ?? 0);
    }
  };
  box.replaceChildren(
    ...words.map((aligned) =>
      row(
        aligned,
        () => light([aligned]),
        () => light(words),
      ),
    ),
  );
  box.hidden = false;
  light(words);
}

function row(aligned: Aligned, enter: () => void, leave: () => void): HTMLElement {
  const line = element("div", "", aligned.word);
  const word = element("button", aligned.word, aligned.word) as HTMLButtonElement;
  word.type = "button";
  word.addEventListener("focus", enter);
  word.addEventListener("blur", leave);
  line.addEventListener("mouseenter", enter);
  line.addEventListener("mouseleave", leave);
  const found = aligned.with.slice(0, 6).map((each) => `${each.word} ${each.weight.toFixed(2)} (${each.field})`);
  line.append(word, ` → ${found.join(", ") || "no alignment"}`);
  return line;
}

/** How strongly each word of the code is lit: the greatest weight that one of the query's words gives it. */
function strengthsBy(lit: readonly Aligned[]): Map<string, number> {
  const greatest = new Map<string, number>();
  for (const aligned of lit) {
    const sums = new Map<string, number>();
    for (const { word, weight } of aligned.with) sums.set(word, (sums.get(word) ?? 0) + weight);
    for (const [word, sum] of sums) greatest.set(word, Math.max(greatest.get(word) ?? 0, sum));
  }
  return greatest;
}

function strengthClass(strength: number): string {
  return strength === 0 ? "" : strength < 0.15 ? "weak" : strength < 0.4 ? "middle" : "strong";
}

function element(name: string, text: string, word: string): HTMLElement {
  const made = document.createElement(name);
  made.textContent = text;
  made.dataset["word"] = word;
  return made;
}
