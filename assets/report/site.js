"use strict";
// A link to a page outside of this folder is shown once a picture beside that page has been seen.
for (const link of document.querySelectorAll("[data-seen]")) {
  const mark = new Image();
  mark.addEventListener("load", () => { link.hidden = false; });
  mark.src = link.dataset.seen;
}

// A slider lays the original over the changed picture, from the left as far as it is pushed. The
// pictures can be dragged across as well, by mouse or finger.
for (const slide of document.querySelectorAll(".slide")) {
  const slider = slide.querySelector("input");
  const frame = slide.querySelector(".frame");
  const show = () => slide.style.setProperty("--shown", `${slider.value}%`);
  const follow = (event) => {
    if (event.buttons !== 1) return;
    const { left, width } = frame.getBoundingClientRect();
    slider.value = (100 * (event.clientX - left)) / width;
    show();
  };
  slider.addEventListener("input", show);
  frame.addEventListener("pointerdown", follow);
  frame.addEventListener("pointermove", follow);
  frame.addEventListener("dragstart", (event) => event.preventDefault());
  show();
}

// Tables are sorted by the column whose heading is pressed, each group of rows in itself.
(() => {
  const number = (cell) => (cell.dataset.value === undefined ? null : Number(cell.dataset.value));
  const text = (cell) => cell.textContent.trim();
  const empty = (cell) => number(cell) === null && (cell.querySelector(".none, .mark") || text(cell) === "–");

  function compare(one, other) {
    if (empty(one) || empty(other)) return null;
    const [left, right] = [number(one), number(other)];
    return left === null || right === null ? text(one).localeCompare(text(other)) : left - right;
  }

  function sort(table, at, down) {
    for (const body of table.tBodies) {
      const rows = [...body.rows].filter((row) => row.cells.length > 1 && !row.matches(".mean"));
      const placed = rows.sort((one, other) => {
        const [left, right] = [one.cells[at], other.cells[at]];
        const order = compare(left, right);
        return order === null ? Boolean(empty(left)) - Boolean(empty(right)) : down ? -order : order;
      });
      body.append(...placed, ...body.querySelectorAll(".mean"));
    }
  }

  for (const table of document.querySelectorAll("table.sortable")) {
    const heads = [...table.tHead.rows[table.tHead.rows.length - 1].cells];
    heads.forEach((head, at) => {
      const button = document.createElement("button");
      button.type = "button";
      button.className = "sort";
      const small = head.querySelector("small");
      if (head.querySelector("a")) button.setAttribute("aria-label", `Sort by ${text(head)}`);
      else button.append(...[...head.childNodes].filter((node) => node !== small));
      head.insertBefore(button, small);
      button.addEventListener("click", () => {
        const numeric = [...table.tBodies].some((body) =>
          [...body.rows].some((row) => row.cells[at] && number(row.cells[at]) !== null));
        const before = head.getAttribute("aria-sort");
        const down = before ? before === "ascending" : numeric;
        for (const each of heads) each.removeAttribute("aria-sort");
        head.setAttribute("aria-sort", down ? "descending" : "ascending");
        sort(table, at, down);
      });
    });
  }
})();

// The gallery's filters: they show and hide cards, and keep themselves in the address.
(() => {
  const form = document.getElementById("filters");
  if (!form) return;
  const count = document.getElementById("count");
  const cards = [...document.querySelectorAll("#cards > li")].map((item) => ({
    item,
    ...item.dataset,
    wrong: item.dataset.wrong.trim().split(" ").map(Number),
  }));
  const fields = [...form.querySelectorAll("select")];
  const { wrong, judge } = form.elements;
  const usual = (field) => [...field.options].find((option) => option.defaultSelected).value;
  const number = new Intl.NumberFormat("en");

  function fits(card) {
    return fields.every((field) => {
      if (field.value === "all" || field === judge) return true;
      if (field.name === "wrong") return card.wrong[field.selectedIndex - 1] > 0;
      return card[field.name] === field.value;
    });
  }

  // Of the judge whose wrong answers are chosen, else of the one chosen for it.
  function say(card, at, name) {
    const said = card.item.querySelector(".said");
    const given = said.dataset.said.split("|")[at];
    said.textContent = given ? `${name} says ${given}` : `${name} was not asked`;
  }

  function filter() {
    let shown = 0;
    const at = judge && (wrong.value === "all" ? judge.selectedIndex : wrong.selectedIndex - 1);
    for (const card of cards) {
      const hidden = !fits(card);
      if (card.item.hidden !== hidden) card.item.hidden = hidden;
      shown += !hidden;
      if (judge && !hidden) say(card, at, judge.options[at].value);
    }
    count.textContent = `${number.format(shown)} of ${number.format(cards.length)} ${count.dataset.of ?? "pictures"}`;
  }

  function write() {
    const chosen = fields.filter((field) => field.value !== usual(field));
    const query = new URLSearchParams(chosen.map((field) => [field.name, field.value]));
    history.replaceState(null, "", `#${query}`);
  }

  function read() {
    const query = new URLSearchParams(location.hash.slice(1));
    for (const field of fields) {
      const wanted = query.get(field.name);
      const known = [...field.options].some((option) => option.value === wanted);
      field.value = known ? wanted : usual(field);
    }
    filter();
  }

  form.addEventListener("change", () => { write(); filter(); });
  form.addEventListener("reset", (event) => {
    event.preventDefault();
    for (const field of fields) field.value = usual(field);
    write();
    filter();
  });
  form.addEventListener("submit", (event) => event.preventDefault());
  window.addEventListener("hashchange", read);
  read();
})();
