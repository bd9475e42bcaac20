import assert from 'node:assert/strict';
import { dirname } from 'node:path';
import { describe, it } from 'node:test';
import { type AddonState, installationFindings, type Port, placeFindings, portFindings } from '../../../cli/system/doctor.js';
import type { Finding } from '../../../runtime/machine/machine.js';
import { type RecordedMachine, recordedMachine } from '../../support/machine-trees.js';

const TCP = [
  '  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode',
  '   0: 0100007F:3809 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 4711 1 0 100 0 0 10 0',
  '   1: 0100007F:2D14 0100007F:3809 01 00000000:00000000 00:00000000 00000000     0        0 4712 1 0 100 0 0 10 0',
].join('\n');
const CACHE = '/home/me/.cache/huggingface/hub';
const DATA = '/home/me/.quern';

/** What is found, as people see it, with what to do. */
const told = (findings: readonly Finding[]): string[] =>
  findings.map(({ about, state, found, advice }) => `${state} ${about}: ${found}${advice === '' ? '' : ` -> ${advice}`}`);
const places = (machine: RecordedMachine, isOffline = false): string[] =>
  told(placeFindings(recordedMachine(machine), { dataDir: DATA, cache: CACHE, isOffline }));

describe('quern doctor on recorded machines', () => {
  it('says whose the ports are', () => {
    const core = (state: Port['state']): Port => ({ flag: 'port', port: 14345, state });
    const files = { '/proc/net/tcp': TCP, '/proc/71/comm': 'nginx\n', '/proc/9/comm': 'sh\n' };
    const links = { '/proc/71/fd/0': '/dev/null', '/proc/71/fd/6': 'socket:[4711]', '/proc/9/fd/3': 'socket:[4712]' };
    for (const [machine, state, says] of [
      [{}, 'free', 'good port: 14345 is free'],
      [{ files, links }, 'ours', "good port: 14345 is this daemon's"],
      [{ files, links }, 'taken', 'bad port: 14345 is taken by nginx (process 71) -> end that program, or choose another port with --port'],
      [{ files, links, closed: ['/proc/71/fd'] }, 'taken', /taken by another program, of a user whom/],
      [{ platform: 'darwin' }, 'taken', /taken by another program/],
    ] as const) {
      const [line] = told(portFindings(recordedMachine(machine), [core(state)]));
      if (typeof says === 'string') assert.equal(line, says);
      else assert.match(line!, says);
    }
  });

  it('looks at the rights of the data directory', () => {
    const files = { [`${DATA}/quern.lock`]: '{}' };
    const data = (machine: RecordedMachine): string => places(machine)[0]!;
    assert.equal(data({ files: { '/home/me/.profile': '' } }), `good data: ${DATA}, which the first start makes`);
    assert.equal(data({ files }), `good data: ${DATA}, for its owner alone`);
    assert.match(data({ files, modes: { [DATA]: 0o755 } }), /^note .*open to other users \(755\) -> the next start closes it/);
    assert.match(data({ files, owners: { [DATA]: 0 } }), /^note .*belongs to user 0 -> start the daemon as that user/);
    assert.match(data({ files, closed: [DATA] }), /^bad .*cannot be written -> make it writable, or choose another with --data-dir/);
    for (const path of [DATA, dirname(DATA)])
      assert.equal(data({ files: { [path]: 'x' } }), `bad data: ${path} is a file, and no folder -> choose another with --data-dir`);
    assert.match(places({ files, freeBytes: 2 ** 30 })[1]!, /^note disk: 1\.0GB free -> models need room/);
  });

  it('looks into the model cache', () => {
    const blobs = `${CACHE}/models--org--one/blobs`;
    const files = { [`${blobs}/${'a'.repeat(64)}`]: 'x'.repeat(2048), [`${CACHE}/models--org--two/blobs/b`]: 'y' };
    const cache = (machine: RecordedMachine, isOffline = false): string => places(machine, isOffline)[2]!;
    assert.equal(cache({}), `good model cache: none yet in ${CACHE}`);
    assert.equal(cache({ files }), `good model cache: 2 models, 2.0KB in ${CACHE}`);
    assert.match(cache({ files }, true), /^note .* -> HF_HUB_OFFLINE is set: no model is fetched/);
    const half = { ...files, [`${blobs}/c.quern.incomplete`]: 'z'.repeat(1024) };
    assert.match(cache({ files: half }), /^note .*; 1 unfinished \(1\.0KB\) -> "quern pull" of the same model goes on/);
    assert.match(cache({ files, closed: [blobs] }), /^bad .*org--one\/blobs cannot be read -> make it readable/);
    assert.match(cache({ files, closed: [CACHE] }), /^bad .*hub cannot be read/);
  });

  it('looks at the native parts', () => {
    const good: AddonState = { complaint: null, instructions: 'avx512', isPrebuilt: false, sources: '0123456789abcdef' };
    const found = (addon: AddonState, programs = {}, node = '20.19.0'): string[] =>
      told(installationFindings(recordedMachine({ programs }), node, addon));
    assert.deepEqual(found(good, { 'g++': 'g++ 12' }).slice(2), [
      'good native parts: load (avx512), built here from the sources 01234567',
      'good compiler: g++',
    ]);
    assert.equal(found({ ...good, isPrebuilt: true })[2], 'good native parts: load (avx512), as they were packed');
    assert.deepEqual(found({ ...good, complaint: 'version `GLIBC_2.38` not found', isPrebuilt: true }).slice(2), [
      'bad native parts: version `GLIBC_2.38` not found -> the next start builds them from their source: install g++, cmake and git',
      'good compiler: none -> install g++ and cmake, which build the native parts',
    ]);
    assert.match(found(good, {}, '18.20.1')[0]!, /^bad Node\.js: 18\.20\.1 -> install version 20/);
  });
});
