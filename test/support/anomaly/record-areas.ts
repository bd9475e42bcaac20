/**
 * Writes areas.json: the mean areas of ours, of so many seeds that they can be compared with golden/*.json. To be run again when a detector fits
 * differently: `node build/test/support/anomaly/record-areas.js [backend ...]`, seven minutes of two cores for the autoencoder, one for the rest.
 */
import { writeFileSync } from 'node:fs';
import { KNOWN, meanArea } from './areas.js';
import { datasets } from './datasets.js';
import { COMPARED } from './differences.js';
import { golden, type MeanArea, OWN_AREAS, ownAreas } from './golden.js';

const rounded = (value: number): number => Number(value.toPrecision(6));

const chosen = process.argv.slice(2);
for (const backend of chosen.length > 0 ? chosen : Object.keys(COMPARED)) {
  const areas: Record<string, MeanArea> = {};
  const known = golden(backend);
  for (const set of datasets()) {
    if (!known[set.name]?.area) continue;
    const { mean, error, seeds } = await meanArea(backend, set, KNOWN.seeds, KNOWN.error);
    areas[set.name] = { mean: rounded(mean), error: rounded(error), seeds };
    console.log(`${backend}, ${set.name}: ${mean.toFixed(4)}, ${seeds} seeds`);
  }
  if (Object.keys(areas).length > 0) writeFileSync(OWN_AREAS, `${JSON.stringify({ ...ownAreas(), [backend]: areas }, null, 1)}\n`);
}
