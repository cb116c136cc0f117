"use strict";
// The gallery's filters: they show and hide cards, and keep themselves in the address.
(() => {
  const form = document.getElementById("filters");
  const count = document.getElementById("count");
  const cards = [...document.querySelectorAll("#cards > li")].map((item) => ({
    item,
    ...item.dataset,
    wrong: item.dataset.wrong.trim().split(" ").map(Number),
  }));
  const fields = [...form.querySelectorAll("select")];
  const usual = (field) => [...field.options].find((option) => option.defaultSelected).value;
  const number = new Intl.NumberFormat("en");

  function fits(card) {
    return fields.every((field) => {
      if (field.value === "all") return true;
      if (field.name === "wrong") return card.wrong[field.selectedIndex - 1] > 0;
      return card[field.name] === field.value;
    });
  }

  function filter() {
    let shown = 0;
    for (const card of cards) {
      const hidden = !fits(card);
      if (card.item.hidden !== hidden) card.item.hidden = hidden;
      shown += !hidden;
    }
    count.textContent = `${number.format(shown)} of ${number.format(cards.length)} ${count.dataset.of ?? "images"}`;
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
