// The stream: what arrived, newest first, and what the service complained about.
import { clock, isSet, make } from "./dom.js";

const shown = 60;

/** Lists the newest points of its feeds. */
export function stream({ feeds, properties, title, follow, onNotice }) {
  const list = make("ol", { class: "lines", tabindex: "0", "aria-label": title });
  const add = (line) => {
    list.prepend(line);
    while (list.children.length > shown) list.lastElementChild.remove();
  };
  const withName = isSet(properties.showName, true);
  const line = (feed, point) => make("li", {},
    isSet(properties.showTimestamp, true) ? make("time", { class: "when", datetime: new Date(point.time).toISOString() }, clock(point.time)) : null,
    withName ? make("span", { class: "who" }, isSet(properties.showGroupName) ? feed.key : feed.name) : null,
    make("span", { class: "value" }, point.value),
    isSet(properties.showLocation, true) && point.lat !== undefined
      ? make("span", { class: "when" }, `${point.lat.toFixed(5)}°, ${point.lon.toFixed(5)}°`) : null);

  const earlier = feeds.flatMap((feed) => feed.points.slice(-shown).map((point) => ({ feed, point })));
  earlier.sort((left, right) => left.point.time - right.point.time);
  for (const { feed, point } of earlier.slice(-shown)) add(line(feed, point));
  for (const feed of feeds) follow(feed, (changed, point) => add(line(changed, point)));
  if (isSet(properties.errors, true)) {
    onNotice((notice) => add(make("li", { class: "warning" },
      make("time", { class: "when" }, clock(notice.time)), make("span", { class: "who" }, notice.kind), make("span", { class: "value" }, notice.text))));
  }
  return make("div", { class: "body scroll" }, list);
}
