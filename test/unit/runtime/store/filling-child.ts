// Fills a store until a write fails; told to, tries once more. Reports each step to its parent.
import { once } from 'node:events';
import { openStore } from '../../../../runtime/store/store.js';
import { Failure } from '../../../../schemas/errors.js';

let unhandled = 0;
process.on('unhandledRejection', () => {
  unhandled += 1;
});
const store = await openStore(process.argv[2]!);
const content = 'z'.repeat(20_000);

async function write(place: number): Promise<string | undefined> {
  try {
    await store.write((batch) => batch.put('turns', [1, place], { messages: [{ role: 'user', content }], atMs: place }));
    return undefined;
  } catch (failure) {
    return failure instanceof Failure ? failure.kind : 'not a Failure';
  }
}

async function report(step: object): Promise<void> {
  process.send!(step);
  await once(process, 'message');
}

/** Whether exactly the acknowledged turns are there. */
function readable(written: number): boolean {
  for (let place = 0; place < written; place += 1) if (store.turns.get([1, place])?.messages[0]?.content !== content) return false;
  return store.turns.get([1, written]) === undefined;
}

await report({ written: 0 });
let written = 0;
let kind: string | undefined;
while (kind === undefined && written < 10_000) {
  kind = await write(written);
  if (kind === undefined) written += 1;
}
await report({ written, kind, readable: readable(written) });
const again = await write(written);
await report({ written: again === undefined ? 1 : 0, readable: readable(written + 1), unhandled });
await store.close();
process.exit(0);
