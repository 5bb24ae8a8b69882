// Blocks that only show: gauge, line gauge, indicator, icon, battery, rich text, image, link, divider.
import { draw, hexadecimal, make, number, tidy } from "./dom.js";

function range(properties) {
  const low = number(properties.minValue ?? properties.min) ?? 0;
  const high = number(properties.maxValue ?? properties.max) ?? 100;
  return high > low ? { low, high } : { low, high: low + 1 };
}

function part(value, { low, high }) {
  return Math.min(Math.max((value - low) / (high - low), 0), 1);
}

function isWarning(value, properties) {
  const low = number(properties.minWarning);
  const high = number(properties.maxWarning);
  return (low !== null && value < low) || (high !== null && value > high);
}

/** Three quarters of a circle, as a path of length 100. */
function arc(className) {
  return draw("path", { class: className, d: "M 22.4 77.6 A 39 39 0 1 1 77.6 77.6", pathLength: 100 });
}

function gauge({ feed, properties, title, follow }) {
  const limits = range(properties);
  const hand = arc("gauge-value");
  const value = draw("text", { class: "gauge-reading", x: 50, y: 55 });
  const label = draw("text", { class: "gauge-label", x: 50, y: 68 }, properties.label ?? "");
  const drawing = draw("svg", { viewBox: "6 6 88 84", role: "img", class: "gauge" }, arc("gauge-track"), hand, value, label,
    draw("text", { class: "gauge-end", x: 22.4, y: 89 }, tidy(limits.low)), draw("text", { class: "gauge-end", x: 77.6, y: 89 }, tidy(limits.high)));
  const show = () => {
    const reading = number(feed?.last?.value);
    const text = reading === null ? "–" : tidy(feed.last.value, properties.decimalPlaces ?? null);
    hand.setAttribute("stroke-dasharray", reading === null ? "0 200" : `${part(reading, limits) * 100} 200`);
    hand.classList.toggle("warning", reading !== null && isWarning(reading, properties));
    value.textContent = text;
    value.classList.toggle("small", text.length > 6);
    drawing.setAttribute("aria-label", `${title}: ${text} ${properties.label ?? ""}, from ${limits.low} to ${limits.high}`);
  };
  if (feed) follow(feed, show);
  show();
  return make("div", { class: "body centre" }, drawing);
}

function lineGauge({ feed, properties, title, follow }) {
  const limits = range(properties);
  const bar = make("div", { class: "bar-value" });
  const meter = make("div", { class: "bar", role: "meter", "aria-label": title, "aria-valuemin": limits.low, "aria-valuemax": limits.high }, bar);
  const reading = make("p", { class: "reading" });
  const show = () => {
    const value = number(feed?.last?.value);
    bar.style.inlineSize = `${value === null ? 0 : part(value, limits) * 100}%`;
    bar.classList.toggle("warning", value !== null && isWarning(value, properties));
    meter.setAttribute("aria-valuenow", value ?? limits.low);
    reading.textContent = value === null ? "–" : tidy(feed.last.value, properties.decimalPlaces ?? null);
  };
  if (feed) follow(feed, show);
  show();
  return make("div", { class: "body" }, reading, meter,
    make("div", { class: "scale", "aria-hidden": "true" }, make("span", {}, String(limits.low)), make("span", {}, String(limits.high))));
}

const comparisons = {
  "=": (left, right) => left === right,
  "!=": (left, right) => left !== right,
  ">": (left, right) => left > right,
  ">=": (left, right) => left >= right,
  "<": (left, right) => left < right,
  "<=": (left, right) => left <= right,
};
const spellings = { "==": "=", eq: "=", ne: "!=", neq: "!=", gt: ">", gte: ">=", lt: "<", lte: "<=" };

/** Conditions as a list of {operator, value}, of texts such as ">= 5", or as one such text. */
function conditions(given) {
  if (given === null || given === undefined || given === "") return [];
  let list = given;
  if (typeof given === "string") {
    try { list = JSON.parse(given); } catch { list = given.split(/[\n,;]/); }
  }
  return (Array.isArray(list) ? list : [list]).map((item) => {
    if (item !== null && typeof item === "object") {
      const operator = String(item.operator ?? item.comparator ?? item.op ?? "=");
      return { operator: spellings[operator] ?? operator, value: String(item.value ?? "") };
    }
    const [, operator, value] = /^\s*(==|!=|>=|<=|=|>|<)?\s*(.*?)\s*$/.exec(String(item));
    return { operator: spellings[operator] ?? operator ?? "=", value };
  }).filter(({ operator, value }) => value !== "" && operator in comparisons);
}

function meets(text, list) {
  return list.some(({ operator, value }) => {
    const [left, right] = [number(text), number(value)];
    return left !== null && right !== null ? comparisons[operator](left, right) : comparisons[operator](text, value);
  });
}

function level(text, properties) {
  if (text === undefined) return "none";
  const high = conditions(properties.conditions ?? properties.highConditions);
  const medium = conditions(properties.mediumConditions);
  const low = conditions(properties.lowConditions);
  if (meets(text, high)) return "high";
  if (meets(text, medium)) return "medium";
  if (meets(text, low)) return "low";
  if (high.length > 0) return "low";
  const value = number(text);
  const isOn = value !== null ? value !== 0 : ["on", "true", "yes", "start", "open", "high"].includes(text.trim().toLowerCase());
  return isOn ? "high" : "low";
}

function indicator({ feed, properties, title, follow }) {
  const lamp = draw("circle", { cx: 12, cy: 12, r: 9, class: "lamp" });
  const word = make("span", { class: "word" });
  const drawing = draw("svg", { viewBox: "0 0 24 24", class: "lamp-box", role: "img" }, lamp);
  const show = () => {
    const state = level(feed?.last?.value, properties);
    const own = hexadecimal(properties[`${state}Color`]);
    lamp.setAttribute("class", `lamp ${state}`);
    lamp.style.fill = own ?? "";
    word.textContent = feed?.last?.value ?? "no data";
    drawing.setAttribute("aria-label", `${title}: ${state === "none" ? "no data" : state}`);
  };
  if (feed) follow(feed, show);
  show();
  return make("div", { class: "body row" }, drawing, word);
}

function battery({ feed, title, follow }) {
  const level = draw("rect", { x: 4, y: 4, width: 0, height: 16, rx: 2, class: "battery-level" });
  const drawing = draw("svg", { viewBox: "0 0 52 24", class: "battery-box", role: "img" },
    draw("rect", { x: 1, y: 1, width: 46, height: 22, rx: 4, class: "battery-case" }),
    draw("rect", { x: 48.5, y: 8, width: 2.5, height: 8, rx: 1, class: "battery-pole" }), level);
  const reading = make("span", { class: "reading" });
  const show = () => {
    const value = number(feed?.last?.value);
    const charge = value === null ? 0 : part(value, { low: 0, high: 100 });
    level.setAttribute("width", 40 * charge);
    level.classList.toggle("warning", value !== null && charge < 0.2);
    reading.textContent = value === null ? "–" : `${tidy(value, 0)} %`;
    drawing.setAttribute("aria-label", `${title}: ${reading.textContent}`);
  };
  if (feed) follow(feed, show);
  show();
  return make("div", { class: "body row" }, drawing, reading);
}

function richText({ feed, properties, title, follow }) {
  const area = make("pre", { class: "wrap", tabindex: "0", "aria-label": title });
  const show = () => { area.textContent = feed?.last?.value ?? properties.value ?? properties.text ?? ""; };
  if (feed) follow(feed, show);
  show();
  return make("div", { class: "body" }, area);
}

/** Draws a base64 picture on a canvas, which needs no address and so no exception in the content policy. */
function image({ feed, title, follow }) {
  const canvas = make("canvas", { class: "picture", role: "img", "aria-label": title, width: 1, height: 1 });
  const note = make("p", { class: "note" });
  const show = async () => {
    const text = feed?.last?.value ?? "";
    note.textContent = "";
    if (text === "") { note.textContent = "no picture yet"; return; }
    try {
      const bytes = Uint8Array.from(atob(text.replace(/^data:[^,]*,/, "")), (letter) => letter.charCodeAt(0));
      const picture = await createImageBitmap(new Blob([bytes]));
      [canvas.width, canvas.height] = [picture.width, picture.height];
      canvas.getContext("2d").drawImage(picture, 0, 0);
    } catch {
      note.textContent = `The value is not a picture in base64 (${text.length} characters).`;
    }
  };
  if (feed) follow(feed, show);
  show();
  return make("div", { class: "body centre" }, canvas, note);
}

function dashboardLink({ properties, title }) {
  const key = String(properties.dashboard ?? properties.dashboardKey ?? properties.key ?? "");
  const account = location.pathname.split("/")[1];
  if (!/^[a-z0-9-]+$/.test(key)) return make("p", { class: "note" }, "This link names no dashboard.");
  return make("div", { class: "body row" }, make("a", { href: `/${account}/dashboards/${key}` }, properties.text || title));
}

/** Blocks that only show. */
export const displays = {
  gauge,
  line_gauge: lineGauge,
  indicator,
  icon: indicator,
  battery,
  rich_text: richText,
  image,
  dashboard_link: dashboardLink,
  divider: () => make("hr"),
};
