/** Names of projects and datasets that the reader makes. */

const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]*$/;

/** What is wrong with a name; empty where nothing is, or nothing is typed yet. */
export function nameProblem(name: string): string {
  const text = name.trim();
  return text === '' || NAME.test(text)
    ? ''
    : 'A name has letters from A to Z, digits, ".", "-" and "_", without spaces, and begins with a letter or digit.';
}
