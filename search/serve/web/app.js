// The page of the search. What the server returns is untrusted: it is shown as text, never as markup.

import { linesOf, seen } from "/java.js";

const PAUSE = 150; // milliseconds after the last key
const FIRST = 20; // hits, and as many more each time
const MOST = 100;

const byId = (id) => document.getElementById(id);
const query = byId("query"), path = byId("path"), byFile = byId("by-file"), hits = byId("hits"), more = byId("more");
const statusLine = byId("status"), trouble = byId("trouble"), intro = byId("intro"), keys = byId("keys");

let top = FIRST;
let asked = null; // aborts the pending request
let waiting = 0;

/** An element; children that are strings become text. */
function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== false) element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.filter((child) => child !== null && child !== ""));
  return element;
}

function visuallyHidden(text) {
  return make("span", { class: "unseen" }, text);
}

// Asking

async function ask(place, parameters, signal) {
  let answer;
  try {
    answer = await fetch(`${place}?${new URLSearchParams(parameters)}`, { signal });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Error("The server does not respond. Is `serve` still running?");
  }
  const told = await answer.json();
  if (!answer.ok) throw Object.assign(new Error(told.error), { status: answer.status });
  return told;
}

function pattern(text) {
  return /[*?[]/.test(text) ? text : `*${text}*`;
}

async function search() {
  asked?.abort();
  const mine = (asked = new AbortController());
  const q = query.value.trim(), within = path.value.trim(), by = byFile.checked && "file";
  keepInAddress({ ...(q && { q }), ...(within && { path: within }), ...(by && { by }) });
  complain("");
  intro.hidden = q !== "";
  if (!q) return show("", { results: [] });
  hits.setAttribute("aria-busy", "true");
  try {
    const parameters = { q, top, ...(within && { path: pattern(within) }), ...(by && { by }) };
    const told = await ask("/api/search", parameters, mine.signal);
    if (mine === asked) show(q, told);
  } catch (error) {
    if (mine !== asked || error.name === "AbortError") return;
    show("", { results: [] });
    complain(error.message);
  }
}

function soon() {
  clearTimeout(waiting);
  top = FIRST;
  waiting = setTimeout(search, PAUSE);
}

function complain(text) {
  trouble.hidden = !text;
  trouble.textContent = seen(text);
}

function keepInAddress(asked) {
  const kept = new URLSearchParams(asked).toString();
  history.replaceState(null, "", kept ? `#${kept}` : location.pathname);
  document.title = asked.q ? `${seen(asked.q)} – code search` : "Code search";
}

function readAddress() {
  const kept = new URLSearchParams(location.hash.slice(1));
  query.value = kept.get("q") ?? "";
  path.value = kept.get("path") ?? "";
  byFile.checked = kept.get("by") === "file";
}

// Results

function show(q, told) {
  hits.removeAttribute("aria-busy");
  const open = top > FIRST ? [...hits.querySelectorAll("[aria-expanded=true]")].map((each) => each.dataset.row) : [];
  const focused = document.activeElement.closest?.(".hit")?.dataset.row;
  const cards = told.results.map((hit) => card(q, told.index, hit));
  hits.replaceChildren(...cards.map((each) => each.element));
  for (const each of cards.filter((card) => open.includes(card.row))) each.toggle();
  if (focused !== undefined) (cards.find((each) => each.row === focused)?.head ?? query).focus();
  const count = told.results.length;
  more.hidden = count < top || top >= MOST;
  if (!q) statusLine.textContent = "";
  else if (count) statusLine.textContent = `${count} ${count === 1 ? "result" : "results"} in ${Math.round(told.milliseconds)} ms`;
  else statusLine.textContent = "Nothing found: none of these words is in a name, an identifier, a call or a comment here.";
}

/** A hit: its element, its row, the button at its head, and the function that opens or closes it. */
function card(q, index, hit) {
  const id = `hit-${hit.rank}`;
  const head = make("button", { type: "button", id, class: "head", "aria-expanded": "false", "aria-controls": `${id}-body`, "data-row": String(hit.row) }, ...nameOf(hit.name));
  const body = make("div", { id: `${id}-body`, class: "body", hidden: true });
  const lines = hit.end_line > hit.start_line ? `${hit.start_line}–${hit.end_line}` : `${hit.start_line}`;
  const copy = make("button", { type: "button", class: "quiet copy", "aria-label": `Copy the code of ${seen(hit.name)}` }, "Copy");
  const link = linkTo(hit);
  const element = make("li", { class: "hit", "data-row": String(hit.row) },
    make("div", { class: "title" }, make("h2", {}, head), make("p", { class: "acts" }, link, copy)),
    make("p", { class: "place" }, seen(hit.path), make("span", { class: "lines" }, `:${lines}`)),
    make("p", { class: "signature" }, seen(hit.signature)),
    hit.documentation ? make("p", { class: "doc" }, seen(hit.documentation)) : null,
    make("p", { class: "facts" }, make("span", {}, seen(hit.license) || "licence not known"), make("span", {}, scores(hit))),
    body);
  let filled = false;
  function toggle() {
    const opens = body.hidden;
    body.hidden = !opens;
    head.setAttribute("aria-expanded", String(opens));
    element.classList.toggle("open", opens);
    if (opens && !filled) fill(body, q, index, hit);
    filled = true;
  }
  head.addEventListener("click", toggle);
  copy.addEventListener("click", () => copyCode(hit, copy));
  return { element, row: String(hit.row), head, toggle };
}

/** A dotted name with its last part emphasised. */
function nameOf(name) {
  const cut = name.lastIndexOf(".") + 1;
  return [make("span", { class: "outer" }, seen(name.slice(0, cut))), seen(name.slice(cut))];
}

function scores(hit) {
  const stage = { name: "by its name", model: "by the model", words: "by its words" }[hit.stage] ?? "";
  const others = [["model", hit.model], ["vectors", hit.vectors]].filter(([, value]) => typeof value === "number").map(([name, value]) => `, ${name} ${value.toFixed(2)}`).join("");
  const told = `score ${hit.score.toFixed(2)} ${stage} (words ${hit.bm25.toFixed(1)}${others})`;
  return told.replace(/ -?(?=\d)/g, (gap) => (gap === " " ? "\u00a0" : "\u00a0−"));
}

function linkTo(hit) {
  let url;
  try {
    url = new URL(hit.url);
  } catch {
    return null;
  }
  if (url.protocol !== "https:") return null;
  return make("a", { class: "quiet", href: url.href, target: "_blank", rel: "noreferrer noopener", "aria-label": `${seen(hit.name)} at ${url.host}` }, "Source ↗");
}

async function copyCode(hit, button) {
  let told = "Copied";
  try {
    await navigator.clipboard.writeText(hit.source);
  } catch {
    told = "Not copied";
  }
  button.textContent = told;
  statusLine.textContent = `${told}: ${seen(hit.name)}`;
  setTimeout(() => (button.textContent = "Copy"), 1500);
}

// An open result

async function fill(body, q, index, hit) {
  body.replaceChildren(codeOf(hit, []).element);
  try {
    const told = await ask("/api/explain", { q, row: hit.row, index });
    const explanation = explained(told), code = codeOf(hit, told.spans);
    body.replaceChildren(...explanation.bind(code.light), code.element, ...matrixOf(told, explanation));
  } catch (error) {
    if (error.status === 409) return void search(); // row numbers have changed
    body.append(make("p", { class: "note" }, seen(error.message)));
  }
}

/** The source with line numbers, and a function that highlights words, given a map from word to strength (0 to 1). */
function codeOf(hit, spans) {
  const lit = [];
  const lines = linesOf(hit.source, spans).map((pieces, number) => {
    const line = make("span", { class: "line", "data-number": String(hit.start_line + number) });
    for (const { text, kind, word } of pieces) {
      if (!kind && !word) line.append(text);
      else {
        const piece = make("span", { class: [kind, word && "word"].filter(Boolean).join(" ") }, text);
        if (word) lit.push([word, piece]);
        line.append(piece);
      }
    }
    line.append("\n");
    return line;
  });
  const element = make("pre", { class: "code", tabindex: "0", role: "region", "aria-label": `Code of ${seen(hit.name)}` }, make("code", {}, ...lines));
  const light = (strengths) => {
    for (const [word, piece] of lit) {
      const strength = strengths.get(word) ?? 0;
      piece.classList.toggle("lit", strength > 0);
      piece.style.setProperty("--strength", strength.toFixed(3));
    }
  };
  return { element, light };
}

/** [code word, field, weight] of a query word, strongest first, equal ones merged and weak ones left out. */
function byField(told, row) {
  const found = new Map();
  told.weights[row].forEach((weight, column) => {
    const key = `${told.fields[column]} ${told.code[column]}`;
    const before = found.get(key)?.[2] ?? 0;
    found.set(key, [told.code[column], told.fields[column], before + weight]);
  });
  return [...found.values()].filter(([, , weight]) => weight >= told.least_weight).sort((a, b) => b[2] - a[2]);
}

/** What each query word is aligned with, its chips, and the line below them. */
function explained(told) {
  const aligns = told.weights.length > 0;
  const rows = told.query.map((word, row) => {
    const weak = aligns && told.agreement[row] < told.least_agreement;
    const words = new Map();
    if (!aligns) words.set(word, { weight: 1, fields: [] });
    else if (!weak) {
      for (const [code, field, weight] of byField(told, row)) {
        const found = words.get(code) ?? { weight, fields: [] }; // the strongest field comes first
        found.fields.push([field, weight]);
        words.set(code, found);
      }
    }
    const strongest = [...words], most = strongest[0]?.[1].weight ?? 1;
    return { word, weak: weak || !strongest.length, strongest, strengths: new Map(strongest.map(([code, each]) => [code, each.weight / most])) };
  });
  const all = new Map();
  for (const { strengths } of rows) {
    for (const [code, strength] of strengths) all.set(code, Math.max(all.get(code) ?? 0, 0.5 * strength));
  }
  const said = make("p", { class: "said", role: "status" });
  const shown = { rows, light: () => {} };
  let held = null;
  const chips = rows.map((row, number) => make("button", { type: "button", class: row.weak ? "chip weak" : "chip", "aria-pressed": "false", "data-number": String(number) }, seen(row.word), row.weak ? visuallyHidden(" (no alignment)") : null));
  shown.point = (number) => {
    const row = rows[number ?? held];
    chips.forEach((chip, place) => chip.classList.toggle("on", place === (number ?? held)));
    shown.light(row ? row.strengths : all);
    said.replaceChildren(...(row ? sentence(row, aligns) : [make("span", {}, "Choose a word to see what it is aligned with.")]));
  };
  chips.forEach((chip, number) => {
    chip.addEventListener("pointerenter", () => shown.point(number));
    chip.addEventListener("pointerleave", () => shown.point(null));
    chip.addEventListener("focus", () => shown.point(number));
    chip.addEventListener("blur", () => shown.point(null));
    chip.addEventListener("click", () => {
      held = held === number ? null : number;
      chips.forEach((each, place) => each.setAttribute("aria-pressed", String(place === held)));
      shown.point(number);
    });
  });
  shown.said = said;
  shown.bind = (light) => {
    shown.light = light;
    shown.point(null);
    const legend = rows.some((row) => row.weak) ? make("span", { class: "legend" }, "dashed: no alignment") : null;
    return [make("div", { class: "chips", role: "group", "aria-label": "Words of the question" }, ...chips, legend), said];
  };
  return shown;
}

function sentence(row, aligns) {
  const from = make("b", {}, seen(row.word));
  if (!aligns) return [from, " is highlighted where it occurs; this model does not align words."];
  if (row.weak) return [from, " has no alignment here."];
  const words = row.strongest.slice(0, 4).map(([code, { fields }]) => {
    const weights = fields.map(([field, weight]) => `${field}\u00a0${weight.toFixed(2)}`);
    return `${seen(code)} (${weights.join(", ")})`;
  });
  return [from, ` → ${words.join(" · ")}`];
}

/** The alignment matrix: a table with coloured cells, whose numbers are there for screen readers. */
function matrixOf(told, explanation) {
  if (!told.weights.length) return [];
  const most = Math.max(...told.weights.flat());
  const groups = [];
  for (const field of told.fields) {
    if (groups.at(-1)?.[0] === field) groups.at(-1)[1]++;
    else groups.push([field, 1]);
  }
  const starts = new Set(groups.reduce((edges, [, size]) => [...edges, edges.at(-1) + size], [0]));
  const edge = (column) => (starts.has(column) ? "edge" : "");
  const caption = make("p", { class: "said" }, ...hint());
  const table = make("table", { class: "matrix" },
    make("caption", { class: "unseen" }, "Attention of each word of the question to each word of the code; each row sums to 1"),
    make("thead", {},
      make("tr", {}, make("td"), ...groups.map(([field, size]) => make("th", { scope: "colgroup", colspan: String(size), class: "group" }, field))),
      make("tr", {}, make("td"), ...told.code.map((word, column) => make("th", { scope: "col", class: edge(column), title: seen(word) }, make("span", {}, seen(word)))))),
    make("tbody", {}, ...told.query.map((word, row) => make("tr", { class: explanation.rows[row].weak ? "weak" : "" },
      make("th", { scope: "row" }, seen(word), explanation.rows[row].weak ? visuallyHidden(" (no alignment)") : null),
      ...told.weights[row].map((weight, column) => {
        const cell = make("td", { class: edge(column), "data-row": String(row), "data-column": String(column) }, visuallyHidden(weight.toFixed(2)));
        cell.style.setProperty("--strength", (weight / most).toFixed(3));
        return cell;
      })))));
  table.addEventListener("pointerover", (event) => {
    const { row, column } = event.target.closest("td[data-row]")?.dataset ?? {};
    if (row === undefined) return;
    caption.replaceChildren(make("b", {}, seen(told.query[row])), ` → ${seen(told.code[column])} (${told.fields[column]}): ${told.weights[row][column].toFixed(3)}`);
    explanation.light(new Map([[told.code[column], 1]]));
  });
  table.addEventListener("pointerleave", () => {
    caption.replaceChildren(...hint());
    explanation.point(null);
  });
  const scroller = make("div", { class: "scroller", tabindex: "0", role: "region", "aria-label": "Alignment matrix" }, table);
  const wide = matchMedia("(min-width: 45rem)").matches;
  const size = `${told.query.length} words of the question × ${told.code.length} of the code`;
  return [make("details", { open: wide }, make("summary", {}, "Alignment matrix ", make("span", { class: "size" }, size)), scroller, caption)];
}

function hint() {
  return [make("span", {}, "Stronger colour means more attention. Rows of words without alignment are pale.")];
}

// Keys

function move(by) {
  const heads = [...hits.querySelectorAll(".head")];
  const now = heads.indexOf(document.activeElement.closest(".hit")?.querySelector(".head"));
  const next = now + by;
  if (next < 0) return query.focus();
  const head = heads[Math.min(next, heads.length - 1)];
  head?.focus({ preventScroll: true });
  head?.closest(".hit").scrollIntoView({ block: "nearest" });
}

function ofCurrent(selector) {
  return document.activeElement.closest(".hit")?.querySelector(selector)?.click();
}

const ACTIONS = {
  "/": () => query.select(),
  "?": () => keys.showModal(),
  j: () => move(1),
  k: () => move(-1),
  ArrowDown: () => move(1),
  ArrowUp: () => move(-1),
  o: () => ofCurrent("a[href]"),
  c: () => ofCurrent(".copy"),
  f: () => byFile.click(),
  Escape: () => query.focus(),
};

function onKey(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing || keys.open) return;
  const { target, key } = event;
  if (target === query || target === path) {
    if (key === "ArrowDown") move(1);
    else if (key === "Enter" && target === query) hits.querySelector(".head")?.click();
    else return;
  } else if (key.startsWith("Arrow") && target.closest("[role=region]")) return; // scrolls it
  else if (Object.hasOwn(ACTIONS, key)) ACTIONS[key]();
  else return;
  event.preventDefault();
}

// Beginning

async function tellAbout() {
  try {
    const told = await ask("/health", {});
    byId("about").textContent = `${told.rows.toLocaleString("en")} functions, types and files of ${told.files.toLocaleString("en")} files`;
    if (told.trouble) complain(`Results come from an older index. ${told.trouble}`);
  } catch (error) {
    complain(error.message);
  }
}

document.addEventListener("keydown", onKey);
byId("form").addEventListener("submit", (event) => event.preventDefault());
byId("show-keys").addEventListener("click", () => keys.showModal());
query.addEventListener("input", soon);
path.addEventListener("input", soon);
byFile.addEventListener("change", () => {
  top = FIRST;
  search();
});
more.addEventListener("click", () => {
  top = Math.min(top + FIRST, MOST);
  search();
});
addEventListener("hashchange", () => {
  readAddress();
  search();
});
readAddress();
if (query.value) search();
tellAbout();
