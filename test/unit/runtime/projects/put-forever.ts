// Child of the crash tests: replaces one project's configuration over and over until it is killed, or once with `once`.
// Arguments: data directory, namespace, project, and `once` or nothing. Prints `ready` first, then the number of
// each write that is done, or the status of a call that failed.

import { Projects } from '../../../../runtime/projects/projects.js';
import { Failure } from '../../../../schemas/errors.js';

const [dataDir, namespace, name, mode] = process.argv.slice(2) as [string, string, string, string | undefined];
const projects = new Projects({ dataDir });

/** A configuration of some thirty kilobytes whose parts all carry the same round number, so that a mixture of two is noticed. */
function configOf(round: number): Record<string, unknown> {
  const prompts = Array.from({ length: 60 }, (_item, index) => ({
    name: `p${index}`,
    messages: [{ role: 'system', content: `${round} ${'x'.repeat(500)}` }],
  }));
  return { version: 'v1', runtime: { models: [{ name: 'm', provider: 'universal', model: `m${round}` }] }, prompts };
}

process.stdout.write('ready\n');
try {
  if (mode === 'purge') await projects.delete(namespace, name, { purge: true });
  else
    for (let round = 1; mode !== 'once' || round === 1; round += 1) {
      await projects.put(namespace, name, configOf(round));
      process.stdout.write(`${round}\n`);
    }
} catch (failure) {
  process.stdout.write(`${failure instanceof Failure ? failure.status : String(failure)}\n`);
}
