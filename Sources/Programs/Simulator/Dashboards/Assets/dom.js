// Small helpers. Everything that comes from a feed is put on the page with textContent, never as markup.

/** Makes an element: `make("p", {class: "note"}, "text", child)`. Attributes that are null or undefined are left out. */
export function make(name, attributes = {}, ...children) {
  return fill(document.createElement(name), attributes, children);
}

/** The same for a drawing. */
export function draw(name, attributes = {}, ...children) {
  return fill(document.createElementNS("http://www.w3.org/2000/svg", name), attributes, children);
}

function fill(element, attributes, children) {
  for (const [key, value] of Object.entries(attributes)) {
    if (value !== null && value !== undefined) element.setAttribute(key, value);
  }
  element.append(...children.filter((child) => child !== null && child !== undefined));
  return element;
}

/** The number in a feed's text, or null: an empty text is no number. */
export function number(text) {
  if (text === null || text === undefined || String(text).trim() === "") return null;
  const value = Number(text);
  return Number.isFinite(value) ? value : null;
}

/** Whether a property is set: the service has used both true/false and "yes"/"no". */
export function isSet(property, otherwise = false) {
  if (property === null || property === undefined || property === "") return otherwise;
  return ["yes", "true", "on", "1"].includes(String(property).toLowerCase());
}

/** A number for reading: `digits` after the point, else at most four significant decimals. */
export function tidy(text, digits = null) {
  const value = number(text);
  if (value === null) return text ?? "";
  const wanted = number(digits);
  if (wanted !== null) return value.toFixed(Math.min(Math.max(wanted, 0), 20));
  if (Number.isInteger(value)) return String(text).trim();
  const size = Math.abs(value);
  const places = size >= 1000 ? 1 : size >= 100 ? 2 : size >= 1 ? 3 : 4;
  return String(Number(value.toFixed(places)) || value);
}

/** How long ago, in words as short as the eye wants them. */
export function age(time) {
  const seconds = Math.max(0, (Date.now() - time) / 1000);
  if (seconds < 2) return "now";
  if (seconds < 60) return `${Math.floor(seconds)} s ago`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ago`;
  if (seconds < 86400) return `${Math.floor(seconds / 3600)} h ago`;
  return `${Math.floor(seconds / 86400)} d ago`;
}

/** The time of day, with the date when it is not today. */
export function clock(time) {
  const date = new Date(time);
  const two = (value) => String(value).padStart(2, "0");
  const day = `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())} `;
  const today = date.toDateString() === new Date().toDateString();
  return `${today ? "" : day}${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`;
}

/** A colour of the page's own palette, by the name of its custom property. */
export function colour(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

/** `text` when it is a plain hexadecimal colour, else null. */
export function hexadecimal(text) {
  return /^#[0-9a-f]{6}$/i.test(text ?? "") ? text : null;
}
