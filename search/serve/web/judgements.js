// Which hits answer which questions, as the user says; saved by the server.

import { ask, button, make, post, seen } from "/dom.js";

const saved = new Map(); // question -> its saved entry
let taken = false;

/** Loads what was saved before; a server that takes no judgements has no such place. */
export async function loadJudgements() {
  try {
    const told = await ask("/api/judgements", {});
    taken = true;
    saved.clear();
    for (const each of told.queries) saved.set(each.query, each);
    return told;
  } catch (error) {
    if (error.status !== 404) throw error;
    return null;
  }
}

function placeOf({ path, start_line, end_line }) {
  return { path, start_line, end_line };
}

/** true, false or null: what was said of a hit. */
function judged(q, hit) {
  const same = (each) => each.path === hit.path && each.start_line === hit.start_line && each.end_line === hit.end_line;
  const found = saved.get(q.trim());
  if (!found) return null;
  if ([...found.relevant, ...found.secondary].some(same)) return true;
  return found.irrelevant.some(same) ? false : null;
}

/** "Does it answer the question?" with two buttons, each of which can be taken back; null where none is taken. */
export function judgementOf(q, hit, tell) {
  if (!taken || !q) return null;
  const buttons = [[true, "Yes", "y"], [false, "No", "n"]].map(([relevant, label, key]) =>
    button(label, { class: `quiet judge-${key}`, "aria-keyshortcuts": key }, async () => {
      try {
        const told = await post("/api/judgements", { query: q, ...placeOf(hit), relevant: judged(q, hit) === relevant ? null : relevant });
        saved.set(told.query.trim(), told);
        const now = judged(q, hit);
        tell(`${seen(hit.name)}: ${now === null ? "not judged" : now ? "saved as an answer" : "saved as no answer"}`);
      } catch (error) {
        tell(error.message);
      }
      update();
    }));
  const update = () => buttons.forEach((each, place) => each.setAttribute("aria-pressed", String(judged(q, hit) === (place === 0))));
  update();
  return make("div", { class: "judge", role: "group", "aria-label": "Does it answer the question?" }, make("span", {}, "Does it answer the question?"), ...buttons);
}
