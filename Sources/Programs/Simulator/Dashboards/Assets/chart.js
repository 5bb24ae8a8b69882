// The line chart, drawn by dygraphs from this machine; a table where that library is missing.
import { clock, colour, hexadecimal, isSet, make, number, tidy } from "./dom.js";

const palette = ["--series-1", "--series-2", "--series-3", "--series-4", "--series-5"];
const dark = matchMedia("(prefers-color-scheme: dark)");
const compact = new Intl.NumberFormat("en", { notation: "compact", maximumSignificantDigits: 4 });

// The library's own legend writes style attributes, which the content policy forbids; the page has a legend of its own.
if (typeof Dygraph !== "undefined") {
  Dygraph.PLUGINS = Dygraph.PLUGINS.filter((plugin) => plugin !== Dygraph.Plugins.Legend);
}

/** A number on an axis: short, however large. */
function mark(value, digits) {
  return Math.abs(value) >= 1e5 ? compact.format(value) : tidy(value, digits);
}

/** A chart of one or several feeds. Names from outside are never given to dygraphs: it would read them as markup. */
export function lineChart(context) {
  const { feeds, properties, title, follow } = context;
  if (feeds.length === 0) return make("p", { class: "note" }, "No feed is connected to this block.");
  const legend = make("ul", { class: "legend" }, ...feeds.map((feed, index) => {
    const value = make("span", { class: "value" });
    const mark = make("span", { class: "mark", "aria-hidden": "true" });
    const own = feeds.length === 1 ? hexadecimal(properties.lineColor) : null;
    mark.style.background = own ?? `var(${palette[index % palette.length]})`;
    return make("li", {}, mark, make("span", {}, isSet(properties.feedKeyLegend) ? feed.key : feed.name), value);
  }));
  const latest = () => feeds.forEach((feed, index) => {
    legend.children[index].querySelector(".value").textContent = feed.last ? tidy(feed.last.value, properties.decimalPlaces ?? null) : "–";
  });
  latest();
  for (const feed of feeds) follow(feed, latest);
  const drawn = typeof Dygraph === "undefined" ? table(context) : graph(context);
  return make("div", { class: "body chart-body" }, legend, drawn,
    properties.xAxisLabel ? make("p", { class: "axis-label" }, properties.xAxisLabel) : null,
    make("span", { class: "hidden" }, `Line chart: ${title}`));
}

/** One row a point; a feed that has no point at that time has null, and the line goes on to its next one. */
function rows(feeds, hours) {
  const newest = Math.max(...feeds.map((feed) => feed.points.at(-1)?.time ?? 0));
  const oldest = newest - (hours > 0 ? hours : 1) * 3600000;
  const merged = [];
  feeds.forEach((feed, column) => {
    for (const point of feed.points) {
      const value = number(point.value);
      if (value === null || point.time < oldest) continue;
      const row = new Array(feeds.length + 1).fill(null);
      row[0] = new Date(point.time);
      row[column + 1] = value;
      merged.push(row);
    }
  });
  merged.sort((left, right) => left[0] - right[0]);
  return merged.length > 0 ? merged : [[new Date(), ...feeds.map(() => null)]];
}

function graph({ feeds, properties, title, follow, card }) {
  const hours = number(properties.historyHours) ?? 0;
  const place = make("div", { class: "chart", role: "img", "aria-label": `Line chart of ${title}` });
  const digits = properties.decimalPlaces ?? null;
  const options = () => ({
    labels: ["time", ...feeds.map((_, index) => `series ${index + 1}`)],
    colors: feeds.map((_, index) => (feeds.length === 1 && hexadecimal(properties.lineColor)) || colour(palette[index % palette.length])),
    axisLineColor: colour("--line"),
    gridLineColor: colour("--line-faint"),
  });
  const low = number(properties.yAxisMin);
  const high = number(properties.yAxisMax);
  let chart = null;

  const start = () => {
    chart = new Dygraph(place, rows(feeds, hours), {
      ...options(),
      connectSeparatedPoints: true,
      drawPoints: feeds.every((feed) => feed.points.length < 60),
      pointSize: 2,
      strokeWidth: number(properties.lineWidth) ?? 1.75,
      stepPlot: isSet(properties.steppedLine),
      logscale: properties.yAxisScale === "log",
      drawGrid: isSet(properties.gridLines, true),
      valueRange: low !== null || high !== null ? [low, high] : null,
      includeZero: false,
      yRangePad: 8,
      axisLabelFontSize: 11,
      highlightCircleSize: 4,
      // A finger on a chart scrolls the page.
      ...(matchMedia("(pointer: coarse)").matches ? { interactionModel: { willDestroyContextMyself: true } } : {}),
      axes: {
        x: { axisLabelWidth: 64, pixelsPerLabel: 76 },
        y: { axisLabelWidth: 48, pixelsPerLabel: 30, axisLabelFormatter: (value) => mark(value, digits) },
      },
      highlightCallback: (_, time, points) => {
        readout.textContent = `${clock(time)}  ${points.map((point) => tidy(point.yval, digits)).join("  ")}`;
      },
      unhighlightCallback: () => { readout.textContent = ""; },
    });
  };
  const readout = make("p", { class: "readout", "aria-hidden": "true" });

  let isDue = false;
  const update = () => {
    if (isDue || !chart) return;
    isDue = true;
    requestAnimationFrame(() => {
      isDue = false;
      if (!place.isConnected) return;
      chart.updateOptions({ file: rows(feeds, hours), drawPoints: feeds.every((feed) => feed.points.length < 60) });
      card.dataset.points = String(feeds.reduce((sum, feed) => sum + feed.points.length, 0));
    });
  };
  for (const feed of feeds) follow(feed, update);
  card.dataset.points = String(feeds.reduce((sum, feed) => sum + feed.points.length, 0));

  const repaint = () => chart?.updateOptions(options());
  dark.addEventListener("change", repaint);
  // dygraphs measures its place when it is made, so that has to be on the page and have a size.
  const watcher = new ResizeObserver(() => {
    if (!place.isConnected) {
      watcher.disconnect();
      dark.removeEventListener("change", repaint);
      chart?.destroy();
      chart = null;
    } else if (place.clientWidth > 0 && place.clientHeight > 0) {
      if (chart) chart.resize(); else start();
    }
  });
  watcher.observe(place);
  return make("div", { class: "chart-box" }, place, readout);
}

/** What stands in for the chart where the library is missing. */
function table({ feeds, follow }) {
  const body = make("tbody");
  const show = () => {
    const points = feeds.flatMap((feed) => feed.points.slice(-20).map((point) => ({ feed, point })));
    points.sort((left, right) => right.point.time - left.point.time);
    body.replaceChildren(...points.slice(0, 20).map(({ feed, point }) => make("tr", {},
      make("td", { class: "when" }, clock(point.time)), make("td", {}, feed.name), make("td", { class: "value" }, point.value))));
  };
  for (const feed of feeds) follow(feed, show);
  show();
  return make("div", { class: "scroll", tabindex: "0" },
    make("p", { class: "note" }, "Charts need the Debian package ", make("code", {}, "libjs-dygraphs"), " on the simulator's machine. Until then, the newest values:"),
    make("table", {}, make("thead", {}, make("tr", {}, ...["Time", "Feed", "Value"].map((head) => make("th", { scope: "col" }, head)))), body));
}
