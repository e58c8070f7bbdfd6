// The view that finds posts for code and an error.

import { byId, complain, entitle, linkTo, make, post, seen } from "/dom.js";

const form = byId("posts-form"), text = byId("posts-text"), trouble = byId("posts-trouble");
const statusLine = byId("posts-status"), list = byId("posts-hits");

let asked = null;

export function openPosts() {
  entitle("Posts");
  text.focus();
}

async function search() {
  asked?.abort();
  const mine = (asked = new AbortController());
  complain(trouble, "");
  list.replaceChildren();
  if (!text.value.trim()) return complain(trouble, "Paste code, an error, or both first.");
  statusLine.textContent = "Looking…";
  try {
    const told = await post("/api/posts", { text: text.value, top: 10 }, mine.signal);
    if (mine !== asked) return;
    const error = told.error ? ` for ${seen(told.error)}` : "";
    statusLine.textContent = `${told.results.length} of ${told.posts.toLocaleString("en")} posts${error}, ${Math.round(told.milliseconds)} ms`;
    list.replaceChildren(...told.results.map(postOf));
  } catch (error) {
    if (mine !== asked || error.name === "AbortError") return;
    statusLine.textContent = "";
    complain(trouble, error.message);
  }
}

/** A post: rank, title, error, excerpt of the answer, score, licence, authors and address. */
function postOf(hit) {
  const model = typeof hit.model === "number" ? `, model ${hit.model.toFixed(2)}` : "";
  const by = [["question", hit.question_by], ["answer", hit.answer_by]].filter(([, name]) => name).map(([what, name]) => `${what} by ${seen(name)}`);
  return make("li", { class: "hit" },
    make("div", { class: "title" }, make("h2", {}, make("span", { class: "outer" }, `${hit.rank} `), seen(hit.title)), make("p", { class: "acts" }, linkTo(hit.url, hit.title, "Post ↗"))),
    make("p", { class: "place" }, seen(hit.url)),
    make("p", { class: "tags" }, ...hit.keyword.map((each) => make("span", { class: "tag" }, seen(each)))),
    make("p", { class: "doc" }, seen(hit.excerpt)),
    make("p", { class: "facts" }, make("span", {}, [...by, seen(hit.licence) || "licence not known"].join(" · ")), make("span", {}, `score ${hit.score.toFixed(2)} (words ${hit.bm25.toFixed(1)}${model})`)));
}

form.addEventListener("submit", (event) => {
  event.preventDefault();
  search();
});
text.addEventListener("keydown", (event) => {
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) form.requestSubmit();
});
