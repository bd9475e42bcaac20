import { ALL_KINDS } from '../../../support/memory/store-stage.js';

/** The memory store that is changed until its process is killed: nothing in it goes by age, and working memory is at its cap. */
export const KILLED_STORE = {
  ...ALL_KINDS,
  working_memory: { enabled: true, ttl_seconds: 1_000_000, max_records: 100 },
  spatial: { enabled: true, retention_days: 30, index_type: 'geohash' },
} as const;
