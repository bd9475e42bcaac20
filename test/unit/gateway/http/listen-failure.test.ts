import assert from 'node:assert/strict';
import { test } from 'node:test';
import { listenFailure } from '../../../../gateway/http/transport.js';

const REASONS: [reason: string, code: string, says: RegExp][] = [
  ['EADDRINUSE', 'PortInUse', /Port 80 on localhost is in use/],
  ['EACCES', 'PortForbidden', /Port 80 on localhost needs privileges: .* 1024/],
  ['EADDRNOTAVAIL', 'AddressUnknown', /localhost does not belong to this machine/],
  ['ENOTFOUND', 'AddressUnknown', /localhost does not belong to this machine/],
  ['EAI_AGAIN', 'AddressUnknown', /localhost does not belong to this machine/],
  ['EMFILE', 'PortUnavailable', /Port 80 on localhost could not be opened \(EMFILE\)/],
];

for (const [reason, code, says] of REASONS)
  test(`a port that cannot be opened: ${reason}`, () => {
    const cause = Object.assign(new Error('listen'), { code: reason });
    const failure = listenFailure('localhost', 80, cause);
    assert.deepEqual([failure.kind, failure.code, failure.cause], ['unavailable', code, cause]);
    assert.match(failure.message, says);
  });
