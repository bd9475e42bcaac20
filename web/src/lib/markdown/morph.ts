/** Makes the children of an element those of another, and leaves alone what is the same already: text that was selected stays so, and little is laid out again. */
export function morph(shown: Node, wanted: Node): void {
  const next = [...wanted.childNodes];
  for (const [at, want] of next.entries()) {
    const have = shown.childNodes[at];
    if (have === undefined) shown.appendChild(want);
    else if (!have.isEqualNode(want)) adapt(have, want);
  }
  while (shown.childNodes.length > next.length) shown.lastChild!.remove();
}

function adapt(have: Node, want: Node): void {
  if (have instanceof Text && want instanceof Text) {
    if (want.data.startsWith(have.data)) have.appendData(want.data.slice(have.length));
    else have.data = want.data;
  } else if (have instanceof Element && want instanceof Element && have.tagName === want.tagName && isAlikeOutside(have, want))
    morph(have, want);
  else have.parentNode!.replaceChild(want, have);
}

/** Whether two elements differ in their content alone. */
const isAlikeOutside = (a: Element, b: Element): boolean => a.cloneNode(false).isEqualNode(b.cloneNode(false));
