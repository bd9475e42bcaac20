import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type DetectorEvent, type DetectorState, DetectorStates, type Outcome } from '../../../../../runtime/ml/streams/states.js';

/** How each state is reached from `collecting`. */
const PATHS: Readonly<Record<DetectorState, readonly DetectorEvent[]>> = {
  collecting: [],
  ready: ['trained'],
  retraining: ['trained', 'training-due'],
  broken: ['write-failed'],
  removed: ['removal'],
};

const EVENTS: readonly DetectorEvent[] = [
  'samples',
  'training-due',
  'trained',
  'training-failed',
  'training-stopped',
  'reset',
  'removal',
  'write-failed',
];

const [UNAVAILABLE, NOT_FOUND] = ['refused: unavailable', 'refused: not_found'] as const;

/** What each state makes of the events, in the order of `EVENTS`. */
const OUTCOMES: Readonly<Record<DetectorState, readonly Outcome[]>> = {
  collecting: ['collecting', 'ignored', 'ready', 'collecting', 'ignored', 'collecting', 'removed', 'broken'],
  ready: ['ready', 'retraining', 'ignored', 'ignored', 'ignored', 'collecting', 'removed', 'broken'],
  retraining: ['retraining', 'ignored', 'ready', 'ready', 'ready', 'collecting', 'removed', 'broken'],
  broken: [UNAVAILABLE, 'ignored', 'ignored', 'ignored', 'ignored', 'broken', 'broken', 'broken'],
  removed: [NOT_FOUND, 'ignored', 'ignored', 'ignored', 'ignored', NOT_FOUND, 'removed', 'broken'],
};

function statesIn(state: DetectorState): DetectorStates {
  const states = new DetectorStates();
  for (const event of PATHS[state]) states.on(event);
  assert.equal(states.state, state);
  return states;
}

describe('the states of a streaming detector', () => {
  for (const [state, outcomes] of Object.entries(OUTCOMES) as [DetectorState, readonly Outcome[]][])
    for (const [place, event] of EVENTS.entries()) {
      const outcome = outcomes[place]!;
      it(`${state}, ${event}: ${outcome}`, () => {
        const states = statesIn(state);
        if (outcome.startsWith('refused: ')) {
          assert.throws(() => states.on(event), { kind: outcome.slice('refused: '.length) });
          assert.equal(states.state, state);
        } else {
          assert.equal(states.on(event), outcome !== 'ignored');
          assert.equal(states.state, outcome === 'ignored' ? state : outcome);
        }
      });
    }

  it('a chain of writes that the store breaks is the event of a failed write', () => {
    const states = statesIn('retraining');
    states.broken = false;
    assert.deepEqual([states.broken, states.state], [false, 'retraining']);
    states.broken = true;
    assert.deepEqual([states.broken, states.state], [true, 'broken']);
  });
});
