// A list of hits: each is a card that opens to show its code.

import { codeBlock, glance, standingAlone } from "/code.js";
import { ask, breakable, button, fileLink, linesText, linkTo, make, seen, viewLink } from "/dom.js";
import { explained, matrixOf } from "/explanation.js";
import { judgementOf } from "/judgements.js";
import { usagesOf } from "/usages.js";

let count = 0; // of cards, for their ids

/**
 * A hit: its element, its row, the button at its head, and the function that opens or closes it.
 * @param {{q: string, index: string, tell: (line: string) => void, stale: () => void, changed: string[]}} about the question, ""
 *   for code; the index that answered; what shows a line; what is done when rows have changed since; paths of files that
 *   have changed since
 */
export function card(hit, about) {
  const id = `hit-${++count}`;
  const head = make("button", { type: "button", id, class: "head", "aria-expanded": "false", "aria-controls": `${id}-body`, "data-row": String(hit.row) }, ...nameOf(hit.name));
  const body = make("div", { id: `${id}-body`, class: "body", hidden: true });
  const copy = button("Copy", { class: "quiet copy", "aria-label": `Copy the code of ${seen(hit.name)}` }, () => copyCode(hit, copy, about.tell));
  const [copies, places] = copiesOf(hit, id);
  const look = hit.preview ? glance(hit.preview, hit.preview.numbered) : make("p", { class: "signature" }, seen(hit.signature));
  const element = make("li", { class: "hit", "data-row": String(hit.row) },
    make("div", { class: "title" }, make("h2", {}, head), make("p", { class: "place" }, fileLink(make("bdi", { dir: "ltr" }, ...breakable(seen(hit.path))), hit, { class: "in-file", title: seen(hit.path) }), make("span", { class: "lines" }, `:${linesText(hit)}`)),
      ...tagsOf(hit, about.changed), copies, make("p", { class: "acts" }, linkTo(hit.url, hit.name), copy)),
    places, look, body);
  let filled = false;
  function toggle() {
    const opens = body.hidden;
    choose(element);
    body.hidden = !opens;
    head.setAttribute("aria-expanded", String(opens));
    element.classList.toggle("open", opens);
    if (opens && !filled) fill(body, hit, about);
    filled = true;
  }
  head.addEventListener("click", toggle);
  head.addEventListener("focus", () => head.matches(":focus-visible") && choose(element));
  look.addEventListener("click", () => getSelection().isCollapsed && toggle());
  return { element, row: String(hit.row), head, toggle };
}

/** Of the chosen hit more lines are shown. */
function choose(element) {
  element.parentElement?.querySelector(".chosen")?.classList.remove("chosen");
  element.classList.add("chosen");
}

function tagsOf(hit, changed = []) {
  const copied = { exact: "copy", near: "near copy" }[hit.copy];
  return [hit.whole_file ? "file" : "", changed.includes(hit.path) ? "may be old" : "", copied ?? ""].filter(Boolean).map((text) => make("span", { class: "tag" }, text));
}

/** A button that says how many copies a hit has, and the list of their places, which it shows; nulls if there are none. */
function copiesOf({ copies = [], name }, id) {
  if (!copies.length) return [null, null];
  const places = make("ul", { id: `${id}-copies`, class: "copies", hidden: true }, ...copies.map((each) => make("li", {}, fileLink(`${seen(each.path)}:${linesText(each)}`, each))));
  const text = `and ${copies.length.toLocaleString("en")} ${copies.length === 1 ? "copy" : "copies"}`;
  const attributes = { class: "quiet", "aria-expanded": "false", "aria-controls": places.id, "aria-label": `${seen(name)} ${text}` };
  const shows = button(text, attributes, () => {
    places.hidden = !places.hidden;
    shows.setAttribute("aria-expanded", String(!places.hidden));
  });
  return [shows, places];
}

/** A dotted name with its last part emphasised. */
function nameOf(name) {
  const cut = name.lastIndexOf(".") + 1;
  return [make("span", { class: "outer" }, ...breakable(seen(name.slice(0, cut)))), make("wbr"), ...breakable(seen(name.slice(cut)))];
}

function scores(hit) {
  const stage = { name: " by its name", model: " by the model", words: " by its words" }[hit.stage] ?? "";
  const others = [["model", hit.model], ["vectors", hit.vectors], ["overlap", hit.overlap]].filter(([, value]) => typeof value === "number").map(([name, value]) => `, ${name} ${value.toFixed(2)}`).join("");
  const told = `score ${hit.score.toFixed(2)}${stage} (words ${hit.bm25.toFixed(1)}${others})`;
  return told.replace(/ -?(?=\d)/g, (gap) => (gap === " " ? "\u00a0" : "\u00a0−"));
}

async function copyCode(hit, copy, tell) {
  let told = "Copied";
  try {
    await navigator.clipboard.writeText(standingAlone(hit));
  } catch {
    told = "Not copied";
  }
  copy.textContent = told;
  tell(`${told}: ${seen(hit.name)}`);
  setTimeout(() => (copy.textContent = "Copy"), 1500);
}

/** Says of a long type or file that its first lines are shown; nothing of what is shown whole. */
function partOf(hit) {
  const shown = hit.source.split("\n").length, all = hit.end_line - hit.start_line + 1;
  if (shown >= all) return [];
  const told = hit.whole_file ? "Some of its" : `The first ${shown} of`;
  return [make("p", { class: "said part" }, `${told} ${all.toLocaleString("en")} lines`)];
}

async function fill(body, hit, about) {
  const { q, index, tell, stale } = about;
  const block = (told) => codeBlock({ name: hit.name, source: hit.source, firstLine: hit.whole_file ? 0 : hit.start_line, kinds: told.kinds, words: told.spans, indent: hit.indent });
  const acts = make("div", { class: "more" },
    fileLink("Whole file", hit, { class: "quiet in-file", "aria-keyshortcuts": "v" }),
    viewLink("Related code", { view: "related", file: hit.path, line: String(hit.start_line) }, { class: "quiet related", "aria-keyshortcuts": "r" }),
    judgementOf(q, hit, tell));
  const said = [
    make("p", { class: "signature" }, seen(hit.signature)),
    hit.documentation ? make("p", { class: "doc" }, seen(hit.documentation)) : null,
    make("p", { class: "facts" }, make("span", {}, seen(hit.license) || "licence not known"), make("span", {}, scores(hit))),
  ].filter(Boolean);
  const used = hit.whole_file ? [] : [usagesOf(hit.name)], rest = [...partOf(hit), acts, ...used];
  body.replaceChildren(...said, block({}).element, ...rest);
  try {
    const told = q ? await ask("/api/explain", { q, row: hit.row, index }) : await ask("/api/unit", { row: hit.row, index });
    const code = block(told);
    if (!q) return void body.replaceChildren(...said, code.element, ...rest);
    const explanation = explained(told);
    body.replaceChildren(...said, ...explanation.bind(code.light), code.element, ...rest, ...matrixOf(told, explanation));
  } catch (error) {
    if (error.status === 409) return void stale(); // row numbers have changed
    body.append(make("p", { class: "note" }, seen(error.message)));
  }
}
