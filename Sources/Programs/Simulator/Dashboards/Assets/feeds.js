// What is known of the feeds of one dashboard: loaded once, then kept up to date by server-sent events.

const kept = 5000;

/** The feeds of one dashboard. Listeners are called with the feed and the point that arrived. */
export class Feeds {
  constructor(base) {
    this.base = base;
    this.feeds = new Map();
    this.listeners = new Map();
    this.secret = "";
    this.onState = () => {};
    this.onLink = () => {};
    this.onChange = () => {};
    this.onNotice = () => {};
  }

  /** Reads the dashboard, its feeds and their recent points. */
  async load() {
    const response = await fetch(`${this.base}/state`, { cache: "no-store" });
    if (!response.ok) {
      const error = new Error(response.status === 404 ? "There is no such dashboard on this simulator." : `The simulator answered ${response.status}.`);
      error.status = response.status;
      throw error;
    }
    const state = await response.json();
    this.secret = state.secret;
    for (const feed of state.feeds) this.feeds.set(feed.id, feed);
    return state;
  }

  /** Opens the event stream. A break is repaired by the browser, then everything is read again. */
  listen() {
    let opened = false;
    const source = new EventSource(`${this.base}/events`);
    source.onopen = () => {
      if (opened) this.onChange();
      opened = true;
      this.onLink("live");
    };
    source.onerror = () => {
      this.onLink("waiting");
      if (source.readyState === EventSource.CLOSED) {
        setTimeout(() => { this.onChange(); this.listen(); }, 3000);
      }
    };
    source.addEventListener("point", (event) => this.take(JSON.parse(event.data)));
    source.addEventListener("dashboard", () => this.onChange());
    source.addEventListener("notice", (event) => this.onNotice(JSON.parse(event.data)));
    addEventListener("pagehide", () => source.close(), { once: true });
  }

  take({ feed: id, point, last }) {
    const feed = this.feeds.get(id);
    if (!feed) return;
    if (last) feed.last = point;
    feed.points.push(point);
    const before = feed.points.length > 1 ? feed.points[feed.points.length - 2] : null;
    if (before && before.time > point.time) feed.points.sort((left, right) => left.time - right.time);
    if (feed.points.length > kept) feed.points.splice(0, feed.points.length - kept);
    for (const listener of this.listeners.get(id) ?? []) listener(feed, point);
  }

  /** Calls `listener` for every point of `feed` that arrives. */
  follow(feed, listener) {
    if (!feed) return;
    if (!this.listeners.has(feed.id)) this.listeners.set(feed.id, []);
    this.listeners.get(feed.id).push(listener);
  }

  /** Forgets all listeners, before the blocks are built again. */
  forget() {
    this.listeners.clear();
  }

  /** Writes a value as a dashboard does; throws with a sentence when the simulator refuses it. */
  async write(feed, value) {
    let response;
    try {
      response = await fetch(`${this.base}/value`, {
        method: "POST",
        headers: { "Content-Type": "application/json", "X-Dashboard-Secret": this.secret },
        body: JSON.stringify({ feed: feed.id, value: String(value) }),
      });
    } catch {
      throw new Error(`“${value}” was not sent to ${feed.name}: the simulator does not answer.`);
    }
    if (response.ok) return;
    const body = await response.json().catch(() => ({}));
    const reason = Array.isArray(body.error) ? body.error.join(", ") : body.error ?? `status ${response.status}`;
    throw new Error(`“${value}” was not stored in ${feed.name}: ${reason}.`);
  }
}
