import { breathe } from '../../base/loop.js';
import type { MemoryRecord, WorkingReads } from '../contract.js';
import { limitOf, passesFilter } from '../filter.js';
import { EXPIRED_AT_ONCE, type MemoryKind } from '../kind.js';

/** What came lately: everything that is neither node, edge nor fact, for `ttl_seconds` from its arrival, the newest `max_records`. */
export const workingMemory: MemoryKind<WorkingReads> = {
  name: 'working_memory',
  // Records arrive in the order of their numbers.
  index: 'working',
  isOn: ({ working_memory: settings }) => settings !== undefined && settings.enabled !== false,
  takes: ({ type }) => type !== 'node' && type !== 'edge' && type !== 'fact',
  keeps: ({ addedMs }, config, nowMs) => addedMs > nowMs - config.working_memory!.ttl_seconds! * 1_000,
  lines: ({ addedMs }) => [{ index: 'working', key: [], value: addedMs }],
  expired({ lines, config, nowMs }, count) {
    const { ttl_seconds: ttl, max_records: most } = config.working_memory as Required<NonNullable<typeof config.working_memory>>;
    const oldestMs = nowMs() - ttl * 1_000;
    const above = Math.min(EXPIRED_AT_ONCE, count - most);
    const first = lines.first('working', [], EXPIRED_AT_ONCE);
    return first.filter(({ value }, place) => place < above || (value as number) <= oldestMs).map(({ seq }) => seq);
  },
  open: ({ lines, config, nowMs }) => ({
    async newest(filter) {
      const limit = limitOf(filter);
      const oldestMs = nowMs() - config.working_memory!.ttl_seconds! * 1_000;
      const { session, user } = filter;
      const found: MemoryRecord[] = [];
      const pages =
        session !== undefined
          ? lines.pages('session', { prefix: [session], newestFirst: true })
          : user !== undefined
            ? lines.pages('user', { prefix: [user], newestFirst: true })
            : lines.pages('working', { newestFirst: true });
      for await (const page of pages) {
        for (const { seq } of page) {
          const record = lines.record(seq);
          if (!record) continue;
          // Older numbers came earlier.
          if (record.addedMs <= oldestMs) return found;
          if (record.kinds.includes('working_memory') && passesFilter(record, filter)) found.push(record);
          if (found.length >= limit) return found;
          await breathe();
        }
      }
      return found;
    },
  }),
};
