// Whether a text ends inside of a string that may go on in the next line (a docstring, a text block, a template), of a
// block comment, or of the text of markup.

import { lineComment, type Language, type Quote } from "./languages.ts";

/** A template. */
const TEMPLATE: Quote = { mark: "`", escapes: true, lines: true };
/** Behind these a slash begins a regular expression, and < markup; behind all else they divide and compare. */
const BEFORE_EXPRESSION =
  /(?:^|[=(,:;!&|?{}[+\-*%<>~^]|\b(?:return|typeof|case|in|of|do|else|void|delete|yield|await|throw|new|default))\s*$/;
const EXPRESSION = /\/(?:[^\\/[\n]|\\.|\[(?:[^\]\\\n]|\\.)*\])+\//y;
/** A regular expression behind a bracket that closes a condition. */
const TESTED = /\/(?![*/ ])(?:[^\\/[\n]|\\.|\[(?:[^\]\\\n]|\\.)*\])+\/[a-z]*\.(?:test|exec)\(/y;
const MARKUP = /<(?:>|[\p{L}_$][\p{L}\p{N}_$.:-]*(?=[\s/<>]))/uy;
/** What begins like markup and is a function's type parameters. */
const GENERIC = /<[\w$]+(?:\s*,|\s+extends\b|(?:\s*=\s*[\w$.]+)?>\s*\((?:[^()]|\([^()]*\))*\)\s*(?::[^;{}]*?)?=>)/y;

/**
 * What is open: braces, an expression in a template or in markup among them; a template, at its text; an element, at
 * its opening or closing tag; what is between its tags.
 */
type Open = "braces" | "template" | "tag" | "closing" | "children";

/** Whether `text`, from the start of a file, ends inside of a string, a block comment or the text of markup. */
export function endsInString(text: string, language: Language): boolean {
  return new Scanner(text, language).endsInString();
}

class Scanner {
  private place = 0;
  /** The end of the last code that is no comment. */
  private code = 0;
  /** Whether the text ends in a block comment. */
  private inComment = false;
  private readonly open: Open[] = [];
  private readonly text: string;
  private readonly language: Language;
  private readonly lineComment: RegExp;

  constructor(text: string, language: Language) {
    this.text = text;
    this.language = language;
    this.lineComment = new RegExp(lineComment(language), "y");
  }

  endsInString(): boolean {
    while (this.place < this.text.length) {
      const here = this.open.at(-1);
      if (here === "template") {
        if (this.skipString(TEMPLATE)) return true;
      } else if (here === "children") {
        this.readChildren();
      } else if (here === "tag" || here === "closing") {
        if (this.readTag(here)) return true;
      } else if (this.skipBlank()) {
        continue;
      } else if (this.readCode()) {
        return true;
      }
      this.code = this.place;
    }
    return this.inComment || this.open.at(-1) === "children";
  }

  /** Go on in code; true if the text ends in a string that goes on. */
  private readCode(): boolean {
    const opened = this.language.quotes.find(({ mark }) => this.text.startsWith(mark, this.place));
    if (opened) {
      this.place += opened.mark.length;
      if (opened.mark === TEMPLATE.mark && opened.escapes) this.open.push("template");
      return this.skipString(opened);
    }
    if (this.skipExpression() || this.beginsMarkup()) return false;
    const letter = this.text[this.place];
    if (letter === "{") this.open.push("braces");
    else if (letter === "}") this.open.pop();
    this.place += 1;
    return false;
  }

  /** Go behind the end of a string, or to the expression in a template; true if the text ends before. */
  private skipString({ mark, escapes, lines }: Quote): boolean {
    const isTemplate = mark === TEMPLATE.mark && escapes;
    for (; this.place < this.text.length; this.place += 1) {
      const letter = this.text[this.place];
      if (escapes && letter === "\\") {
        if (this.text.startsWith("\r\n", this.place + 1)) this.place += 1;
        this.place += 1;
      } else if (!lines && letter === "\n") {
        return false;
      } else if (this.text.startsWith(mark, this.place)) {
        this.place += mark.length;
        if (isTemplate) this.open.pop();
        return false;
      } else if (isTemplate && this.text.startsWith("${", this.place)) {
        this.place += 2;
        this.open.push("braces");
        return false;
      }
    }
    return lines;
  }

  private beginsMarkup(): boolean {
    if (this.text[this.place] !== "<" || !this.language.markup) return false;
    MARKUP.lastIndex = GENERIC.lastIndex = this.place;
    if (!MARKUP.test(this.text) || GENERIC.test(this.text) || !this.beginsExpression()) return false;
    this.open.push("tag");
    this.place += 1;
    return true;
  }

  /** Go on in a tag; true if the text ends in a value that goes on. */
  private readTag(here: Open): boolean {
    const letter = this.text[this.place];
    if (this.skipComment()) return false;
    this.place += 1;
    if (letter === '"' || letter === "'") return this.skipString({ mark: letter, escapes: false, lines: true });
    if (letter === "{") this.open.push("braces");
    else if (letter === ">") {
      const isAlone = this.text[this.place - 2] === "/";
      this.open.pop();
      if (here === "tag" && !isAlone) this.open.push("children");
    }
    return false;
  }

  /** Go on between tags. */
  private readChildren(): void {
    const letter = this.text[this.place];
    this.place += 1;
    if (letter === "{") this.open.push("braces");
    else if (letter === "<" && this.text[this.place] === "/") this.open.splice(-1, 1, "closing");
    else if (letter === "<") this.open.push("tag");
  }

  /** Go behind a comment or blank, if one is here. */
  private skipBlank(): boolean {
    if (this.skipComment()) return true;
    const isBlank = /\s/.test(this.text.charAt(this.place));
    if (isBlank) this.place += 1;
    return isBlank;
  }

  private skipComment(): boolean {
    const block = this.blockHere();
    this.lineComment.lastIndex = this.place;
    if (!block && !this.lineComment.test(this.text)) return false;
    const end = this.text.indexOf(block?.[1] ?? "\n", this.place + (block?.[0].length ?? 1));
    this.place = end < 0 ? this.text.length : end + (block?.[1].length ?? 0);
    this.inComment = block !== null && end < 0;
    return true;
  }

  /** The marks of the block comment that begins here, or null; those that are words, as in Ruby, begin a line. */
  private blockHere(): Language["block"] {
    const { block } = this.language;
    if (!block || !this.text.startsWith(block[0], this.place)) return null;
    return /\w$/.test(block[0]) && this.place > 0 && this.text[this.place - 1] !== "\n" ? null : block;
  }

  private skipExpression(): boolean {
    if (this.text[this.place] !== "/" || !this.language.slashExpressions) return false;
    const form = this.beginsExpression() ? EXPRESSION : TESTED;
    form.lastIndex = this.place;
    if (!form.test(this.text)) return false;
    this.place = form.lastIndex;
    return true;
  }

  /** Whether an expression may begin here, by what is before. */
  private beginsExpression(): boolean {
    return BEFORE_EXPRESSION.test(this.text.slice(Math.max(0, this.code - 80), this.code));
  }
}
