"use strict";
const page = document.querySelector("main").dataset;
const columns = JSON.parse(page.columns);
const articles = [...document.querySelectorAll("article")];
const verdict = article => article.querySelector("input[type=radio]:checked").value;
let unsaved = false;

function show() {
  const decided = articles.filter(verdict).length;
  document.getElementById("count").textContent = `${decided} of ${articles.length} decided`;
  for (const article of articles) article.className = verdict(article);
}

function decide(article, word) {
  const choice = article.querySelector(`input[type=radio][value="${word}"]`);
  choice.checked = true;
  choice.dispatchEvent(new Event("input", {bubbles: true}));
}

// From one card that is shown to the next or the one before it; the first where none is chosen.
function move(by) {
  const shown = articles.filter(article => !article.hidden);
  const at = shown.indexOf(document.activeElement.closest("article"));
  const to = shown[at < 0 ? 0 : Math.min(shown.length - 1, Math.max(0, at + by))];
  to?.focus({preventScroll: true});
  to?.scrollIntoView({block: "nearest"});
}

const words = JSON.parse(page.words);
const keys = {...Object.fromEntries(words.map(word => [word[0], word])), u: ""};
addEventListener("keydown", event => {
  const article = document.activeElement.closest("article");
  const typing = document.activeElement.matches("input[type=text]");
  if (typing && event.key === "Escape") article.focus();
  if (typing || event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key === "n") move(1);
  else if (event.key === "p") move(-1);
  else if (event.key === "e" && article) article.querySelector("input[type=text]").focus();
  else if (event.key in keys && article) {
    decide(article, keys[event.key]);
    if (keys[event.key]) move(1);
  } else return;
  event.preventDefault();
});

function sift() {
  const onlyOpen = document.getElementById("open").checked;
  for (const article of articles) article.hidden = onlyOpen && verdict(article) !== "";
}

// As csv_of does: no cell is run as a formula by the program that opens the file.
function cell(value) {
  const formula = typeof value === "string" && /^'*[=+\-@\t\r\n＝＋－＠]/.test(value);
  const text = formula ? `'${value}` : String(value ?? "");
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

function csv() {
  const lines = articles.map(article => {
    const line = JSON.parse(article.dataset.line);
    line.verdict = verdict(article);
    line.reason = article.querySelector("input[type=text]").value;
    return columns.map(column => cell(line[column])).join(",");
  });
  return [columns.join(","), ...lines, ""].join("\r\n");
}

document.querySelector("main").addEventListener("input", () => { unsaved = true; show(); });
document.getElementById("open").addEventListener("input", sift);
document.getElementById("save").addEventListener("click", () => {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([csv()], {type: "text/csv"}));
  link.download = page.file;
  link.click();
  unsaved = false;
});
addEventListener("beforeunload", event => { if (unsaved) event.preventDefault(); });
show();
