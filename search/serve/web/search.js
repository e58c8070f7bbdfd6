// The view that answers questions as they are typed.

import { ask, byId, complain, entitle, make, seen, viewLink } from "/dom.js";
import { NAMES } from "/languages.js";
import { answerLine, levelOf } from "/certainty.js";
import { card } from "/hits.js";
import { asPasted, askTrace } from "/paste.js";

const PAUSE = 150; // milliseconds after the last key
const SLOW = 400; // milliseconds until the page says that it searches
const FIRST = 20; // hits, and as many more each time
const MOST = 100;

const query = byId("query"), path = byId("path"), regex = byId("regex"), language = byId("language"), byFile = byId("by-file");
const hits = byId("hits"), more = byId("more"), statusLine = byId("status"), trouble = byId("trouble"), noticed = byId("notice"), intro = byId("intro");

let top = FIRST;
let asked = null; // aborts the pending request
let waiting = 0;
let opened = false; // what is typed before is kept

const tell = (...said) => statusLine.replaceChildren(...said);

function pattern(text) {
  return /[*?[]/.test(text) ? text : `*${text}*`;
}

async function search() {
  asked?.abort();
  const mine = (asked = new AbortController());
  const q = query.value.trim(), within = path.value.trim(), matched = regex.value, by = byFile.checked && "file", chosen = language.value;
  const more = { ...(matched && { regex: matched }), ...(chosen && { language: chosen }), ...(by && { by }) };
  keepInAddress({ ...(q && { q }), ...(within && { path: within }), ...more });
  complain(trouble, "");
  intro.hidden = q !== "" || matched !== "";
  if (!q && !matched) return show("", { results: [] });
  hits.setAttribute("aria-busy", "true");
  const slow = setTimeout(() => mine === asked && tell("Searching…"), SLOW); // as where an index is opened for it
  try {
    const parameters = { q: asPasted(q), top, colours: true, ...(within && { path: pattern(within) }), ...more };
    const told = await ask("/api/search", parameters, mine.signal);
    if (mine === asked) told.trace ? askTrace(asPasted(q)) : show(q, told);
  } catch (error) {
    if (mine !== asked || error.name === "AbortError") return;
    show("", { results: [] });
    complain(trouble, error.message);
  } finally {
    clearTimeout(slow);
  }
}

function again() {
  top = FIRST;
  search();
}

function soon() {
  clearTimeout(waiting);
  top = FIRST;
  waiting = setTimeout(search, PAUSE);
}

function keepInAddress(asked) {
  const kept = new URLSearchParams(asked).toString();
  history.replaceState(null, "", kept ? `#${kept}` : location.pathname);
  entitle(asked.q ?? asked.regex ?? "");
}

/** Offers the languages of the index; one that the address names is offered whatever the index has. */
export function offerLanguages(files) {
  const chosen = language.value, names = Object.keys(files).sort();
  if (chosen && !names.includes(chosen)) names.push(chosen);
  const options = names.map((name) => new Option(`${NAMES[name] ?? name} (${(files[name] ?? 0).toLocaleString("en")})`, name));
  language.replaceChildren(new Option("All languages", ""), ...options);
  language.value = chosen;
  byId("language-field").hidden = names.length < 2 && !chosen;
}

/** Offers what may be asked of the index. */
export function offerExamples({ questions = [], name = "", path: folder = "" }) {
  const asks = (text) => viewLink(seen(text), { q: text });
  if (questions.length) query.placeholder = seen(questions[0]);
  path.placeholder = folder ? `${seen(folder)} or *test*` : "src or *test*";
  byId("examples").replaceChildren(
    make("p", {}, "Describe what code does, or type a name", ...(name ? [" such as ", asks(name)] : []), "."),
    make("p", {}, "Narrow it in the question: ", make("code", {}, `path:${seen(folder) || "src"}/`), " ", make("code", {}, "type:function"), " ", make("code", {}, "test:no"), "."),
    ...(questions.length ? [make("p", {}, "For example:"), make("ul", {}, ...questions.map((each) => make("li", {}, asks(each))))] : []));
}

/** Shows this view as the address has it. */
export function openSearch(kept) {
  clearTimeout(waiting);
  if (opened || kept.has("q")) query.value = kept.get("q") ?? "";
  opened = true;
  path.value = kept.get("path") ?? "";
  regex.value = kept.get("regex") ?? "";
  const chosen = kept.get("language") ?? "";
  if (chosen && ![...language.options].some((each) => each.value === chosen)) language.append(new Option(NAMES[chosen] ?? seen(chosen), chosen));
  language.value = chosen;
  byId("language-field").hidden = language.options.length < 3 && !chosen;
  byFile.checked = kept.get("by") === "file";
  again();
}

/** Asks the same of an index that has more, unless a result is open that `mayWait` for the next one. */
export function askAgain(mayWait) {
  if (!mayWait || !hits.querySelector("[aria-expanded=true]")) search();
}

/** Stops what is under way, when another view is shown. */
export function closeSearch() {
  clearTimeout(waiting);
  asked?.abort();
}

function show(q, told) {
  hits.removeAttribute("aria-busy");
  const open = top > FIRST ? [...hits.querySelectorAll("[aria-expanded=true]")].map((each) => each.dataset.row) : [];
  const focused = document.activeElement.closest?.(".hit")?.dataset.row;
  const cards = told.results.map((hit) => card(hit, { q, index: told.index, tell, stale: search, changed: told.freshness?.changed }));
  hits.replaceChildren(...cards.map((each) => each.element));
  for (const each of cards.filter((card) => open.includes(card.row))) each.toggle();
  if (focused !== undefined) (cards.find((each) => each.row === focused)?.head ?? query).focus();
  const count = told.results.length;
  more.hidden = count < top || top >= MOST;
  complain(noticed, told.notice ?? "");
  const filters = { ...(path.value.trim() && { path: path.value.trim() }), ...(regex.value && { regex: regex.value }), ...(language.value && { language: language.value }) };
  statusLine.dataset.level = told.certainty ? levelOf(told) : "";
  tell(...(told.certainty ? answerLine(q, told, filters) : []));
}

query.addEventListener("input", soon);
path.addEventListener("input", soon);
regex.addEventListener("input", soon);
language.addEventListener("change", again);
byFile.addEventListener("change", again);
more.addEventListener("click", () => {
  top = Math.min(top + FIRST, MOST);
  search();
});
