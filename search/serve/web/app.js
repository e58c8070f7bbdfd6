// The page of the search: which view the address names, the keys, and what is served.

import { ask, byId, complain, nameFolder, seen } from "/dom.js";
import { openFile } from "/file.js";
import { loadJudgements } from "/judgements.js";
import { openPaste, openRelated } from "/paste.js";
import { openPosts } from "/posts.js";
import { closeQuality, openQuality } from "/quality.js";
import { askAgain, closeSearch, offerExamples, offerLanguages, openSearch } from "/search.js";

const query = byId("query"), keys = byId("keys"), trouble = byId("trouble");

/** Name in the address -> its section, the link to it, and what shows it. */
const VIEWS = {
  search: { section: "view-search", tab: "tab-search", open: openSearch },
  file: { section: "view-file", tab: null, open: openFile },
  code: { section: "view-code", tab: "tab-code", open: openPaste },
  related: { section: "view-code", tab: null, open: openRelated },
  posts: { section: "view-posts", tab: "tab-posts", open: openPosts },
  quality: { section: "view-quality", tab: "tab-quality", open: openQuality },
};

function route() {
  const kept = new URLSearchParams(location.hash.slice(1));
  const name = Object.hasOwn(VIEWS, kept.get("view") ?? "") ? kept.get("view") : "search", view = VIEWS[name];
  for (const { section, tab } of Object.values(VIEWS)) {
    byId(section).hidden = section !== view.section;
    if (tab) byId(tab).toggleAttribute("aria-current", false);
  }
  if (view.tab) byId(view.tab).setAttribute("aria-current", "page");
  byId("form").hidden = name !== "search";
  if (name !== "search") closeSearch();
  if (name !== "quality") closeQuality();
  view.open(kept);
}

// Keys

const list = () => document.querySelector("main > section:not([hidden]) .hits");

function move(by) {
  const heads = [...(list()?.querySelectorAll(".head") ?? [])];
  const now = heads.indexOf(document.activeElement.closest(".hit")?.querySelector(".head"));
  const next = now + by;
  if (next < 0) return query.focus();
  const head = heads[Math.min(next, heads.length - 1)];
  head?.focus({ preventScroll: true });
  head?.closest(".hit").scrollIntoView({ block: "nearest" });
}

function ofCurrent(selector) {
  return document.activeElement.closest(".hit")?.querySelector(selector)?.click();
}

const ACTIONS = {
  "/": () => (byId("form").hidden ? (location.hash = "") : query.select()),
  "?": () => keys.showModal(),
  j: () => move(1),
  k: () => move(-1),
  ArrowDown: () => move(1),
  ArrowUp: () => move(-1),
  o: () => ofCurrent(".acts a[href]"),
  c: () => ofCurrent(".copy"),
  v: () => ofCurrent(".in-file"),
  r: () => ofCurrent(".related"),
  y: () => ofCurrent(".judge-y"),
  n: () => ofCurrent(".judge-n"),
  f: () => byId("by-file").click(),
  Escape: () => query.focus(),
};

function onKey(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing || keys.open) return;
  const { target, key } = event;
  if (target.closest("input[type=search]")) {
    if (key === "ArrowDown") move(1);
    else if (key === "Enter" && target === query) list().querySelector(".head")?.click();
    else return;
  } else if (target.closest("textarea, select")) return;
  else if (key.startsWith("Arrow") && (!list()?.children.length || target.closest("[role=region]"))) return; // scrolls it
  else if (Object.hasOwn(ACTIONS, key)) ACTIONS[key]();
  else return;
  event.preventDefault();
}

// Beginning

const OPENING = 1000; // milliseconds until a server that makes or opens its index is asked again
let answered = ""; // the index that the results are from

const MOST_KINDS = 8;

/** Which files were not read, by kind, those of which there are most first. */
function unreadLine(kinds) {
  const all = Object.entries(kinds).sort(([, one], [, other]) => other - one);
  const told = all.slice(0, MOST_KINDS).map(([kind, count]) => `${count.toLocaleString("en")} ${seen(kind)}`);
  const others = all.length - told.length;
  if (others) told.push(`${others} other ${others === 1 ? "kind" : "kinds"}`);
  return told.length ? `Not read: ${told.join(", ")}.` : "";
}

/** Tells what an index has, and asks it what was asked while there was none or one of fewer files. */
function tellIndex(told, waited) {
  byId("about").textContent = `${told.rows.toLocaleString("en")} functions, types and files of ${told.files.toLocaleString("en")} files`;
  complain(byId("unread"), unreadLine(told.unread ?? {}));
  nameFolder(told.folder ?? "", byId("folder"));
  offerLanguages(told.languages);
  offerExamples(told.examples ?? {});
  byId("tab-posts").parentElement.hidden = !told.posts;
  byId("tab-quality").parentElement.hidden = Boolean(told.shared);
  if (waited && !answered) {
    route();
    complain(trouble, "");
  } else if (waited && !byId("form").hidden) askAgain(Boolean(told.indexing));
  answered = told.index;
}

async function tellAbout(waited = false) {
  try {
    const told = await ask("/health", {});
    if (told.index !== answered || (waited && !told.indexing)) tellIndex(told, waited);
    if (told.trouble) complain(byId("notice"), `results come from an older index: ${told.trouble}`);
    if (!told.indexing) return;
    complain(byId("notice"), told.indexing);
    setTimeout(tellAbout, OPENING, true);
  } catch (error) {
    complain(trouble, error.message);
    if (error.status === 503) setTimeout(tellAbout, OPENING, true);
  }
}

document.addEventListener("keydown", onKey);
byId("form").addEventListener("submit", (event) => event.preventDefault());
byId("show-keys").addEventListener("click", () => keys.showModal());
addEventListener("hashchange", route);
loadJudgements().catch((error) => complain(trouble, error.message)).then(route);
tellAbout();
