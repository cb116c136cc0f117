"use strict";
const find = id => document.getElementById(id);
const annotator = new URLSearchParams(location.search).get("annotator") ?? "";
const nameOfWindow = crypto.randomUUID();
const images = new Map();
const noticeKey = "notice";
let form, current, conflict, busy = false, agreementTimer;

const isFull = () => find("item").classList.contains("full");
const make = (name, text = "", properties = {}) =>
  Object.assign(document.createElement(name), {textContent: text}, properties);

function say(id, text) {
  find(id).textContent = text;
  find(id).hidden = !text;
}

// Pictures are loaded and decoded ahead, so that the next one is there at once.
function load(digest) {
  if (!images.has(digest)) {
    const image = new Image();
    image.src = `pictures/${digest}.png`;
    images.set(digest, image.decode().then(() => image, () => null));
  }
  return images.get(digest);
}

async function buildFigure([digest, caption], item) {
  const figure = make("figure"), frame = make("div", "", {className: "frame", tabIndex: isFull() ? 0 : -1});
  const image = await load(digest);
  if (image) image.alt = caption || item.title || "the picture to decide on";
  frame.append(image ?? make("p", "This picture cannot be loaded. Leave it for later (s).", {className: "warning"}));
  figure.append(frame, make("figcaption", caption));
  return figure;
}

async function show(state) {
  const [item, ...ahead] = state.items;
  const figures = item ? await Promise.all(item.pictures.map(picture => buildFigure(picture, item))) : [];
  // A reason that was not written stays to be sent again.
  if (item?.key !== current?.key) find("reason").value = "";
  current = item;
  conflict = state.conflict;
  find("pictures").replaceChildren(...figures);
  find("item").hidden = !item;
  find("done").hidden = Boolean(item);
  if (item) {
    find("title").textContent = item.title;
    find("sentence").textContent = item.sentence;
    find("lines").replaceChildren(...item.lines.flatMap(([label, text]) => [make("dt", label), make("dd", text)]));
    find("notes").replaceChildren(...item.notes.map(note => make("li", note)));
  }
  document.title = `${state.done} of ${state.total}: ${item?.part ?? form.asset}`;
  say("conflict", conflict ? describeConflict() : "");
  say("error", "");
  showProgress(state);
  document.body.dataset.item = item?.key ?? "";
  const digests = new Set([item, ...ahead].filter(Boolean).flatMap(({pictures}) => pictures.map(([digest]) => digest)));
  for (const digest of images.keys()) if (!digests.has(digest)) images.delete(digest);
  for (const digest of digests) load(digest);
}

function describeConflict() {
  const who = conflict.annotator && conflict.annotator !== annotator ? conflict.annotator : "Somebody, or another window of yours,";
  return `${who} has answered this meanwhile: ${conflict.value}${conflict.reason ? ` (${conflict.reason})` : ""}. ` +
    "Your answer was not written. Answer again to replace it, or press s to leave it.";
}

function showProgress(state) {
  const left = state.total - state.done;
  const speed = state.per_minute && left ? ` · ${Math.round(state.per_minute)} a minute, ${formatMinutes(state.minutes_left)} left` : "";
  find("count").textContent = `${annotator}: ${state.done} of ${state.total} decided, ${left} left${speed}`;
  find("bar").value = state.total ? state.done / state.total : 1;
  find("message").textContent = state.message;
  const last = state.last;
  find("last").textContent = last
    ? [`Last: ${last.value}${last.reason ? ` (${last.reason})` : ""}`, last.title, ...last.notes].join(" · ") : "";
  const {count, names} = state.outdated;
  find("outdated").hidden = !count;
  const subject = count === 1 ? ["1 answer is", "stays"] : [`${count} answers are`, "stay"];
  find("outdated").firstElementChild.textContent =
    `${subject[0]} about what is not under review now and ${subject[1]} in the file: ${names.join(", ")}${count > names.length ? " …" : ""}.`;
  clearTimeout(agreementTimer);
  agreementTimer = setTimeout(showAgreement, 500);
}

const formatMinutes = minutes => minutes < 90 ? `${Math.max(1, Math.round(minutes))} min` : `${Math.round(minutes / 60)} h`;

async function showAgreement() {
  try {
    const reply = await fetch(`agreement?${new URLSearchParams({annotator})}`);
    find("agreement").textContent = (await reply.json()).join(" · ");
  } catch { /* The next decision says that the server is away. */ }
}

const nameReview = ({asset, parts}) => [asset, ...parts].join("\n");

// The server of another review runs here now: load its form, and say there what it replied.
function loadOtherReview(state) {
  sessionStorage.setItem(noticeKey, state.error || state.message);
  busy = false; // Nothing waits to be written: leaving needs no question.
  location.reload();
}

// A decision that the server did not take, as it is away, is sent again until it does.
async function send(action, content = {}) {
  if (busy) return;
  busy = true;
  const body = JSON.stringify({annotator, window: nameOfWindow, asset: form.asset, ...content});
  try {
    for (;;) {
      try {
        const reply = await fetch(action, {method: "POST", body, headers: {"Content-Type": "application/json"}});
        const state = await reply.json();
        if (state.asset && nameReview(state) !== nameReview(form)) loadOtherReview(state);
        else if (state.error) say("error", state.error);
        else await show(state);
        return;
      } catch {
        say("error", `The server does not answer. ${content.value ? `Your answer (${content.value}) is not written yet: ` : ""}` +
          "start the same command again, and this page goes on.");
        await new Promise(done => setTimeout(done, 1000));
      }
    }
  } finally { busy = false; }
}

function decide(value, reason = "") {
  if (!current) return;
  const replaces = conflict ? {replaces: conflict.value} : {};
  send("decide", {item: current.key, value, reason, ...replaces});
}

const rejection = () => form.choices.at(-1)[0];
const moves = {
  u: () => send("undo"),
  s: () => current && send("skip", {item: current.key}),
  z: () => {
    find("item").classList.toggle("full");
    document.querySelector("[data-key=z]").setAttribute("aria-pressed", isFull());
    for (const frame of document.querySelectorAll(".frame")) frame.tabIndex = isFull() ? 0 : -1;
  },
  e: () => find("reason").focus(),
};

function buildForm() {
  find("task").textContent = form.task;
  find("guidelines").lastElementChild.textContent = form.guidelines;
  find("guidelines").hidden = !form.guidelines;
  find("done").querySelector("p").textContent = form.next_step;
  const button = (key, text, meaning, act) => {
    const element = make("button", "", {type: "button"});
    element.setAttribute("aria-keyshortcuts", key);
    element.append(make("kbd", key), text === key ? "" : " ", make("b", text === key ? "" : text));
    if (meaning) element.append(" ", make("small", meaning));
    element.addEventListener("click", act);
    moves[key] = act;
    return element;
  };
  find("choices").replaceChildren(...form.choices.map(([value, meaning]) =>
    button(value[0], value, meaning, () => decide(value))));
  find("reasons").hidden = find("other").hidden = !form.reasons.length;
  find("reasons").replaceChildren(...form.reasons.map((reason, place) =>
    button(String(place + 1), reason, "", () => decide(rejection(), reason))));
  if (form.reasons.length) find("other").querySelector("label").prepend(make("kbd", "e"), " ");
}

addEventListener("keydown", event => {
  const isTyping = event.target.matches("input:not([type=checkbox])");
  if (isTyping && event.key === "Escape") event.target.blur();
  if (isTyping || event.ctrlKey || event.metaKey || event.altKey || event.repeat || !find("keys").checked) return;
  const key = event.key.toLowerCase(); // Caps Lock may be on.
  const act = form && Object.hasOwn(moves, key) && (key !== "e" || form.reasons.length) && moves[key];
  if (!act) return;
  event.preventDefault();
  act();
});
for (const button of document.querySelectorAll("[data-key]")) button.addEventListener("click", () => moves[button.dataset.key]());
find("aside").addEventListener("click", () => send("set-aside"));
find("other").addEventListener("submit", event => {
  event.preventDefault();
  find("reason").blur();
  decide(rejection(), find("reason").value);
});
addEventListener("beforeunload", event => { if (busy) event.preventDefault(); });
addEventListener("pagehide", () => {
  if (annotator && form) navigator.sendBeacon("leave", JSON.stringify({annotator, window: nameOfWindow, asset: form.asset}));
});

async function begin() {
  form = await (await fetch("form")).json();
  document.querySelector("h1").textContent = document.title = `Review of ${form.asset}`;
  buildForm();
  find("who").hidden = Boolean(annotator);
  const nameField = document.querySelector("#who input");
  if (!annotator) { nameField.focus(); return; }
  const reply = await fetch(`state?${new URLSearchParams({annotator, window: nameOfWindow})}`);
  const state = await reply.json();
  if (state.error) {
    say("error", state.error);
    find("who").hidden = false;
    nameField.value = annotator;
    nameField.focus();
    return;
  }
  await show(state);
  say("error", sessionStorage.getItem(noticeKey) ?? "");
  sessionStorage.removeItem(noticeKey);
}
begin();
