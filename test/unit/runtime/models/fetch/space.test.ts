import assert from 'node:assert/strict';
import { it } from 'node:test';
import { type Fit, withSpaceNote } from '../../../../../runtime/models/fetch/space.js';

it('readers of a plan are told first that the space will be low, and nothing where there is enough', () => {
  const fit: Fit = { canDownload: true, isLow: true, message: 'space will be low', requiredBytes: 1, availableBytes: 2 };
  const plan = { repository: 'org/repo', notes: ['another note'] };
  assert.deepEqual(withSpaceNote(plan, fit), { repository: 'org/repo', notes: ['space will be low', 'another note'] });
  assert.deepEqual(withSpaceNote(plan, { ...fit, isLow: false }), plan);
});
