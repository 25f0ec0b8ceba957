"use strict";
// Text of pages and labels is only ever set as textContent or as a field's value: none of it is markup.
const at = (id) => document.getElementById(id);
const make = (name, text = "", more = {}) => Object.assign(document.createElement(name), { textContent: text }, more);
let all, now, nugget = 0, page = null, changed = false;

async function call(path, body) {
  const sent = body && { method: "POST", body: JSON.stringify(body) };
  const answer = await fetch(path, sent);
  const told = await answer.json();
  if (!answer.ok) throw new Error(told.error);
  return told;
}

function say(text, wrong = false) {
  at("said").textContent = text;
  at("said").className = wrong ? "wrong" : "";
}

const attempt = (work) => async (event) => {
  event?.preventDefault();
  try { await work(event); } catch (error) { say(error.message, true); }
};

function listQuestions() {
  at("list").replaceChildren(...all.questions.map((each, number) => {
    const mark = all.labelled.includes(each.id) ? "✓" : "·";
    const button = make("button", `${mark} ${each.id}`, { title: each.question, onclick: attempt(() => choose(number)) });
    if (number === now) button.setAttribute("aria-current", "true");
    const item = make("li");
    item.append(button);
    return item;
  }));
  at("list").children[now]?.scrollIntoView({ block: "nearest" });
}

async function choose(number) {
  if (number < 0 || number >= all.questions.length) return;
  if (changed && !(await save())) return;
  [now, nugget] = [number, 0];
  const { id, question, context, tags, nuggets, ...rest } = all.questions[now];
  at("question").textContent = id;
  at("asked").value = question;
  at("context").textContent = context ? `Known already: ${context}` : "";
  at("tags").value = tags.join(" ");
  at("rest").value = JSON.stringify(rest, null, 1);
  at("query").value = question.replace(/^TODO: /, "");
  changed = false;
  listQuestions();
  showNuggets();
  await search();
}

function showNuggets() {
  const its = all.questions[now].nuggets;
  at("nuggets").replaceChildren(...its.map((each, number) => {
    const box = make("fieldset");
    if (number === nugget) box.className = "chosen";
    box.onfocusin = () => { nugget = number; document.querySelectorAll("fieldset").forEach((other, place) => { other.className = place === number ? "chosen" : ""; }); };
    const change = (set) => (event) => { set(event.target); changed = true; };
    const fact = make("input", "", { value: each.text, oninput: change((field) => { each.text = field.value; }) });
    const answers = make("input", "", { value: each.answers.join(" | "), oninput: change((field) => { each.answers = field.value.split("|").map((one) => one.trim()).filter(Boolean); }) });
    const vital = make("input", "", { type: "checkbox", checked: each.vital, onchange: change((field) => { each.vital = field.checked; }) });
    const remove = make("button", "Remove this fact", { onclick: () => { its.splice(number, 1); changed = true; showNuggets(); } });
    box.append(make("legend", each.id), labelled("Fact", fact), labelled("Right answers, | between them", answers), labelled("Needed in a right answer ", vital));
    each.evidence.forEach((one, place) => {
      const quote = make("blockquote", one.quote);
      const show = make("button", "Show", { onclick: attempt(() => openPage(one.url, one.quote)) });
      const drop = make("button", "Remove", { onclick: () => { each.evidence.splice(place, 1); changed = true; showNuggets(); } });
      quote.append(make("br"), make("small", `${one.url} `), show, " ", drop);
      box.append(quote);
    });
    box.append(remove);
    return box;
  }));
}

function labelled(text, field) {
  const label = make("label", text);
  label.append(field);
  return label;
}

function add() {
  const its = all.questions[now].nuggets;
  let number = its.length + 1;
  while (its.some((each) => each.id === `n${number}`)) number += 1;
  its.push({ id: `n${number}`, text: "", answers: [], evidence: [], vital: true });
  nugget = its.length - 1;
  changed = true;
  showNuggets();
  at("nuggets").lastChild.querySelector("input").focus();
}

async function search() {
  const question = all.questions[now];
  const quoted = question.nuggets.flatMap((each) => each.evidence.map((one) => one.url));
  const found = await call(`search?q=${encodeURIComponent(at("query").value)}`);
  const titles = new Map(found.hits.map((each) => [each.url, each.title]));
  const urls = [...new Set([...quoted, ...titles.keys()])];
  at("pages").replaceChildren(...urls.map((url) => {
    const item = make("li");
    item.append(make("button", `${quoted.includes(url) ? "❝ " : ""}${titles.get(url) || url}`, { title: url, onclick: attempt(() => openPage(url)) }));
    return item;
  }));
  if (found.failure) say(found.failure, true);
  if (urls.length) await openPage(urls[0]).catch((error) => say(error.message, true));
}

async function openPage(url, quote) {
  if (page?.url !== url) {
    [page, at("text").value, at("title").textContent] = [null, "", url];
    page = await call(`page?url=${encodeURIComponent(url)}`);
    at("title").textContent = page.title ? `${page.title} · ${url}` : url;
    at("text").value = page.text;
  }
  const start = quote ? page.text.indexOf(quote) : -1;
  if (start >= 0) {
    const field = at("text");
    field.setSelectionRange(start, start); // the caret is scrolled into view when the field gets the focus
    field.blur();
    field.focus();
    field.setSelectionRange(start, start + quote.length);
  }
}

function quote() {
  const field = at("text");
  const chosen = field.value.slice(field.selectionStart, field.selectionEnd).trim();
  if (!page || !chosen) return say("Select some text of the page first.", true);
  if (!all.questions[now].nuggets.length) add();
  const its = all.questions[now].nuggets[nugget];
  its.evidence.push({ url: page.url, quote: chosen });
  its.text ||= chosen.slice(0, 200);
  changed = true;
  showNuggets();
  say(`Quoted for ${its.id}. Not saved yet.`);
}

async function save() {
  const { id, context } = all.questions[now];
  const question = at("asked").value.trim();
  let rest;
  try { rest = JSON.parse(at("rest").value); } catch (error) { say(`All other labels: ${error.message}`, true); return false; }
  const tags = at("tags").value.split(/[\s,]+/).filter(Boolean);
  const whole = { ...rest, id, question, context, tags, nuggets: all.questions[now].nuggets };
  try {
    const told = await call("questions", { question: whole, version: all.version });
    [all.questions[now], all.version, changed] = [whole, told.version, false];
    all.labelled = all.labelled.filter((each) => each !== id).concat(told.is_labelled ? [id] : []);
    const wrong = told.problems.map((each) => each.what);
    say(wrong.length ? `Saved. ${wrong.join(" · ")}` : "Saved. Every label holds.", told.problems.some((each) => !each.is_open));
    listQuestions();
    return true;
  } catch (error) { say(`Not saved: ${error.message}`, true); return false; }
}

at("add").onclick = add;
at("save").onclick = save;
at("quote").onclick = quote;
at("find").onsubmit = attempt(search);
for (const id of ["asked", "tags", "rest"]) at(id).oninput = () => { changed = true; };
const keys = { j: attempt(() => choose(now + 1)), k: attempt(() => choose(now - 1)), f: () => at("query").select(), q: quote, n: add, s: save };
addEventListener("keydown", (event) => {
  const work = event.altKey && !event.ctrlKey && keys[event.code.replace("Key", "").toLowerCase()];
  if (work) { event.preventDefault(); work(); }
});
addEventListener("beforeunload", (event) => { if (changed) event.preventDefault(); });
attempt(async () => {
  all = await call("questions");
  at("file").textContent = all.file;
  at("kinds").append(...all.kinds.map((value) => make("option", "", { value })));
  await choose(Math.max(0, all.questions.findIndex((each) => !all.labelled.includes(each.id))));
})();
