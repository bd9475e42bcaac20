import { createHash } from 'node:crypto';
import { Failure } from '../../../schemas/errors.js';
import { isObject } from '../../base/json.js';
import type { ClassifierCard } from './memory.js';

const FORMAT = 1;

/** The failure of a classifier whose files are not what was saved. */
export function damaged(name: string, why: string, cause?: unknown): Failure {
  return new Failure('model_failed', `The classifier "${name}" is damaged: ${why}. Fit it again, or delete it.`, {
    code: 'DamagedModel',
    cause,
  });
}

function digest(value: unknown): string {
  return createHash('sha256').update(JSON.stringify(value)).digest('hex');
}

/** Ties the numbers of a classifier to its labels and to what made its embeddings: a number of 64 bits. */
export function generationOf({ embedder, dimensions, labels, vocabulary }: ClassifierCard): bigint {
  const facts = [embedder, dimensions, labels];
  return BigInt(`0x${digest(vocabulary === undefined ? facts : [...facts, vocabulary]).slice(0, 16)}`);
}

/** `labels.txt`: one label a line. */
export function labelsText(labels: readonly string[]): string {
  return `${labels.join('\n')}\n`;
}

/** `metadata.json`, with a checksum over all of it. */
export function cardText({ embedder, dimensions, probe, vocabulary, labels, samples, description }: ClassifierCard): string {
  const facts = { format: FORMAT, embedder, dimensions, probe, vocabulary, labels, samples, description: description ?? null };
  return `${JSON.stringify({ ...facts, checksum: digest(facts) }, null, 2)}\n`;
}

/** Reads both texts back. Throws `model_failed` where a byte of them has changed. */
export function readCard(name: string, card: string, labels: string): ClassifierCard {
  let read: unknown;
  try {
    read = JSON.parse(card);
  } catch (error) {
    throw damaged(name, 'its metadata.json is no JSON', error);
  }
  if (!isObject(read)) throw damaged(name, 'its metadata.json is no object');
  const { checksum, ...facts } = read;
  if (checksum !== digest(facts)) throw damaged(name, 'its metadata.json is not what was saved');
  const { format, description, ...rest } = facts as unknown as ClassifierCard & { format: unknown; description: string | null };
  if (format !== FORMAT) throw damaged(name, `its format is ${String(format)}, this is format ${FORMAT}`);
  if (labels !== labelsText(rest.labels)) throw damaged(name, 'its labels.txt is not what was saved');
  return description === null ? rest : { ...rest, description };
}
