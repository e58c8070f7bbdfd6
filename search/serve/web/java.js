// Splits Java source into the pieces that a page shows, each with its kind and its word. Text only.

const KEYWORDS = new Set((
  "abstract assert boolean break byte case catch char class const continue default do double else enum extends false " +
  "final finally float for goto if implements import instanceof int interface long native new null package private " +
  "protected public record return short static strictfp super switch synchronized this throw throws transient true " +
  "try var void volatile while yield sealed permits"
).split(" "));

const TOKEN = new RegExp([
  String.raw`(?<comment>/\*[^]*?(?:\*/|$)|//[^\n]*)`,
  String.raw`(?<string>"""(?:\\[^]|[^\\])*?(?:"""|\\?$)|"(?:\\.|[^"\\\n])*"?|'(?:\\.|[^'\\\n])*'?)`,
  String.raw`(?<annotation>@(?!interface\b)\s*[\p{L}_$][\p{L}\p{N}_$]*(?:\.[\p{L}\p{N}_$]+)*)`,
  String.raw`(?<number>\d[\p{L}\p{N}_.]*)`,
  String.raw`(?<name>[\p{L}_$][\p{L}\p{N}_$]*)`,
].join("|"), "gu");

const UNSEEN = /[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g;

/** Text with invisible characters and direction marks replaced; the length is unchanged. */
export function seen(text) {
  return text.replace(UNSEEN, "\ufffd");
}

/** [start, end, kind] of all tokens, in order. */
function tokens(source) {
  const found = [];
  for (const match of source.matchAll(TOKEN)) {
    const [[kind, text]] = Object.entries(match.groups).filter(([, value]) => value !== undefined);
    const name = KEYWORDS.has(text) ? "keyword" : /^\p{Lu}[\p{N}_$]*(\p{Ll}|$)/u.test(text) ? "type" : "";
    found.push([match.index, match.index + text.length, kind === "name" ? name : kind]);
  }
  return found;
}

/** Converts spans in characters to spans in JavaScript's UTF-16 units. */
function inUnits(source, spans) {
  const places = [];
  let place = 0;
  for (const character of source) {
    places.push(place);
    place += character.length;
  }
  places.push(place);
  return spans.map(([start, end, word]) => [places[start], places[end], word]);
}

/** The common indentation of all lines but the first, which begins at its declaration. */
function indentation(lines) {
  const depths = lines.slice(1).filter((line) => line.trim()).map((line) => line.length - line.trimStart().length);
  return depths.length ? Math.min(...depths) : 0;
}

/**
 * The lines of `source`, each a list of {text, kind, word}.
 * @param {string} source
 * @param {[number, number, string][]} spans positions of words, in characters
 */
export function linesOf(source, spans) {
  const kinds = tokens(source), words = inUnits(source, spans);
  const lines = source.split("\n"), depth = indentation(lines);
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
