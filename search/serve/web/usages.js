// Who uses a name: a part of a hit or of a file's view that is asked for when it is opened.

import { ask, complain, fileLink, make, seen } from "/dom.js";

const MOST = 50; // usages that are shown at first
const ALL = 1000;

/**
 * A part that opens to the usages of a name, by file.
 * @param {string} name with the enclosing types, by which usages are told apart
 * @param {string} label what it is called, if that is not its name
 */
export function usagesOf(name, label = "Usages") {
  const place = make("div", { class: "used", role: "status", "aria-live": "polite" });
  const element = make("details", { class: "usages" }, make("summary", { "aria-label": `Usages of ${seen(name)}` }, label), place);
  let asked = false;
  element.addEventListener("toggle", () => {
    if (element.open && !asked) load(place, name, MOST);
    asked = true;
  });
  return element;
}

async function load(place, name, top) {
  const said = make("p", { class: "said" }, "Looking…");
  place.replaceChildren(said);
  try {
    const told = await ask("/api/usages", { name, top });
    place.replaceChildren(...shown(place, told));
  } catch (error) {
    complain(said, error.message);
  }
}

function shown(place, told) {
  const last = told.name.split(".").pop(), about = [told.text, told.narrowed?.text ?? "", told.notice].filter(Boolean);
  const more = [
    told.left_out ? act(`${told.left_out.toLocaleString("en")} more`, () => load(place, told.name, ALL)) : null,
    told.narrowed?.untold ? act(`All of ${seen(last)}`, () => load(place, last, MOST)) : null,
  ].filter(Boolean);
  return [
    ...about.map((line) => make("p", { class: "said" }, seen(line))),
    ...told.files.map(fileOf),
    more.length ? make("p", { class: "more" }, ...more) : null,
  ].filter(Boolean);
}

function act(label, action) {
  const element = make("button", { type: "button", class: "quiet" }, label);
  element.addEventListener("click", action);
  return element;
}

function fileOf({ path, test, usages }) {
  const lines = usages.map((each) => make("li", {},
    fileLink(`${each.line}`, { path, start_line: each.line, end_line: each.line }, { "aria-label": `${seen(path)}:${each.line}` }),
    make("code", {}, seen(each.text)),
    each.name ? make("span", { class: "place" }, seen(each.name)) : null));
  return make("section", {},
    make("h3", {}, make("bdi", { dir: "ltr" }, seen(path)), test ? make("span", { class: "tag" }, "test") : null),
    make("ol", { class: "uses" }, ...lines));
}
