import type { MemoryKind } from '../kind.js';
import { graph } from './graph.js';
import { places } from './places.js';
import { timeSeries } from './series.js';
import { workingMemory } from './working.js';

/** Every kind of store. A new one is listed here. */
export const MEMORY_KINDS = [workingMemory, timeSeries, places, graph] as const satisfies readonly MemoryKind[];
