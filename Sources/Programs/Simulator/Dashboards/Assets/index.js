import { age, make, tidy } from "./dom.js";

const main = document.getElementById("main");
document.getElementById("where").textContent = `The simulator at ${location.host}`;

function dashboards(account) {
  if (account.dashboards.length === 0) {
    return make("p", { class: "note" }, "No dashboards yet. ", make("code", {}, "feedbridge dashboard create"), " makes one, and so does the REST interface.");
  }
  const items = account.dashboards.map((dashboard) => {
    const address = `/${encodeURIComponent(account.name)}/dashboards/${encodeURIComponent(dashboard.key)}`;
    const count = `${dashboard.blocks} ${dashboard.blocks === 1 ? "block" : "blocks"}`;
    return make("li", {}, make("a", { class: "card entry", href: address },
      make("span", { class: "entry-name" }, dashboard.name),
      make("span", { class: "entry-detail" }, dashboard.description ? `${dashboard.description} · ${count}` : count)));
  });
  return make("ul", { class: "entries" }, ...items);
}

function feeds(account) {
  if (account.feeds.length === 0) return make("p", { class: "note" }, "No feeds yet.");
  const rows = account.feeds.map((feed) => make("tr", {},
    make("th", { scope: "row" }, feed.key),
    make("td", { class: "value" }, feed.last === null ? "–" : tidy(feed.last.value)),
    make("td", { class: "when" }, feed.last === null ? "no data" : age(feed.last.time))));
  return make("div", { class: "card table" }, make("table", {},
    make("thead", {}, make("tr", {}, make("th", { scope: "col" }, "Feed"), make("th", { scope: "col" }, "Last value"), make("th", { scope: "col" }, "Age"))),
    make("tbody", {}, ...rows)));
}

async function show() {
  try {
    const response = await fetch("/dashboards.json", { cache: "no-store" });
    if (!response.ok) throw new Error(`status ${response.status}`);
    const { accounts } = await response.json();
    main.replaceChildren(...accounts.map((account) => make("section", { class: "account" },
      make("h2", {}, account.name),
      make("p", { class: "subtitle" }, `${account.limit} data points a minute`),
      dashboards(account),
      make("h3", {}, "Feeds"),
      feeds(account))));
  } catch {
    main.replaceChildren(make("p", { class: "note" }, "The simulator does not answer. This page asks again by itself."));
  }
}

show();
setInterval(show, 5000);
