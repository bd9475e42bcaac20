import { getHeapSpaceStatistics } from 'node:v8';
import type { OpenEngine } from '../../../runtime/hosts/protocol.js';
import { Failure } from '../../../schemas/errors.js';

/** An engine for tests of hosts: answers, fails, streams, hangs and dies as it is told. */
export const openEngine: OpenEngine = (emit) => ({
  call(method, body, signal) {
    switch (method) {
      case 'echo':
        return body;
      case 'fail':
        throw new Failure('invalid', 'told to fail', { code: 'Told', fields: { body } });
      case 'throw':
        throw new TypeError('not one of ours');
      case 'stream':
        for (let index = 0; index < (body as number); index += 1) emit(index);
        return undefined;
      case 'wait':
        return new Promise((_resolve, reject) => {
          signal.addEventListener('abort', () => {
            emit('aborted');
            reject(new Error('aborted'));
          });
        });
      case 'churn': {
        const kept: object[] = [];
        // As much lives at a time as makes the young space grow.
        for (let index = 0; index < (body as number); index += 1) kept[index % 50_000] = { index };
        return getHeapSpaceStatistics().find(({ space_name: name }) => name === 'new_space')?.space_size;
      }
      case 'environment':
        return Object.keys(process.env);
      case 'block':
        for (;;) Math.sqrt(2);
      case 'exit':
        process.stderr.write('last words\n');
        return process.exit(3);
      case 'kill':
        return process.kill(process.pid, body as NodeJS.Signals);
      default:
        throw new Failure('internal', `no method ${method}`);
    }
  },
  close: () => {},
});
