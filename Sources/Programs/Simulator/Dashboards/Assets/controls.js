// Blocks that write to a feed. The feed decides what they show: a control moves when its value comes back.
import { hexadecimal, isSet, make, number, tidy } from "./dom.js";

/** Says that a control has no feed to write to. */
function unwired() {
  return make("p", { class: "note" }, "No feed is connected to this block.");
}

function toggle({ feed, properties, title, follow, write }) {
  if (!feed) return unwired();
  // In the service's first years the text was the value, so the texts stand in where a value is missing.
  const on = properties.onValue ?? properties.onText ?? "ON";
  const off = properties.offValue ?? properties.offText ?? "OFF";
  const knob = make("span", { class: "knob", "aria-hidden": "true" });
  const button = make("button", { type: "button", role: "switch", class: "switch", "aria-label": title }, knob);
  const word = make("span", { class: "word" });
  const onColour = hexadecimal(properties.onColor);
  if (onColour) button.style.setProperty("--on", onColour);
  const offColour = hexadecimal(properties.offColor);
  if (offColour) button.style.setProperty("--off", offColour);

  const show = () => {
    const value = feed.last?.value;
    const isOn = value === on;
    button.setAttribute("aria-checked", String(isOn));
    button.dataset.known = String(isOn || value === off);
    word.textContent = isOn ? properties.onText || on : value === off ? properties.offText || off : value === undefined ? "not set" : value;
  };
  button.addEventListener("click", async () => {
    const wanted = feed.last?.value === on ? off : on;
    button.dataset.busy = "true";
    await write(feed, wanted);
    delete button.dataset.busy;
    show();
  });
  follow(feed, show);
  show();
  return make("div", { class: "body row" }, button, word);
}

function momentary({ feed, properties, title, write }) {
  if (!feed) return unwired();
  const press = properties.value ?? "1";
  const release = properties.release ?? "0";
  const button = make("button", { type: "button", class: "press", "aria-label": `${properties.text || "Press"}: ${title}` }, properties.text || "Press");
  const colour = hexadecimal(properties.backgroundColor);
  if (colour) {
    button.style.setProperty("--on", colour);
    button.style.setProperty("--on-text", readableOn(colour));
  }

  // Press and release reach the feed in order, however quick the finger.
  let queue = Promise.resolve();
  let isDown = false;
  const send = (value) => { queue = queue.then(() => write(feed, value)); };
  const down = () => {
    if (isDown) return;
    isDown = true;
    button.dataset.down = "true";
    send(press);
  };
  const up = () => {
    if (!isDown) return;
    isDown = false;
    delete button.dataset.down;
    if (release !== "") send(release);
  };
  button.addEventListener("pointerdown", (event) => {
    if (event.button !== 0) return;
    button.setPointerCapture(event.pointerId);
    down();
  });
  for (const end of ["pointerup", "pointercancel", "lostpointercapture", "blur"]) button.addEventListener(end, up);
  button.addEventListener("keydown", (event) => {
    if (event.key !== " " && event.key !== "Enter") return;
    event.preventDefault();
    if (!event.repeat) down();
  });
  button.addEventListener("keyup", (event) => { if (event.key === " " || event.key === "Enter") up(); });
  // A screen reader's click has neither pointer nor key.
  button.addEventListener("click", (event) => { if (event.detail === 0 && !isDown) { down(); up(); } });
  return make("div", { class: "body row" }, button);
}

function readableOn(colour) {
  const part = (start) => parseInt(colour.slice(start, start + 2), 16) / 255;
  return 0.299 * part(1) + 0.587 * part(3) + 0.114 * part(5) > 0.6 ? "#10201e" : "#ffffff";
}

function slider({ feed, properties, title, follow, write }) {
  if (!feed) return unwired();
  const low = number(properties.min) ?? 0;
  const high = number(properties.max) ?? 100;
  const step = number(properties.step);
  const input = make("input", { type: "range", min: low, max: high, step: step && step > 0 ? step : "any", "aria-label": title });
  const output = make("output", { class: "reading" });
  let isHeld = false;
  const show = () => {
    if (isHeld) return;
    const value = number(feed.last?.value);
    input.value = value ?? low;
    output.textContent = value === null ? "–" : tidy(feed.last.value);
    if (properties.label) output.append(" ", make("span", { class: "unit" }, properties.label));
  };
  input.addEventListener("input", () => { isHeld = true; output.textContent = tidy(input.value); });
  input.addEventListener("change", async () => {
    await write(feed, tidy(input.value, step ? null : 2));
    isHeld = false;
    show();
  });
  follow(feed, show);
  show();
  return make("div", { class: "body" }, output, input,
    make("div", { class: "scale", "aria-hidden": "true" }, make("span", {}, String(low)), make("span", {}, String(high))));
}

function text({ feed, properties, title, follow, write }) {
  if (isSet(properties.static)) {
    return make("div", { class: "body" }, make("p", { class: "reading wrap" }, properties.value ?? ""));
  }
  if (!feed) return unwired();
  const reading = make("p", { class: "reading wrap" });
  const show = () => {
    const value = feed.last?.value;
    reading.textContent = value === undefined ? "–" : tidy(value, properties.decimalPlaces ?? null);
    reading.dataset.long = String(reading.textContent.length > 14);
  };
  follow(feed, show);
  show();
  return make("div", { class: "body" }, reading, entry(feed, title, write, "input"));
}

function multiline({ feed, title, follow, write, properties }) {
  const area = make("pre", { class: "wrap", tabindex: "0", "aria-label": title });
  const show = () => { area.textContent = feed?.last?.value ?? properties.value ?? ""; };
  if (feed) follow(feed, show);
  show();
  return make("div", { class: "body" }, area, feed && !isSet(properties.static) ? entry(feed, title, write, "textarea") : null);
}

/** A line to type a value into, folded away until it is wanted. */
function entry(feed, title, write, kind, attributes = {}) {
  const field = make(kind, { "aria-label": `New value for ${title}`, autocomplete: "off", ...attributes });
  const form = make("form", { class: "entry-line" }, field, make("button", { type: "submit", class: "quiet" }, "Send"));
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    if (field.value !== "" && (await write(feed, field.value))) field.value = "";
  });
  return make("details", { class: "send" }, make("summary", {}, "Send a value"), form);
}

function numberPad({ feed, title, follow, write }) {
  if (!feed) return unwired();
  const field = make("input", { type: "text", inputmode: "decimal", class: "reading", "aria-label": `Number for ${title}`, placeholder: feed.last?.value ?? "–" });
  const send = async () => { if (number(field.value) !== null && (await write(feed, field.value.trim()))) field.value = ""; };
  const keys = [..."123456789.0"].map((digit) => {
    const key = make("button", { type: "button", class: "quiet" }, digit);
    key.addEventListener("click", () => { field.value += digit; });
    return key;
  });
  const enter = make("button", { type: "submit", class: "quiet strong", "aria-label": "Send" }, "↵");
  const form = make("form", { class: "body pad" }, field, make("div", { class: "keys" }, ...keys, enter));
  form.addEventListener("submit", (event) => { event.preventDefault(); send(); });
  follow(feed, () => { field.placeholder = feed.last?.value ?? "–"; });
  return form;
}

function colourPicker({ feed, title, follow, write }) {
  if (!feed) return unwired();
  const input = make("input", { type: "color", "aria-label": title });
  const word = make("span", { class: "word" });
  const show = () => {
    input.value = hexadecimal(feed.last?.value) ?? "#000000";
    word.textContent = feed.last?.value ?? "not set";
  };
  input.addEventListener("change", async () => { await write(feed, input.value.toUpperCase()); show(); });
  follow(feed, show);
  show();
  return make("div", { class: "body row" }, input, word);
}

/** The choices of a selector, as a list or as text with one choice a line or between commas. */
function choices(properties) {
  const given = properties.options ?? properties.choices ?? properties.values ?? [];
  const list = Array.isArray(given) ? given : String(given).split(/[\n,]/);
  return list
    .map((item) => (item !== null && typeof item === "object" ? { text: item.text ?? item.label ?? item.name ?? item.value, value: item.value ?? item.text } : { text: item, value: item }))
    .map(({ text: label, value }) => ({ text: String(label ?? "").trim(), value: String(value ?? "").trim() }))
    .filter(({ value }) => value !== "");
}

function selector(context) {
  const { feed, properties, title, follow, write } = context;
  const list = choices(properties);
  if (!feed || list.length === 0) return text(context);
  const select = make("select", { "aria-label": title }, ...list.map((item) => make("option", { value: item.value }, item.text)));
  const show = () => { select.value = feed.last?.value ?? ""; };
  select.addEventListener("change", async () => { await write(feed, select.value); show(); });
  follow(feed, show);
  show();
  return make("div", { class: "body row" }, select);
}

/** Blocks that write. */
export const controls = {
  toggle_button: toggle,
  momentary_button: momentary,
  slider,
  text,
  multiline_text: multiline,
  number_pad: numberPad,
  color_picker: colourPicker,
  selector,
  remote_control: text,
};
