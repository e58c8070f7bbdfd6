// What the first line of an answer says: how certain it is, which words no file has, and which names are near.

import { make, seen, viewLink } from "/dom.js";

const LEVELS = ["strong", "weak", "none"];
const BY_MEANING = "nearest by meaning";

/** How certain an answer is: strong, weak or none; "" if the server does not say it. */
export function levelOf({ certainty, results }) {
  if (!results.length) return "none";
  return LEVELS.includes(certainty?.level) ? certainty.level : "";
}

/** The parts of the line: `filters` are those that the question was asked with. */
export function answerLine(q, told, filters) {
  const { certainty, results, milliseconds } = told, count = results.length;
  const { regex, ...within } = filters, narrowed = !count && Object.keys(within).length > 0;
  const parts = [make("b", { class: "level" }, narrowed ? "nothing found in this path or language" : saidOf(told))];
  if (count) parts.push(` · ${count} ${count === 1 ? "result" : "results"} in ${Math.round(milliseconds)} ms`);
  if (count && levelOf(told) === "none" && !saidOf(told).includes(BY_MEANING)) parts.push(`, ${BY_MEANING}`);
  if (narrowed) parts.push(" · ", viewLink("search everything", { q, ...(regex && { regex }) }));
  const nearest = certainty?.nearest ?? [];
  if (nearest.length) parts.push(make("span", { class: "nearest" }, "Nearest: ", ...nearest.flatMap((name, place) => [place ? ", " : "", viewLink(seen(name), { q: name, ...filters })])));
  return parts;
}

function saidOf({ certainty, results }) {
  if (certainty?.text) return seen(certainty.nearest?.length ? withoutNearest(certainty.text) : certainty.text);
  return results.length ? "found" : "nothing found: no file has these words";
}

/** The line without its part that names the nearest, which are links below. */
function withoutNearest(text) {
  return text.split("; ").filter((part) => !part.startsWith("nearest: ")).join("; ").replace(/: nearest: [^;]*/, "");
}
