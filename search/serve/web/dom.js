// What all views use: elements, plain text, and requests. What the server returns is untrusted: it becomes text, never markup.

const UNSEEN = /[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g;

export const byId = (id) => document.getElementById(id);

/** Text with invisible characters and direction marks replaced; the length is unchanged. */
export function seen(text) {
  return text.replace(UNSEEN, "\ufffd");
}

let folder = ""; // that is searched
let titled = ""; // what is shown

/** Names what is shown in the window's title. */
export function entitle(text) {
  titled = text;
  document.title = [seen(text), folder, "code search"].filter(Boolean).join(" – ");
}

/** Names the folder that is searched by its last part; its path is told by a tooltip of `element`. */
export function nameFolder(path, element) {
  folder = seen(path.split(/[\\/]/).filter(Boolean).pop() ?? path);
  element.textContent = folder;
  element.title = seen(path);
  entitle(titled);
}

/** An element; children that are strings become text. */
export function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== false) element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.filter((child) => child !== null && child !== ""));
  return element;
}

/** A name or path as parts between which a line may break: at the humps of a name, and behind its punctuation. */
export function breakable(text) {
  const parts = text.split(/(?<=[./_-])(?=[^./_-])|(?<=\p{Ll})(?=\p{Lu})/u);
  return parts.flatMap((part, place) => (place ? [make("wbr"), part] : [part]));
}

export function visuallyHidden(text) {
  return make("span", { class: "unseen" }, text);
}

/** A button that does something. */
export function button(label, attributes, action) {
  const element = make("button", { type: "button", ...attributes }, label);
  element.addEventListener("click", () => action(element));
  return element;
}

/** A link to another view of this page. */
export function viewLink(text, view, attributes = {}) {
  return make("a", { href: `#${new URLSearchParams(view)}`, ...attributes }, text);
}

/** A link to the lines of a file in the file view. */
export function fileLink(text, { path, start_line: start, end_line: end }, attributes = {}) {
  return viewLink(text, { view: "file", file: path, lines: `${start}-${end}` }, attributes);
}

/** A link to elsewhere; null if its address is none of the web. */
export function linkTo(address, name, text = "Source ↗") {
  let url;
  try {
    url = new URL(address);
  } catch {
    return null;
  }
  if (url.protocol !== "https:") return null;
  return make("a", { class: "quiet", href: url.href, target: "_blank", rel: "noreferrer noopener", "aria-label": `${seen(name)} at ${url.host}` }, text);
}

/** "12–20", or "12" for a single line. */
export function linesText({ start_line: start, end_line: end }) {
  return end > start ? `${start}–${end}` : `${start}`;
}

/** Shows a line of trouble in its place, or hides that. */
export function complain(element, text) {
  element.hidden = !text;
  element.textContent = seen(text);
}

/** The answer to a question; an error says what was wrong. */
export async function ask(place, parameters, signal) {
  return answered(() => fetch(`${place}?${new URLSearchParams(parameters)}`, { signal }));
}

/** The answer to posted JSON. */
export async function post(place, told, signal) {
  const headers = { "content-type": "application/json" };
  return answered(() => fetch(place, { method: "POST", headers, body: JSON.stringify(told), signal }));
}

async function answered(send) {
  let answer;
  try {
    answer = await send();
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Error("The server does not respond. Is `serve` still running?");
  }
  const told = await answer.json();
  if (!answer.ok) throw Object.assign(new Error(told.error), { status: answer.status });
  return told;
}
