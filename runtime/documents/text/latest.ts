/**
 * A function of a text that remembers its latest answer: several extractors in turn ask the same of one chunk. Answers must not be changed.
 */
export function latest<T>(make: (text: string) => T): (text: string) => T {
  let known: { readonly text: string; readonly answer: T } | undefined;
  return (text) => {
    if (known?.text !== text) known = { text, answer: make(text) };
    return known.answer;
  };
}
