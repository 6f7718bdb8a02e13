"""The page that a survey hands out: one HTML file, without network, that randomises one answer in a browser."""

from __future__ import annotations

import json
from html import escape
from typing import TYPE_CHECKING, Final

from tacit.base.arguments import described
from tacit.base.json_text import is_text
from tacit.errors import QueryError

if TYPE_CHECKING:
    from tacit.local.response_design import ResponseDesign

POLICY: Final = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; base-uri 'none'"
"""Nothing is fetched from anywhere, and nothing can be sent."""
STYLE: Final = (
    "body{font-family:sans-serif;max-width:34em;margin:2em auto;padding:0 1em;line-height:1.5}"
    "label{display:block;padding:.4em 0}button{font-size:1em;padding:.5em 1.2em;margin:.5em .5em .5em 0}"
    "output{display:block;font-size:1.2em;font-weight:bold;margin:.6em 0}.small{color:#444;font-size:.9em}"
)
MOST: Final = 500
"""Most characters of a question, and most levels that a page lists."""
SCRIPT: Final = """
// The same law as tacit.local: whole numbers below 2^48 of the browser's own generator decide.
const GRID = 281474976710656;
function number() {
  const word = new Uint16Array(3);
  crypto.getRandomValues(word);
  return word[0] * 4294967296 + word[1] * 65536 + word[2];
}
function below(n) {
  const top = GRID - (GRID % n);
  let found = number();
  while (found >= top) found = number();
  return found % n;
}
function some(n, wanted) {
  const found = new Set();
  for (let top = n - wanted; top < n; top++) {
    const pick = below(top + 1);
    found.add(found.has(pick) ? top : pick);
  }
  return [...found].sort((a, b) => a - b);
}
function respond(design, level) {
  if (design.kind === "bits") {
    const own = GRID / 2, found = [];
    for (let i = 0; i < design.levels.length; i++) {
      if (number() < (i === level ? own : design.other)) found.push(i);
    }
    return found;
  }
  const kept = number() < design.truth;
  const others = some(design.levels.length - 1, design.size - (kept ? 1 : 0)).map(i => i + (i >= level ? 1 : 0));
  return (kept ? [...others, level] : others).sort((a, b) => a - b);
}
function answer(design, found) {
  if (design.binary) return found[0] === 0;
  const named = found.map(i => design.levels[i]);
  return design.kind === "choice" ? named[0] : named;
}
"""
DRIVEN: Final = """
const form = document.getElementById("asked"), told = document.getElementById("told");
form.addEventListener("submit", event => {
  event.preventDefault();
  const chosen = form.querySelector("input:checked");
  if (chosen === null) return;
  const made = answer(DESIGN, respond(DESIGN, Number(chosen.value)));
  form.remove();
  const token = [...crypto.getRandomValues(new Uint8Array(16))].map(b => b.toString(16).padStart(2, "0")).join("");
  const document_ = {tacit: 1, kind: "local-response", design: DESIGN.digest, answer: made, token: token};
  const text = JSON.stringify(document_);
  const shown = made === true ? "yes" : made === false ? "no" : [].concat(made).join(", ");
  document.getElementById("answer").textContent = shown === "" ? "(none of them)" : shown;
  document.getElementById("save").href = URL.createObjectURL(new Blob([text], {type: "application/json"}));
  document.getElementById("save").download = "response-" + token.slice(0, 8) + ".json";
  document.getElementById("text").textContent = text;
  told.hidden = false;
});
"""


def checked_question(question: object) -> str:
    """Return a question without spaces around it; QueryError Q163 where it is none."""
    if not isinstance(question, str) or not 0 < len(question.strip()) <= MOST or not is_text(question):
        text = f"question is {described(question)}: not a text of 1 to {MOST} characters."
        raise QueryError(text, code="Q163", hint='question="Have you ever cheated on a test?"')
    return question.strip()


def html(design: ResponseDesign) -> str:
    """Return the page of a design that has a question; QueryError Q163 for more levels than a page lists."""
    if len(design.levels) > MOST:
        text = f"a page lists at most {MOST} levels, not {len(design.levels):,}."
        raise QueryError(text, code="Q163", hint="design.respond(level) in a program of your own")
    choices = "".join(
        f'<label><input type="radio" name="level" value="{i}" required> {escape(str(one))}</label>'
        for i, one in enumerate(design.levels)
    )
    asked = escape(design.question or "")
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{asked}</title>'
        '<meta name="viewport" content="width=device-width">'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">'
        f"<style>{STYLE}</style></head><body><h1>{asked}</h1>"
        f'<form id="asked" autocomplete="off">{choices}<button type="submit">Answer</button></form>'
        '<section id="told" hidden><p>This is what you send:</p><output id="answer"></output>'
        '<p><a id="save"><button type="button">Save it as a file</button></a></p>'
        '<p class="small">or copy it: <code id="text"></code></p>'
        "<p>Your own answer is kept nowhere. Close the page; answering again would tell more about you.</p></section>"
        f'<p class="small">{escape(_words(design))}</p>'
        f"<script>{SCRIPT}const DESIGN = {_facts(design)};{DRIVEN}</script></body></html>\n"
    )


def _facts(design: ResponseDesign) -> str:
    """Return the design for the script, as JSON that no script tag can end."""
    one = design.channel
    words = {
        "kind": one.kind,
        "levels": list(design.levels),
        "truth": one.truth,
        "other": one.other,
        "size": one.size,
        "binary": design.binary,
        "digest": design.digest,
    }
    return json.dumps(words).replace("<", "\\u003c").replace(">", "\\u003e")


def _words(design: ResponseDesign) -> str:
    """Return in plain words what the page does with an answer."""
    kept = f"{100 * float(design.channel.own):.0f} %"
    first = {
        "choice": f"With a probability of {kept} you send your own answer, else another one, drawn at random.",
        "subset": f"You send {design.channel.size} of the answers; yours is among them with a probability of {kept}.",
        "bits": f"You send some of the answers, drawn at random; yours is among them with a probability of {kept}.",
    }[design.channel.kind]
    times = f"{design.largest_ratio:.3g}"
    return (
        f"{first} Whatever you send, it is at most {times} times as likely from you as from somebody with another "
        "answer. The page works without a network: nothing leaves it but what you send."
    )
