// A worker that looks at the machine, since programs of drivers and the measuring of its memory hold a thread; see `look.ts`.
import { parentPort } from 'node:worker_threads';
import type { Look } from './look.js';
import { machineOf } from './machine.js';
import { thisMachine } from './reader.js';
import { measuredBandwidth, recommendedFor } from './suggestions.js';

const machine = machineOf(thisMachine);
const look: Look = { machine, suggestions: recommendedFor(machine, measuredBandwidth()) };
parentPort!.postMessage(look);
