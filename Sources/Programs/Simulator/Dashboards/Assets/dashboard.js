// One dashboard: reads it, lays its blocks out, keeps them up to date.
import { age, make } from "./dom.js";
import { Feeds } from "./feeds.js";
import { controls } from "./controls.js";
import { displays } from "./displays.js";
import { lineChart } from "./chart.js";
import { track } from "./track.js";
import { stream } from "./stream.js";

const kinds = { ...controls, ...displays, line_chart: lineChart, map: track, stream };
const main = document.getElementById("main");
const problem = document.getElementById("problem");
const link = document.getElementById("link");
const feeds = new Feeds(location.pathname.replace(/\/+$/, ""));
let notices = [];
let hideProblem = 0;

/** Says for some seconds what went wrong. */
function complain(error) {
  problem.textContent = error.message;
  problem.hidden = false;
  clearTimeout(hideProblem);
  hideProblem = setTimeout(() => { problem.hidden = true; }, 12000);
}

function build(block) {
  const own = block.feeds.map((id) => feeds.feeds.get(id)).filter(Boolean);
  const make_ = kinds[block.visual_type] ?? kinds.text;
  const title = block.name || own.map((feed) => feed.name).join(", ") || block.visual_type.replaceAll("_", " ");
  const when = make("span", { class: "when" });
  const heading = make("h2", { id: `block-${block.id}` }, title);
  const card = make("section", { class: `card block ${block.visual_type.replaceAll("_", "-")}`, "aria-labelledby": heading.id },
    make("div", { class: "head" }, heading, when));

  const context = {
    block, title, feeds: own, feed: own[0] ?? null, properties: block.properties ?? {}, card,
    follow: (feed, listener) => feeds.follow(feed, listener),
    write: async (feed, value) => {
      try {
        await feeds.write(feed, value);
        problem.hidden = true;
        return true;
      } catch (error) {
        complain(error);
        return false;
      }
    },
    onNotice: (listener) => notices.push(listener),
  };
  card.append(make_(context));

  const tick = () => {
    const times = own.map((feed) => feed.last?.time ?? 0);
    const newest = Math.max(0, ...times);
    when.textContent = own.length === 0 ? "" : newest === 0 ? "no data" : age(newest);
  };
  tick();
  ticks.push(tick);
  for (const feed of own) feeds.follow(feed, tick);
  place(card, block);
  return card;
}

/** Puts a block where the layout says, through custom properties that the style sheet uses on wide screens. */
function place(card, { x, y, w, h }) {
  card.style.setProperty("--column", x + 1);
  card.style.setProperty("--row", y + 1);
  card.style.setProperty("--width", w);
  card.style.setProperty("--height", h);
}

let ticks = [];
setInterval(() => ticks.forEach((tick) => tick()), 1000);

async function show() {
  try {
    const state = await feeds.load();
    document.title = `${state.dashboard.name} · local stand-in`;
    document.getElementById("name").textContent = state.dashboard.name;
    document.getElementById("account").textContent = state.account;
    const description = document.getElementById("description");
    description.textContent = state.dashboard.description ?? "";
    description.hidden = !state.dashboard.description;
    ticks = [];
    notices = [];
    feeds.forget();
    main.style.setProperty("--columns", state.columns);
    const focused = document.activeElement?.closest("[data-block]")?.dataset.block;
    const cards = state.blocks.map((block) => {
      const card = build(block);
      card.dataset.block = block.id;
      return card;
    });
    if (cards.length === 0) cards.push(make("p", { class: "note" }, "This dashboard has no blocks yet."));
    main.replaceChildren(...cards);
    if (focused) main.querySelector(`[data-block="${CSS.escape(focused)}"] :is(button, input, textarea, select)`)?.focus();
    problem.hidden = true;
    return true;
  } catch (error) {
    problem.textContent = error.status === 404
      ? `${error.message} It may have been deleted, or the simulator was started again without --data. This page asks again by itself.`
      : "The simulator does not answer. This page asks again by itself.";
    problem.hidden = false;
    clearTimeout(hideProblem);
    return false;
  }
}

// Shows again after a break or a change; asks until it works, never twice at once.
let showing = false;
async function refresh() {
  if (showing) return;
  showing = true;
  while (!(await show())) await new Promise((done) => setTimeout(done, 3000));
  showing = false;
}

feeds.onChange = refresh;
feeds.onNotice = (notice) => notices.forEach((listener) => listener(notice));
feeds.onLink = (state) => {
  link.dataset.state = state;
  link.textContent = state === "live" ? "Live" : "Reconnecting";
};
await refresh();
feeds.listen();
