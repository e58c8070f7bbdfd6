// Code with line numbers, colours, and words that light up. The server says what is where; everything is text.

import { make, seen } from "/dom.js";

const STEP = 4; // spaces that a body is indented by

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
 * What all lines but the first are indented by, which begins at its declaration; a body that no bracket closes at that
 * depth, as in Python, keeps one step.
 */
function indentation(lines) {
  const depths = lines.slice(1).filter((line) => line.trim()).map((line) => [line.length - line.trimStart().length, /[)}\]]/.test(line.trimStart()[0])]);
  const least = depths.reduce((least, [depth]) => Math.min(least, depth), Infinity);
  if (!depths.length) return 0;
  return depths.some(([depth, closes]) => closes && depth === least) ? least : Math.max(0, least - STEP);
}

/**
 * The lines of `source`, each a list of {text, kind, word}.
 * @param {string} source
 * @param {[number, number, string][]} kinds what is coloured, in characters, in order
 * @param {[number, number, string][]} words positions of words, in the same way
 * @param {boolean} flush whether what all lines are indented by is left out
 */
export function linesOf(source, kinds, words, flush) {
  kinds = inUnits(source, kinds);
  words = inUnits(source, words);
  const lines = source.split("\n"), depth = flush ? indentation(lines) : 0;
  let start = 0, kind = 0, word = 0;
  return lines.map((line, number) => {
    const end = start + line.length, pieces = [];
    let place = number ? start + Math.min(depth, line.length - line.trimStart().length) : start;
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
 * @param {{name: string, source: string, firstLine: number, kinds: [], words: [], flush: boolean}} code
 *   firstLine: 0 if its number is not known
 */
export function codeBlock({ name, source, firstLine, kinds = [], words = [], flush = true }) {
  const lit = [];
  const lines = linesOf(source, kinds, words, flush).map((pieces, number) => {
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
