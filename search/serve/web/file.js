// The view of a file: the lines of a hit in their surroundings, with links to what else the file declares.

import { codeBlock } from "/code.js";
import { ask, byId, button, complain, entitle, fileLink, linesText, linkTo, make, seen, viewLink } from "/dom.js";
import { NAMES } from "/languages.js";
import { usagesOf } from "/usages.js";

const title = byId("file-title"), facts = byId("file-facts"), acts = byId("file-acts"), note = byId("file-note");
const outline = byId("file-outline"), used = byId("file-usages"), place = byId("file-code");

let shown = null; // what is loaded, with its block of code
let asked = null;

/** Shows this view as the address has it. */
export async function openFile(kept) {
  const path = kept.get("file") ?? "", [start, end = start] = (kept.get("lines") ?? "1").split("-").map((each) => Math.max(1, Number.parseInt(each, 10) || 1));
  entitle(path);
  if (shown?.path === path && holds(shown, start)) return mark(start, end);
  asked?.abort();
  const mine = (asked = new AbortController());
  title.textContent = seen(path);
  for (const each of [facts, acts, outline, used, place]) each.replaceChildren();
  used.dataset.of = "";
  complain(note, "");
  shown = null;
  try {
    const told = await ask("/api/file", { path, line: start }, mine.signal);
    if (mine === asked) show(told, start, end);
  } catch (error) {
    if (error.name !== "AbortError") complain(note, error.message);
  }
}

function holds({ first_line: first, lines, block }, line) {
  return lines > 0 && line >= first && line < first + block.lines.length;
}

function show(told, start, end) {
  const block = codeBlock({ name: told.path, source: told.text, firstLine: told.first_line, kinds: told.kinds, indent: told.indent });
  shown = { ...told, block };
  block.element.classList.add("full");
  const size = told.lines ? `${told.lines.toLocaleString("en")} ${told.lines === 1 ? "line" : "lines"}` : "shown in part";
  facts.replaceChildren(...[NAMES[told.language] ?? told.language, size, seen(told.license) || "licence not known"].map((each) => make("span", {}, each)));
  complain(note, told.note && `${told.note[0].toUpperCase()}${told.note.slice(1)}.`);
  const last = told.first_line + block.lines.length - 1;
  place.replaceChildren(...[
    told.lines && told.first_line > 1 ? edge("Earlier lines", Math.max(1, told.first_line - 1)) : null,
    block.element,
    told.lines > last ? edge("Later lines", last + 1) : null,
  ].filter(Boolean));
  mark(start, end);
}

function edge(label, line) {
  return make("p", { class: "edge-of-file" }, fileLink(label, { path: shown.path, start_line: line, end_line: line }, { class: "quiet" }));
}

/** Marks lines, brings them into view, and links what is around them. */
function mark(start, end) {
  const { block, first_line: first, units, path } = shown;
  const known = first > 0;
  block.lines.forEach((line, number) => line.classList.toggle("on", known && number + first >= start && number + first <= end));
  const inside = units.filter((each) => each.start_line <= start && start <= each.end_line).pop();
  const here = units.find((each) => each.start_line === start && each.end_line === end) ?? inside;
  const at = units.indexOf(here);
  const before = at > 0 ? units[at - 1] : units.filter((each) => each.end_line < start).pop();
  const after = at >= 0 ? units[at + 1] : units.find((each) => each.start_line > start);
  acts.replaceChildren(...[
    button("Back", { class: "quiet" }, () => history.back()),
    viewLink("Related code", { view: "related", file: path, line: String(start) }, { class: "quiet" }),
    linkTo(shown.url, path),
  ].filter(Boolean));
  outline.replaceChildren(
    ...(units.length ? [
      make("p", { class: "around" }, unitLink("↑ ", before, path), unitLink("↓ ", after, path)),
      make("details", {}, make("summary", {}, "Functions and types ", make("span", { class: "size" }, count(shown))),
        make("ol", { class: "units" }, ...units.map((each) => make("li", {}, fileLink(seen(each.name), { path, ...each }, { "aria-current": each === here && "location" }), make("span", { class: "lines" }, ` ${linesText(each)}`))))),
    ] : []));
  if (used.dataset.of !== (here?.name ?? "")) used.replaceChildren(...(here ? [usagesOf(here.name, `Usages of ${seen(here.name)}`)] : []));
  used.dataset.of = here?.name ?? "";
  const line = known ? block.lines[start - first] : null;
  title.focus({ preventScroll: true });
  if (line && start > 1) line.scrollIntoView({ block: end - start > 20 ? "start" : "center" });
  else scrollTo(0, 0);
}

function count({ units, unit_count: all }) {
  return units.length < all ? `${units.length} of ${all.toLocaleString("en")}, those around it` : `${all}`;
}

function unitLink(arrow, unit, path) {
  return unit ? fileLink(`${arrow}${seen(unit.name)}`, { path, ...unit }, { class: "quiet" }) : null;
}
