// Whether a text ends inside of a string that may go on in the next line: a docstring, a text block, a template.

import type { Language, Quote } from "./languages.ts";

/** A template. */
const TEMPLATE: Quote = { mark: "`", escapes: true, lines: true };
/** Behind these a slash begins a regular expression, and divides behind all else. */
const BEFORE_EXPRESSION = /(?:^|[=(,:;!&|?{}[+\-*%<>~^]|\b(?:return|typeof|case|in|of|do|else|void|delete))\s*$/;
const EXPRESSION = /\/(?:[^\\/[\n]|\\.|\[(?:[^\]\\\n]|\\.)*\])+\//y;

/** Whether `text`, from the start of a file, ends inside of a string. */
export function endsInString(text: string, language: Language): boolean {
  return new Scanner(text, language).endsInString();
}

class Scanner {
  private place = 0;
  /** For each template that is open: how many braces are open in its expression. */
  private readonly templates: number[] = [];
  private readonly text: string;
  private readonly language: Language;

  constructor(text: string, language: Language) {
    this.text = text;
    this.language = language;
  }

  endsInString(): boolean {
    while (this.place < this.text.length) {
      const opened = this.language.quotes.find(({ mark }) => this.text.startsWith(mark, this.place));
      if (opened) {
        this.place += opened.mark.length;
        if (this.skipString(opened)) return true;
      } else if (this.closesExpression()) {
        if (this.skipString(TEMPLATE)) return true;
      } else if (!this.skipComment() && !this.skipExpression()) {
        this.place += 1;
      }
    }
    return false;
  }

  /** Go behind the end of a string, or to the expression in a template; true if the text ends before. */
  private skipString({ mark, escapes, lines }: Quote): boolean {
    for (; this.place < this.text.length; this.place += 1) {
      const letter = this.text[this.place];
      if (escapes && letter === "\\") {
        if (this.text.startsWith("\r\n", this.place + 1)) this.place += 1;
        this.place += 1;
      } else if (!lines && letter === "\n") {
        return false;
      } else if (this.text.startsWith(mark, this.place)) {
        this.place += mark.length;
        return false;
      } else if (mark === "`" && escapes && this.text.startsWith("${", this.place)) {
        this.place += 2;
        this.templates.push(0);
        return false;
      }
    }
    return lines;
  }

  /** Count a brace; true if it closes the expression in a template, which goes on behind it. */
  private closesExpression(): boolean {
    const letter = this.text[this.place];
    const open = this.templates.at(-1);
    if (open === undefined || (letter !== "{" && letter !== "}")) return false;
    if (letter === "}" && open === 0) {
      this.templates.pop();
      this.place += 1;
      return true;
    }
    this.templates[this.templates.length - 1] = open + (letter === "{" ? 1 : -1);
    return false;
  }

  private skipComment(): boolean {
    const block = this.language.mark === "//" && this.text.startsWith("/*", this.place);
    if (!block && !this.text.startsWith(this.language.mark, this.place)) return false;
    const end = this.text.indexOf(block ? "*/" : "\n", this.place + 2);
    this.place = end < 0 ? this.text.length : end + (block ? 2 : 0);
    return true;
  }

  private skipExpression(): boolean {
    if (this.text[this.place] !== "/" || !this.language.slashExpressions) return false;
    const before = this.text.slice(Math.max(0, this.place - 80), this.place);
    EXPRESSION.lastIndex = this.place;
    if (!BEFORE_EXPRESSION.test(before.trimEnd()) || !EXPRESSION.test(this.text)) return false;
    this.place = EXPRESSION.lastIndex;
    return true;
  }
}
