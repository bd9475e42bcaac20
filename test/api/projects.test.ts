import { rmSync } from 'node:fs';
import { projectEndpoints } from '../../gateway/core/projects.js';
import { Projects } from '../../runtime/projects/projects.js';
import type { Runtime } from '../../runtime/runtime.js';
import { dataDir } from '../support/projects-stage.js';
import { scenarios } from '../support/scenario.js';
import { creating } from './projects/creating.js';
import { reading } from './projects/reading.js';
import { redacting } from './projects/redacting.js';
import { writing } from './projects/writing.js';

scenarios<Runtime>(
  'projects',
  {
    endpoints: projectEndpoints,
    context: () => ({ projects: new Projects({ dataDir }) }) as unknown as Runtime,
    close: () => rmSync(dataDir, { recursive: true, force: true }),
  },
  [...reading, ...writing, ...creating, ...redacting],
);
