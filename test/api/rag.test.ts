import type { Runtime } from '../../runtime/runtime.js';
import { STAGE } from '../support/rag-stage.js';
import { scenarios } from '../support/scenario.js';
import { INSPECTION } from './rag/inspection.js';
import { PREVIEWS } from './rag/previews.js';
import { QUERIES } from './rag/queries.js';
import { VERSIONS } from './rag/versions.js';

scenarios<Runtime>('retrieval over the core API', STAGE, [...QUERIES, ...INSPECTION, ...PREVIEWS, ...VERSIONS]);
