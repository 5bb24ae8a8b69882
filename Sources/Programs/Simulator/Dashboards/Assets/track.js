// The map: the way between the located points of a feed, to scale, without tiles and so without a network.
import { clock, draw, make, number, tidy } from "./dom.js";

const side = 400;
const margin = 36;

/** A length of 1, 2 or 5 times a power of ten that is at most `metres`. */
function round(metres) {
  const power = 10 ** Math.floor(Math.log10(metres));
  return [5, 2, 1].map((factor) => factor * power).find((length) => length <= metres) ?? power;
}

/** Shows where a feed's points were measured. */
export function track({ feed, properties, title, follow }) {
  if (!feed) return make("p", { class: "note" }, "No feed is connected to this block.");
  const line = draw("polyline", { class: "track-line" });
  const dots = draw("g", { class: "track-dots" });
  const here = draw("circle", { class: "track-here", r: 7 });
  const bar = draw("path", { class: "track-scale" });
  const length = draw("text", { class: "track-text", x: margin, y: side - 20 });
  const north = draw("text", { class: "track-text north", x: side - margin, y: margin - 4 }, "N ↑");
  const drawing = draw("svg", { viewBox: `0 0 ${side} ${side}`, class: "track", role: "img", preserveAspectRatio: "xMidYMid meet" },
    draw("path", { class: "track-grid", d: grid() }), line, dots, here, bar, length, north);
  const words = make("p", { class: "coordinates" });

  const show = () => {
    const hours = number(properties.historyHours) ?? 0;
    const newest = feed.points.at(-1)?.time ?? 0;
    const since = newest - (hours > 0 ? hours : 24) * 3600000;
    const places = feed.points.filter((point) => point.lat !== undefined && point.lon !== undefined && point.time >= since);
    drawing.toggleAttribute("hidden", places.length === 0);
    drawing.classList.toggle("hidden", places.length === 0);
    if (places.length === 0) {
      words.textContent = "No point of this feed has a location yet.";
      return;
    }
    const last = places.at(-1);
    const [low, high] = [Math.min(...places.map((place) => place.lat)), Math.max(...places.map((place) => place.lat))];
    const middle = { lat: (low + high) / 2, lon: last.lon };
    const east = 111320 * Math.max(Math.cos((middle.lat * Math.PI) / 180), 1e-6);
    // The short way round, so that a walk over the date line stays one walk.
    const plane = places.map((place) => ({
      x: ((((place.lon - middle.lon) % 360) + 540) % 360 - 180) * east,
      y: (middle.lat - place.lat) * 110574,
    }));
    const bounds = (axis) => [Math.min(...plane.map((point) => point[axis])), Math.max(...plane.map((point) => point[axis]))];
    const [[left, right], [top, bottom]] = [bounds("x"), bounds("y")];
    const span = Math.max(right - left, bottom - top, 40);
    const scale = (side - 2 * margin) / span;
    const at = (point) => ({
      x: side / 2 + (point.x - (left + right) / 2) * scale,
      y: side / 2 + (point.y - (top + bottom) / 2) * scale,
    });
    const spots = plane.map(at);
    line.setAttribute("points", spots.map((spot) => `${spot.x.toFixed(1)},${spot.y.toFixed(1)}`).join(" "));
    dots.replaceChildren(...spots.slice(-200, -1).map((spot) => draw("circle", { cx: spot.x.toFixed(1), cy: spot.y.toFixed(1), r: 2.5 })));
    here.setAttribute("cx", spots.at(-1).x.toFixed(1));
    here.setAttribute("cy", spots.at(-1).y.toFixed(1));
    const metres = round(span / 3);
    const base = side - 14;
    bar.setAttribute("d", `M ${margin} ${base - 4} v 4 h ${(metres * scale).toFixed(1)} v -4`);
    length.textContent = metres >= 1000 ? `${metres / 1000} km` : `${metres} m`;
    const height = last.ele === undefined ? "" : `, ${tidy(last.ele, 1)} m`;
    words.textContent = `${last.lat.toFixed(5)}°, ${last.lon.toFixed(5)}°${height} · ${tidy(last.value)} · ${clock(last.time)}`;
    drawing.setAttribute("aria-label", `${title}: ${places.length} places, the last at ${words.textContent}`);
  };
  follow(feed, show);
  show();
  return make("div", { class: "body track-body" }, drawing, words);
}

function grid() {
  const lines = [];
  for (let at = margin; at <= side - margin; at += (side - 2 * margin) / 4) {
    lines.push(`M ${margin} ${at} H ${side - margin}`, `M ${at} ${margin} V ${side - margin}`);
  }
  return lines.join(" ");
}
