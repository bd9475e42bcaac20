// Adds documents for ever, removes some of them, and tells its parent of each change that the store has acknowledged.
import { chunks, find, NEVER, open } from './fixture.js';

const [dir, text] = process.argv.slice(2);
const { store } = await open(dir!);
let next = Number(text) * 1_000;

async function change(): Promise<void> {
  for (;;) {
    const number = next;
    next += 1;
    const document = `d${number}`;
    // Some are written in one piece, and some in several.
    const count = number % 3 === 0 ? 300 : 5;
    process.send!({ document, number, count, state: 'adding' });
    await store.add(chunks(document, number * 1_000, number * 1_000 + count), NEVER);
    process.send!({ document, number, count, state: 'there' });
    if (number % 4 === 1) await find(store, number * 1_000);
    if (number % 4 !== 0) continue;
    process.send!({ document, number, count, state: 'removing' });
    await store.removeDocument(document);
    process.send!({ document, number, count, state: 'gone' });
  }
}

await Promise.all([change(), change(), change()]);
