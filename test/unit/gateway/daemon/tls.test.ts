import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { trustOf } from '../../../../cli/daemon/address.js';
import { readOptions } from '../../../../gateway/daemon/options.js';
import { readTls } from '../../../../gateway/daemon/tls.js';
import { Failure } from '../../../../schemas/errors.js';
import { selfSigned } from '../../../support/certificate.js';

describe('certificate and key', () => {
  let folder: string;
  const good = selfSigned(['quern.example', '*.quern.example']);
  const file = (name: string, text: string): string => {
    const path = join(folder, name);
    writeFileSync(path, text);
    return path;
  };
  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'quern-tls-'));
  });
  after(() => rmSync(folder, { recursive: true, force: true }));

  it('are read with the names that they are for', () => {
    const { identity, names, warnings } = readTls({ cert: file('good.pem', good.cert), key: file('good.key', good.key) });
    assert.deepEqual([identity, names, warnings], [good, ['quern.example'], []]);
  });

  it('are warned about when they have expired or are about to', () => {
    const expired = selfSigned(['localhost'], -2);
    assert.match(
      readTls({ cert: file('old.pem', expired.cert), key: file('old.key', expired.key) }).warnings[0] ?? '',
      /old\.pem has expired on/,
    );
    const ending = selfSigned(['localhost'], 3);
    assert.match(
      readTls({ cert: file('end.pem', ending.cert), key: file('end.key', ending.key) }).warnings[0] ?? '',
      /end\.pem expires on/,
    );
  });

  it('are refused with the file and what is wrong with it', () => {
    const cert = file('cert.pem', good.cert);
    const key = file('key.pem', good.key);
    const damaged = (text: string): string => text.replace(/\n.{8}/, '\nAAAAAAAA');
    const cases: [cert: string, key: string, said: RegExp][] = [
      [join(folder, 'none.pem'), key, /^--tls-cert .*none\.pem: there is no such file\.$/],
      [cert, join(folder, 'none.pem'), /^--tls-key .*none\.pem: there is no such file\.$/],
      [folder, key, /^--tls-cert .*: it is a folder\.$/],
      ['/dev/zero', key, /^--tls-cert \/dev\/zero: it is a pipe or a device, and a file is wanted\.$/],
      [file('text.pem', 'a certificate'), key, /^--tls-cert .*text\.pem: it is not PEM/],
      [key, key, /^--tls-cert .*key\.pem: it holds a key, which belongs behind --tls-key, and no certificate\.$/],
      [cert, cert, /^--tls-key .*cert\.pem: it holds no private key but a certificate, which belongs behind --tls-cert\.$/],
      [file('damaged.pem', damaged(good.cert)), key, /^--tls-cert .*damaged\.pem: its first certificate is damaged\.$/],
      [cert, file('damaged.key', damaged(good.key)), /^--tls-key .*damaged\.key: the key is damaged\.$/],
      [
        cert,
        file('other.key', selfSigned().key),
        /^--tls-key .*other\.key: the key does not belong to the \(first\) certificate in .*cert\.pem\.$/,
      ],
      [file('long.pem', `${good.cert}${'-'.repeat(2 ** 20)}`), key, /over 1 MiB/],
      [file('empty.pem', '-----BEGIN NOTHING-----'), key, /empty\.pem: it holds no certificate\.$/],
    ];
    for (const [one, other, said] of cases)
      assert.throws(
        () => readTls({ cert: one, key: other }),
        (error) => error instanceof Failure && said.test(error.message),
        String(said),
      );
  });

  it('are refused in the same words where a command is to trust them', () => {
    const ca = file('ca.key', good.key);
    assert.throws(() => trustOf({ ca, tls: null }), {
      kind: 'bad_request',
      message: /^--ca .*ca\.key: it holds a key, .* no certificate\.$/,
    });
    assert.throws(() => trustOf({ ca: '/dev/zero', tls: null }), { kind: 'bad_request', message: /^--ca \/dev\/zero: it is a pipe/ });
  });

  it('come together', () => {
    assert.throws(() => readOptions(['--tls-cert', 'a.pem'], {}), /--tls-cert needs --tls-key beside it/);
    assert.throws(() => readOptions([], { QUERN_TLS_KEY: 'a.pem' }), /--tls-key needs --tls-cert beside it/);
  });
});
