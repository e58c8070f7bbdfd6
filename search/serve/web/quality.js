// The view of the practitioner measure: which of the user's questions fail, and why.

import { ask, byId, button, complain, entitle, fileLink, make, post, seen, viewLink, visuallyHidden } from "/dom.js";
import { loadJudgements } from "/judgements.js";

const FAILED = 0.5; // NDCG@10 below which a question counts as failed
const WHERE = { text: "code", comments: "comments", stem: "file name", folders: "folders" };

const mine = byId("quality-mine"), acts = byId("quality-acts"), file = byId("quality-file"), trouble = byId("quality-trouble");
const statusLine = byId("quality-status"), project = byId("quality-project"), place = byId("quality-result");

let asked = null;

/** Shows what is saved, and offers to measure it. */
export async function openQuality() {
  entitle("My questions");
  complain(trouble, "");
  try {
    const told = await loadJudgements();
    const measured = told?.queries.filter((each) => each.relevant.length + each.secondary.length) ?? [];
    mine.replaceChildren(...saved(told));
    acts.replaceChildren(...(measured.length > 1 ? [button(`Measure my ${measured.length} questions`, { class: "main" }, () => measure({}))] : []));
  } catch (error) {
    complain(trouble, error.message);
  }
}

function saved(told) {
  if (!told) return ["This server takes no judgements; open a file of questions."];
  if (!told.queries.length) return ["None is saved yet: open a result of a search and say whether it answers the question. Two questions with an answer are needed, about twenty for a first measure."];
  const list = make("ul", { class: "saved" }, ...told.queries.map((each) => {
    const answers = each.relevant.length + each.secondary.length;
    return make("li", {}, viewLink(seen(each.query), { q: each.query }), make("span", { class: "outer" }, ` ${answers} ${answers === 1 ? "answer" : "answers"}${each.irrelevant.length ? `, ${each.irrelevant.length} that are none` : ""}`));
  }));
  return [make("details", {}, make("summary", {}, `${told.queries.length} saved ${told.queries.length === 1 ? "question" : "questions"} `, make("span", { class: "size" }, seen(told.file))), list)];
}

async function measure(queries) {
  asked?.abort();
  const own = (asked = new AbortController());
  complain(trouble, "");
  place.replaceChildren();
  statusLine.textContent = "Measuring: every question is asked at each stage of the search…";
  try {
    const told = await post("/api/quality", queries, own.signal);
    if (own === asked) show(told);
  } catch (error) {
    if (own !== asked || error.name === "AbortError") return;
    statusLine.textContent = "";
    complain(trouble, error.message);
  }
}

export function closeQuality() {
  asked?.abort();
}

/** A file of questions is measured; a result that `quality --json` printed is shown. */
async function opened() {
  const chosen = file.files[0];
  file.value = "";
  if (!chosen) return;
  complain(trouble, "");
  project.replaceChildren();
  try {
    const told = JSON.parse(await chosen.text());
    if (Array.isArray(told.stages)) show(told);
    else if (told.queries) await measure(told);
    else offerProjects(told, chosen.name);
  } catch (error) {
    complain(trouble, `${chosen.name} is neither a file of questions nor a result of quality --json: ${error.message}`);
  }
}

/** A file may hold the questions about several projects, by name. */
function offerProjects(told, name) {
  const names = Object.keys(told).filter((each) => told[each]?.queries);
  if (!names.length) throw new Error("it has no queries");
  statusLine.textContent = "";
  place.replaceChildren();
  project.replaceChildren(`Which project of ${seen(name)} is served here? `, ...names.slice(0, 100).map((each) => button(seen(each), { class: "quiet" }, () => measure(told[each]))));
}

const shown = (value) => value.toFixed(2);
const interval = ({ low, high }) => `${shown(low)} to ${shown(high)}`;

function show(told) {
  const [whole, ...others] = told.stages, all = whole.categories.all;
  const why = told.why ?? [];
  const failed = why.filter((each) => each.ndcg < FAILED).length;
  statusLine.textContent = `${all.queries} questions over ${told.files.toLocaleString("en")} files: NDCG@10 by file ${shown(all.ndcg)} (95 % interval ${interval(all)}); ${failed} below ${FAILED}`;
  const names = Object.keys(whole.categories), stages = [whole, ...others];
  const queries = [...why].sort((a, b) => a.ndcg - b.ndcg);
  place.replaceChildren(
    scroller("Stages by category", make("table", { class: "measure" },
      make("caption", {}, "NDCG@10 by file with its 95 % interval, for each stage of the search"),
      make("thead", {}, make("tr", {}, make("td"), ...names.map((name) => make("th", { scope: "col" }, seen(name), make("span", { class: "outer" }, ` ${whole.categories[name].queries}`))), make("th", { scope: "col" }, "difference"))),
      make("tbody", {}, ...stages.map((stage) => make("tr", {}, make("th", { scope: "row" }, seen(stage.name)),
        ...names.map((name) => make("td", {}, shown(stage.categories[name].ndcg), make("span", { class: "outer" }, ` ${interval(stage.categories[name])}`))),
        make("td", {}, stage.difference ? difference(stage.difference) : "")))))),
    make("h2", {}, "Questions, worst first"),
    make("ol", { class: "asked" }, ...queries.map((each) => make("li", {}, question(each, stages)))));
}

function difference({ mean, low, high, p_value: p }) {
  const signed = (value) => `${value < 0 ? "−" : "+"}${Math.abs(value).toFixed(2)}`;
  return `${signed(mean)} (${signed(low)} to ${signed(high)}), p = ${p.toFixed(3)}`;
}

function scroller(label, table) {
  return make("div", { class: "scroller", tabindex: "0", role: "region", "aria-label": label }, table);
}

/** A question: its value, and when it is opened where each file that answers it was found, and what was before it. */
function question({ query, category, ndcg, relevant, before }, stages) {
  const failed = ndcg < FAILED;
  return make("details", { open: failed },
    make("summary", {}, make("span", { class: failed ? "value failed" : "value" }, shown(ndcg)), failed ? visuallyHidden(" failed") : null, ` ${seen(query)} `, make("span", { class: "size" }, seen(category))),
    make("p", { class: "more" }, viewLink("Ask it", { q: query, by: "file" }, { class: "quiet" })),
    scroller(`Ranks for ${seen(query)}`, make("table", { class: "measure" },
      make("caption", {}, "Rank of each file that answers it"),
      make("thead", {}, make("tr", {}, make("td"), ...stages.map((stage) => make("th", { scope: "col" }, seen(stage.name))), make("th", { scope: "col" }, "words of the question in it"))),
      make("tbody", {}, ...relevant.map((each) => make("tr", {}, make("th", { scope: "row" }, each.indexed ? wholeFile(each.indexed) : seen(each.path)),
        ...stages.map((stage) => make("td", {}, each.indexed ? rank(each.ranks[stage.name]) : "not indexed")),
        make("td", { class: "words" }, wordsIn(each.words))))))),
    before.length ? make("p", { class: "said" }, "Before it:") : null,
    make("ol", { class: "before" }, ...before.map((each) => make("li", {}, wholeFile(each.path), make("span", { class: "outer" }, ` ${wordsIn(each.words)}`)))));
}

function wholeFile(path) {
  return fileLink(seen(path), { path, start_line: 1, end_line: 1 });
}

function rank(value) {
  return value ? String(value) : "not found";
}

function wordsIn(words) {
  const told = Object.entries(words).map(([word, where]) => `${seen(word)} (${where.map((each) => WHERE[each] ?? each).join(", ")})`);
  return told.join(" · ") || "none";
}

file.addEventListener("change", opened);
