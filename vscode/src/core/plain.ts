// Texts that come from elsewhere, where one printable line is expected.

/** Line ends, control characters, halves of characters, and marks that change the direction of text or are invisible. */
const UNPRINTABLE = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]+/gu;

/** `text` as one line that shows all it has, of at most `longest` characters. */
export function oneLine(text: string, longest = 500): string {
  const line = text.replace(UNPRINTABLE, " ").trim();
  return line.length > longest ? `${line.slice(0, longest - 1).replace(/[\ud800-\udbff]$/, "")}…` : line;
}

/**
 * `text` as a notification, a list or the status bar may show it. There VS Code takes `[text](command:...)` for a link,
 * which runs that command when it is clicked, and `$(name)` for an icon: a space before the parenthesis makes it neither.
 */
export function notice(text: string): string {
  return oneLine(text, 1000).replace(/(?<=[\]$])\(/g, " (");
}

/** `text` if it is an https URL, as it may be opened in a browser; "" otherwise. */
export function safeUrl(text: string): string {
  try {
    const url = new URL(text);
    return url.protocol === "https:" && !url.username && !url.password ? url.href : "";
  } catch {
    return "";
  }
}

/** `text` with U+FFFD for halves of characters, which UTF-8 cannot express. */
export function wellFormed(text: string): string {
  return text.replace(/\p{Cs}/gu, "\ufffd");
}

/** `text` as it may stand in HTML, also in a quoted attribute. */
export function escaped(text: string): string {
  const marks: Readonly<Record<string, string>> = {
    "&": "&amp;",
    "<": "&lt;",
    ">": "&gt;",
    '"': "&quot;",
    "'": "&#39;",
  };
  return text.replace(/[&<>"']/g, (mark) => marks[mark] ?? mark);
}
