// The comment by which a programmer asks for code: `# search: retry with backoff`, then Enter.

import { lineComment, type Language } from "./languages.ts";
import { endsInString } from "./strings.ts";

/**
 * The query of a line that is a comment whose text begins with `search:`; "" for any other line. Case and spaces do
 * not matter. A comment after code is no such line, nor is one without a query.
 */
export function queryOf(line: string, language: Language): string {
  const asks = new RegExp(`^[ \\t]*${lineComment(language)}[ \\t]*search[ \\t]*:[ \\t]*(\\S.*)$`, "i");
  return asks.exec(line.trimEnd())?.[1] ?? "";
}

/** Whether what was inserted into a document is Enter: a line break, and what the editor begins the next line with. */
export function isEnter(inserted: string, language: Language): boolean {
  const [end, ...lines] = inserted.split(/\r\n|\r|\n/);
  const next = lines[0]?.trim();
  return end === "" && lines.length === 1 && (!next || new RegExp(`^${lineComment(language)}$`).test(next));
}

/** The query of a line, or "" if it has none or stands in a string that began in the text above it. */
export function queryBelow(above: string, line: string, language: Language): string {
  const query = queryOf(line, language);
  return query && !endsInString(above, language) ? query : "";
}
