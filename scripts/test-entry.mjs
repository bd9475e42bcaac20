// What each process of tests runs: the test files that it is given, one after the other, each as a suite of its name. It notes in the file
// that comes first which of them it is at, so that whoever waits for it knows where it stood when it was killed.
import { appendFileSync } from 'node:fs';
import { suite } from 'node:test';
import { pathToFileURL } from 'node:url';

const [notes, ...files] = process.argv.slice(2);
const note = (line) => appendFileSync(notes, `${JSON.stringify(line)}\n`);

for (const file of files) {
  const start = performance.now();
  note({ began: file });
  await suite(file, () => import(pathToFileURL(file).href));
  note({ timed: file, seconds: (performance.now() - start) / 1000 });
}
