// Appends turns for ever, several at a time, and tells its parent of each one that the store has acknowledged.
import { openStore } from '../../../../runtime/store/store.js';

const [dir, text] = process.argv.slice(2);
const run = Number(text);
const store = await openStore(dir!);
let next = 0;

async function append(): Promise<void> {
  for (;;) {
    const place = next;
    next += 1;
    await store.write((batch) => {
      batch.put('turns', [run, place], {
        messages: [
          { role: 'user', content: `question ${run}/${place}` },
          { role: 'assistant', content: 'a'.repeat(place % 5_000) },
        ],
        atMs: place,
      });
      batch.put('sessions', ['ns', 'p', `s${run}`], { run, turns: next, createdMs: 0, lastActiveMs: place });
    });
    process.send!({ run, place });
  }
}

await Promise.all([append(), append(), append(), append()]);
