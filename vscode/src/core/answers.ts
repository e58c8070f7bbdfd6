// What the server answers, checked: nothing in it is trusted.

import { outdented } from "./code.ts";

/** Lines of a file in the indexed folder, from 1, both inclusive. */
export interface Place {
  readonly path: string;
  readonly startLine: number;
  readonly endLine: number;
}

/** Where code stands, by which it is found in its file. */
export interface Spot extends Place {
  readonly code: string;
  /** "" if there is none. */
  readonly url: string;
}

/** A line that uses a name, or that declares it. */
export interface Usage extends Spot {
  readonly kind: "definition" | "call" | "import" | "mention" | "text";
  /** The line, or the head of a declaration. */
  readonly shown: string;
  /** What is around it; "" at the top level. */
  readonly around: string;
}

export interface Usages {
  /** What was found, in a line. */
  readonly text: string;
  /** Why it may be old; "" if it is not. */
  readonly notice: string;
  /** Declarations first, then by file, tests last. */
  readonly usages: readonly Usage[];
}

export interface Result extends Spot {
  readonly identifier: string;
  /** "" if it is not known. */
  readonly license: string;
  /** The similarity of vectors, from 0 to 1; undefined if the index has none. */
  readonly score: number | undefined;
  /** Characters of indentation that the first line of its code has lost; undefined if the server does not say it. */
  readonly indent: number | undefined;
  /** The lines that show it at a glance; "" if the server names none. */
  readonly preview: string;
  /** What has the same text. */
  readonly copies: readonly Place[];
  /** Number of its row in the index; -1 if the server has none. */
  readonly row: number;
}

/** How certain an answer is. */
export interface Certainty {
  /** "" if the server does not say it. */
  readonly level: "strong" | "weak" | "none" | "";
  /** The same in a line. */
  readonly text: string;
  /** Names that exist, nearest to one that does not. */
  readonly nearest: readonly string[];
}

export interface Answer {
  readonly query: string;
  readonly language: string;
  /** Which model ranked: "context" if the text above counted. */
  readonly model: string;
  readonly milliseconds: number;
  /** Identifies the index. */
  readonly index: string;
  /** The indexed folder; "" if the server does not name it. */
  readonly folder: string;
  readonly certainty: Certainty;
  /** Why it may be old; "" if it is not. */
  readonly notice: string;
  readonly results: readonly Result[];
}

/** A piece of a result's code; `word` is the part of an identifier that may be aligned, "" for all else. */
export interface Piece {
  readonly text: string;
  readonly word: string;
}

/** What a word of the query is aligned with, strongest first. */
export interface Aligned {
  readonly word: string;
  readonly with: readonly { readonly word: string; readonly field: string; readonly weight: number }[];
}

export interface Explanation {
  readonly words: readonly Aligned[];
  readonly pieces: readonly Piece[];
}

type Json = { readonly [name: string]: unknown };

const isObject = (value: unknown): value is Json =>
  typeof value === "object" && value !== null && !Array.isArray(value);
/** Characters of a text that is not code, words of a query, and spans of a code: at most. */
const [LONGEST_TEXT, MOST_WORDS, MOST_SPANS] = [10_000, 1000, 20_000];
/** Copies and near names that are taken, at most. */
const [MOST_COPIES, MOST_NAMES] = [1000, 5];
const text = (value: unknown): string => (typeof value === "string" && value.length <= LONGEST_TEXT ? value : "");
const number = (value: unknown, without: number): number =>
  typeof value === "number" && Number.isFinite(value) ? value : without;
const whole = (value: unknown, without: number): number => (Number.isSafeInteger(value) ? (value as number) : without);
const list = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

/**
 * The answer to a search, of which at most `top` results are taken.
 *
 * @throws Error: it has not the form that docs/search-api.md states
 */
export function answerOf(body: unknown, query: string, top: number): Answer {
  if (!isObject(body) || !Array.isArray(body["results"])) throw new Error("it has no results");
  return {
    query,
    language: text(body["language"]),
    model: text(body["model"]),
    milliseconds: number(body["took_ms"], 0),
    index: text(body["index"]),
    folder: text(body["folder"]),
    certainty: certaintyOf(body["certainty"]),
    notice: text(body["notice"]),
    results: body["results"].slice(0, top).map(resultOf),
  };
}

/** Whether a server answers only from what it has read so far of its first index, by what it says of its health. */
export function isIndexing(body: unknown): boolean {
  return isObject(body) && text(body["indexing"]) !== "";
}

/** The answer to a question for usages, of which at most `most` are taken; as {@link answerOf}. */
export function usagesOf(body: unknown, most: number): Usages {
  if (!isObject(body) || !Array.isArray(body["files"])) throw new Error("it has no usages");
  const told = { code: "", url: "", kind: "definition" as const, around: "" };
  const declared = list(body["definitions"]).map((each) => ({
    ...told,
    ...placeOf(each),
    shown: isObject(each) ? text(each["signature"]) : "",
  }));
  const used = body["files"].flatMap((file) =>
    isObject(file) ? usedIn(text(file["path"]), list(file["usages"])) : [],
  );
  const usages = [...declared, ...used].filter(({ path }) => path).slice(0, most);
  return { text: text(body["text"]), notice: text(body["notice"]), usages };
}

function usedIn(path: string, usages: readonly unknown[]): Usage[] {
  return usages.filter(isObject).map((each) => {
    const [line, code] = [whole(each["line"], 0), text(each["text"])];
    const kind = (["call", "import", "definition", "text"] as const).find((one) => one === each["kind"]) ?? "mention";
    return { path, startLine: line, endLine: line, code, url: "", kind, shown: code, around: text(each["name"]) };
  });
}

function certaintyOf(value: unknown): Certainty {
  if (!isObject(value)) return { level: "", text: "", nearest: [] };
  const level = (["strong", "weak", "none"] as const).find((each) => each === value["level"]) ?? "";
  const nearest = list(value["nearest"]).slice(0, MOST_NAMES).map(text).filter(Boolean);
  return { level, text: text(value["text"]), nearest };
}

function placeOf(value: unknown): Place {
  const { path, start_line: start, end_line: end } = isObject(value) ? value : {};
  return { path: text(path), startLine: whole(start, 0), endLine: whole(end, 0) };
}

function resultOf(value: unknown): Result {
  if (!isObject(value) || typeof value["code"] !== "string") throw new Error("a result has no code");
  return {
    code: value["code"],
    identifier: text(value["identifier"]),
    url: text(value["url"]),
    license: text(value["license"]),
    score: typeof value["score"] === "number" ? number(value["score"], 0) : undefined,
    ...placeOf(value),
    indent: Number.isSafeInteger(value["indent"]) ? (value["indent"] as number) : undefined,
    preview: isObject(value["preview"]) ? text(value["preview"]["text"]) : "",
    copies: list(value["copies"])
      .slice(0, MOST_COPIES)
      .map(placeOf)
      .filter(({ path }) => path),
    row: whole(value["row"], -1),
  };
}

/**
 * What each word of a query is aligned with in `code`, from the answer of /api/explain; of its lines but the first
 * `indent` characters of indentation are left out.
 */
export function explanationOf(body: unknown, code: string, indent = 0): Explanation {
  if (!isObject(body)) throw new Error("it has no explanation");
  const leastAgreement = number(body["least_agreement"], 0);
  const leastWeight = number(body["least_weight"], 0);
  const words = list(body["code"]).map(text);
  const fields = list(body["fields"]).map(text);
  const asked = list(body["query"]).slice(0, MOST_WORDS);
  const aligned = asked.map((word, at): Aligned => {
    const weak = number(list(body["agreement"])[at], 0) < leastAgreement;
    const weights = list(list(body["weights"])[at]).map((weight) => number(weight, 0));
    const found = weights.map((weight, place) => ({ word: words[place] ?? "", field: fields[place] ?? "", weight }));
    const strong = found.filter(({ weight }) => weight >= leastWeight).sort((one, other) => other.weight - one.weight);
    return { word: text(word), with: weak ? [] : strong };
  });
  const pieces = piecesOf(code, list(body["spans"]).slice(0, MOST_SPANS));
  return { words: aligned, pieces: pieces.map(({ text, word }) => ({ text: flush(text, indent), word })) };
}

/** A piece of code whose lines but the first are indented less; an identifier has no line break. */
function flush(piece: string, indent: number): string {
  const [first = "", ...rest] = piece.split("\n");
  return [first, ...rest.map((line) => outdented(line, indent))].join("\n");
}

/** `code` cut at spans [start, end, word], which count Unicode code points and are in order. */
function piecesOf(code: string, spans: readonly unknown[]): Piece[] {
  const points = [...code];
  const pieces: Piece[] = [];
  let done = 0;
  for (const span of spans) {
    const [start, end, word] = [whole(list(span)[0], -1), whole(list(span)[1], -1), text(list(span)[2])];
    if (start < done || end <= start || end > points.length) continue;
    if (start > done) pieces.push({ text: points.slice(done, start).join(""), word: "" });
    pieces.push({ text: points.slice(start, end).join(""), word });
    done = end;
  }
  if (done < points.length) pieces.push({ text: points.slice(done).join(""), word: "" });
  return pieces;
}
