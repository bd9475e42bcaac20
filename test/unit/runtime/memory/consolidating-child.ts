// Consolidates a store in small batches, and tells its parent of each batch that is on the disk.
import { openStage, SMALL_BATCHES } from '../../../support/memory/stage.js';

const [dataDir] = process.argv.slice(2);
const { store, mind } = await openStage(dataDir!, SMALL_BATCHES);
store.watch(({ added }) => process.send!({ facts: added.length }));
await mind.consolidate(store, false, 60_000, new AbortController().signal);
process.send!({ done: true });
