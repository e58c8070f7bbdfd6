// The views that look for code: a stack trace or code that is pasted, and the code at a place.

import { ask, byId, complain, entitle, fileLink, linesText, make, post, seen } from "/dom.js";
import { card } from "/hits.js";

const form = byId("paste-form"), text = byId("paste-text"), trouble = byId("paste-trouble"), statusLine = byId("paste-status");
const place = byId("paste-place"), frames = byId("paste-frames"), list = byId("paste-hits");

const LONGEST = byId("query").maxLength; // characters of a question
/** What ends, begins or stands in a line of code, and seldom in one of a message. */
const OF_CODE = /[{};]\s*$|^\s*[)\]}]|\w\(.*\)|[-=]>|<-|:=|\|>|[\w\])]\s*[-+*/|&]?=\s|^\s*(def|class|func?|fn|function|return|import|const|let|var|public|private|end)\b|^\s*(for|if|while|with|elif|else|try|switch)\b.*[:{)]\s*$/;

const noticed = byId("paste-notice"), tell = (line) => (statusLine.textContent = line);
let asked = null, asksAtOnce = false, pasted = "";

export function openPaste() {
  entitle("Code or stack trace");
  clear();
  form.hidden = false;
  text.focus();
  if (asksAtOnce) form.requestSubmit();
  asksAtOnce = false;
}

/** Shows what a trace or code leads to. */
export function askTrace(given) {
  text.value = given;
  asksAtOnce = true;
  location.hash = "view=code";
}

/** A question with the lines that it was pasted with, which an input of one line loses. */
export function asPasted(q) {
  return onOneLine(pasted) === onOneLine(q) ? pasted : q;
}

const onOneLine = (told) => told.split(/\s+/).join(" ");

/** Whether most lines of a text are code. */
function isCode(told) {
  const lines = told.split("\n").filter((line) => line.trim());
  return lines.length > 1 && 2 * lines.filter((line) => OF_CODE.test(line)).length > lines.length;
}

/** Shows code like that at the place that the address names. */
export function openRelated(kept) {
  entitle("Related code");
  clear();
  form.hidden = true;
  const path = kept.get("file") ?? "", line = kept.get("line") ?? "1";
  look(() => ask("/api/related", { path, line }, asked.signal), () => openRelated(kept));
}

function clear() {
  asked?.abort();
  for (const each of [trouble, noticed]) complain(each, "");
  tell("");
  for (const each of [place, frames, list]) each.replaceChildren();
}

async function look(answer, stale) {
  const mine = (asked = new AbortController());
  tell("Looking…");
  try {
    const told = await answer();
    if (mine === asked) show(told, stale);
  } catch (error) {
    if (mine !== asked || error.name === "AbortError") return;
    clear();
    complain(trouble, error.message);
  }
}

function show(told, stale) {
  clear();
  const cards = told.results.map((hit) => card(hit, { q: "", index: told.index, tell, stale }));
  list.replaceChildren(...cards.map((each) => each.element));
  const unread = told.frames_not_read ? `${told.frames_not_read.toLocaleString("en")} ${told.frames_not_read > 1 ? "lines look like frames and are" : "line looks like a frame and is"} not read` : "";
  complain(noticed, [told.notice, unread].filter(Boolean).join("; "));
  const count = told.results.length;
  const what = told.kind === "trace" ? `${told.frames_in_index} of ${told.frames} frames in the index; ` : "";
  tell(`${what}${count ? `${count} like it` : "no code like it"}, ${Math.round(told.milliseconds)} ms`);
  if (told.place) place.replaceChildren("Code like ", fileLink(seen(told.place.name), told.place), ` in ${seen(told.place.path)}`);
  else if (told.kind === "trace") place.replaceChildren("Frames that lie in the index link to their code; below them is code like theirs.");
  frames.replaceChildren(...(told.errors ?? []).map((each, number) => errorOf(each, number, told.innermost)));
}

/** An error of a trace with its frames in their order; the innermost is marked. */
function errorOf(error, number, innermost) {
  const inside = error.frames.length - 1, raised = innermost === "last" ? inside : 0;
  const items = error.frames.map((frame, place) => make("li", { class: frame.unit ? "frame" : "frame outside" },
    frame.unit ? fileLink(seen(frame.unit.name), frameLines(frame)) : make("span", {}, seen(frame.name) || "no name"),
    place === raised ? make("span", { class: "tag" }, "raised here") : null,
    make("span", { class: "place" }, `${seen(frame.unit?.path ?? frame.path)}${frame.line ? `:${frame.line}` : ""}${frame.unit ? moved(frame.unit) : ", not in the index"}`),
    frame.code ? make("code", {}, seen(frame.code)) : null));
  const relation = error.relation ? `${error.relation}: ` : "";
  return make("section", { class: "error-of-trace", "aria-label": `Error ${number + 1}` },
    make("h2", {}, `${relation}${seen(error.error) || "error"}`, error.message ? make("span", { class: "outer" }, `: ${seen(error.message)}`) : null),
    make("ol", { class: "frames" }, ...items),
    error.left_out ? make("p", { class: "outer" }, `${error.left_out.toLocaleString("en")} frames are left out`) : null);
}

/** The line of a frame if its unit still has it, else the unit. */
function frameLines({ line, unit }) {
  return line && !unit.moved ? { path: unit.path, start_line: line, end_line: line } : unit;
}

function moved(unit) {
  return unit.moved ? `, now in lines ${linesText(unit)}` : "";
}

form.addEventListener("submit", (event) => {
  event.preventDefault();
  const given = text.value;
  clear();
  if (!given.trim()) return complain(trouble, "Paste a stack trace or code first.");
  const send = () => look(() => post("/api/code", { text: given, top: 20 }, asked.signal), send);
  send();
});
byId("query").addEventListener("paste", (event) => {
  pasted = event.clipboardData.getData("text").trim();
  if (!isCode(pasted) && pasted.length <= LONGEST) return; // a question, or a short trace, which its answer says
  event.preventDefault();
  askTrace(pasted);
});
text.addEventListener("keydown", (event) => {
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) form.requestSubmit();
});
