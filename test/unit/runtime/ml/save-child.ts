import { createInterface } from 'node:readline';
import { type Kind, opened } from '../../../support/saved-models.js';

// Saves the two models in turn, each over the other, from the first line of its input until it is killed.
const [folder = '', kind] = process.argv.slice(2);
const models = opened(folder, kind as Kind);
process.stdout.write('ready\n');
for await (const _line of createInterface({ input: process.stdin })) break;
for (let turn = 1; ; turn = 1 - turn) await models.save(turn);
