// What the tests of test/api/accounts-front share: a daemon with accounts in front of it, and people who ask it.
import assert from 'node:assert/strict';
import type { Answer } from '../exchange.js';
import { ADMIN, type FrontStage, openFrontStage, Person, personOf } from './front-stage.js';

/** The project that Ann makes in her namespace `anns`. */
export const PROJECT = { name: 'diary' };

export let stage: FrontStage;
/** Two users, of whom Ann has a project. */
export let ann: Person;
export let bob: Person;
/** Somebody who runs the machine. */
export let root: Person;
/** Somebody who has not signed in. */
export let nobody: Person;

/** Opens the stage, and signs everybody in. */
export async function openPeople(): Promise<void> {
  stage = await openFrontStage({ quern: { hosts: ['127.0.0.1:19'], namespaces: { library: { roles: ['user'], write: ['editor'] } } } });
  nobody = new Person(stage);
  [ann, bob, root] = await Promise.all([
    personOf(stage, 'ann@example.com'),
    personOf(stage, 'bob@example.com'),
    personOf(stage, ADMIN.email, ADMIN.password),
  ]);
  assert.equal((await ann.ask('core', 'POST', '/v1/projects/anns', PROJECT)).status, 200);
}

/** The parsed body of an answer. */
// biome-ignore lint/suspicious/noExplicitAny: a test looks into answers of every shape
export function json(answer: Answer): any {
  return JSON.parse(answer.text);
}

/** The status and the body of an answer without the id of its request, so that two answers can be compared. */
export function plain({ status, text }: Answer): string {
  return `${status} ${text.replace(/"request_id":"[^"]*"/, '')}`;
}
