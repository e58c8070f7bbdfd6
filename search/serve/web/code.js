// Code with line numbers, colours, and words that light up. The server says what is where; everything is text.

import { make, seen } from "/dom.js";

/** Converts spans in characters to spans in JavaScript's UTF-16 units. */
function inUnits(source, spans) {
  if (!/[\ud800-\udfff]/.test(source)) return spans;
  const places = [];
  let place = 0;
  for (const character of source) {
    places.push(place);
    place += character.length;
  }
  places.push(place);
  return spans.map(([start, end, word]) => [places[start], places[end], word]);
}

/**
 * The lines of `source`, each a list of {text, kind, word}.
 * @param {string} source
 * @param {[number, number, string][]} kinds what is coloured, in characters, in order
 * @param {[number, number, string][]} words positions of words, in the same way
 * @param {number} indent characters of the indentation of all lines but the first that are left out, which it has lost
 */
export function linesOf(source, kinds, words, indent) {
  kinds = inUnits(source, kinds);
  words = inUnits(source, words);
  const lines = source.split("\n");
  let start = 0, kind = 0, word = 0;
  return lines.map((line, number) => {
    const end = start + line.length, pieces = [];
    let place = number ? start + Math.min(indent, line.length - line.trimStart().length) : start;
    while (place < end) {
      while (kind < kinds.length && kinds[kind][1] <= place) kind++;
      while (word < words.length && words[word][1] <= place) word++;
      const [inKind, kindEdge] = at(kinds[kind], place, end);
      const [inWord, wordEdge] = at(words[word], place, end);
      const edge = Math.min(kindEdge, wordEdge, end);
      pieces.push({ text: seen(source.slice(place, edge)), kind: inKind, word: inWord });
      place = edge;
    }
    start = end + 1;
    return pieces;
  });
}

/** What is at `place`, "" if nothing, and where that ends. */
function at(span, place, end) {
  if (!span) return ["", end];
  return span[0] <= place ? [span[2], span[1]] : ["", span[0]];
}

/**
 * A block of code, its lines, and a function that lights up words, given a map from word to strength (0 to 1).
 * @param {{name: string, source: string, firstLine: number, kinds: [], words: [], indent: number}} code
 *   firstLine: 0 if its number is not known
 */
export function codeBlock({ name, source, firstLine, kinds = [], words = [], indent = 0 }) {
  const lit = [];
  const lines = linesOf(source, kinds, words, indent).map((pieces, number) => {
    const line = make("span", { class: "line", "data-number": firstLine ? String(firstLine + number) : "" });
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
  const element = make("pre", { class: "code", tabindex: "0", role: "region", "aria-label": `Code of ${seen(name)}` }, make("code", {}, ...lines));
  const light = (strengths) => {
    for (const [word, piece] of lit) {
      const strength = strengths.get(word) ?? 0;
      piece.classList.toggle("lit", strength > 0);
      piece.style.setProperty("--strength", strength.toFixed(3));
    }
  };
  return { element, lines, light };
}

/**
 * The lines of a hit that show it at a glance; those that are `far` from the best one are shown only of a chosen hit.
 * @param {{start_line: number, best_line: number, text: string, kinds: [], words: []}} preview as the server tells it
 * @param {boolean} numbered whether the numbers of its lines are known
 */
export function glance(preview, numbered) {
  const words = preview.words.map(([start, end]) => [start, end, "found"]);
  const lines = linesOf(preview.text, preview.kinds, words, 0);
  const best = preview.best_line - preview.start_line, other = beside(preview.text.split("\n"), best);
  return make("pre", { class: "glance" }, make("code", {}, ...lines.map((pieces, place) => {
    const near = place === best || place === other;
    const number = numbered ? String(preview.start_line + place) : "";
    return make("span", { class: near ? "line" : "line far", "data-number": number }, ...pieces.map(pieceOf), "\n");
  })));
}

/** The next line that says something, or else the last one before; -1 if there is none. */
function beside(lines, best) {
  const says = lines.map((line) => /[\p{L}\p{N}]/u.test(line));
  const next = says.indexOf(true, best + 1);
  return next > 0 ? next : best > 0 ? says.lastIndexOf(true, best - 1) : -1;
}

function pieceOf({ text, kind, word }) {
  return kind || word ? make("span", { class: [kind, word].filter(Boolean).join(" ") }, text) : text;
}

/** Code as it stands alone: without the indentation that its first line has lost. */
export function standingAlone({ source, indent = 0 }) {
  const [first, ...rest] = source.split("\n");
  return [first, ...rest.map((line) => line.slice(Math.min(indent, line.length - line.trimStart().length)))].join("\n");
}
