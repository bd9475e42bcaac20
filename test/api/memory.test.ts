import { rmSync } from 'node:fs';
import { memoryEndpoints } from '../../gateway/core/memory.js';
import { memoryReadEndpoints } from '../../gateway/core/memory-reads.js';
import { OpenMemories } from '../../runtime/memory/memories.js';
import type { Mind } from '../../runtime/memory/mind.js';
import { Projects } from '../../runtime/projects/projects.js';
import { openStore } from '../../runtime/store/store.js';
import type { Endpoint } from '../../schemas/endpoint.js';
import { dataDir } from '../support/memory/requests.js';
import { mindOver } from '../support/memory/stage.js';
import { scenarios } from '../support/scenario.js';
import { ADDING, KINDS } from './memory/adding.js';
import { MOVING } from './memory/moving.js';
import { READING } from './memory/reading.js';
import { BAD } from './memory/refusals.js';
import { REMOVING } from './memory/removing.js';

type Context = { memories: OpenMemories; mind: Mind; dataDir: string; close(): Promise<void> };
scenarios<Context>(
  'memory',
  {
    endpoints: [...memoryEndpoints, ...memoryReadEndpoints] as Endpoint<Context>[],
    context: async () => {
      const store = await openStore(dataDir);
      const projects = new Projects({ dataDir });
      const memories = new OpenMemories({ store, projects });
      return {
        memories,
        mind: mindOver(memories),
        dataDir,
        close: async () => {
          await memories.close();
          await store.close();
          rmSync(dataDir, { recursive: true, force: true });
        },
      };
    },
    close: (context) => context.close(),
  },
  [...ADDING, ...BAD, ...READING, ...KINDS, ...MOVING, ...REMOVING],
);
