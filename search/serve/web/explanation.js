// Why a hit matches: the words of the question with what each is aligned with, and the matrix of all alignments.

import { make, seen, visuallyHidden } from "/dom.js";

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
export function explained(told) {
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
export function matrixOf(told, explanation) {
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
  const size = `${told.query.length} ${told.query.length === 1 ? "word" : "words"} of the question × ${told.code.length} of the code`;
  return [make("details", { open: wide }, make("summary", {}, "Alignment matrix ", make("span", { class: "size" }, size)), scroller, caption)];
}

function hint() {
  return [make("span", {}, "Stronger colour means more attention. Rows of words without alignment are pale.")];
}
