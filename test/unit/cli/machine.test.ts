import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { machineFindings, machineOf } from '../../../runtime/machine/machine.js';
import type { MachineReader } from '../../../runtime/machine/reader.js';
import { recommendedFor } from '../../../runtime/machine/suggestions.js';
import { recordedMachine } from '../../support/machine-trees.js';

const GIB = 1024 ** 3;
const X86 = 'model name\t: Some CPU 9\nflags\t\t: fpu sse4_2 avx2 avx512f avx512_vnni\n';
const VULKAN = { '/usr/lib/x86_64-linux-gnu/libvulkan.so.1': '' };

/** Recorded machines, and what must be found on each. */
const MACHINES: Readonly<
  Record<string, { reader: MachineReader; finds: readonly (readonly [about: string, state: string, found: RegExp, advice: RegExp])[] }>
> = {
  'a server with two NVIDIA cards and Vulkan': {
    reader: recordedMachine({
      files: { '/proc/cpuinfo': X86, ...VULKAN },
      programs: { 'nvidia-smi': 'NVIDIA H100 80GB HBM3, 81559\nNVIDIA H100 80GB HBM3, 81559\n' },
    }),
    finds: [
      ['processor', 'good', /Some CPU 9, 8 cores \(AVX2, AVX-512, VNNI\)/, /^$/],
      ['graphics', 'good', /NVIDIA H100 80GB HBM3, 79\.6GB/, /used through Vulkan; a libggml-cuda\.so .*QUERN_BACKENDS_DIR/],
      ['graphics', 'good', /NVIDIA H100/, /used through Vulkan/],
    ],
  },
  'a card of NVIDIA without its driver': {
    reader: recordedMachine({ files: { '/proc/cpuinfo': X86, '/sys/class/drm/card0/device/vendor': '0x10de\n' } }),
    finds: [['graphics', 'note', /NVIDIA GPU/, /driver does not answer: install it/]],
  },
  'a card of AMD, with and without the loader': {
    reader: recordedMachine({
      files: {
        '/proc/cpuinfo': X86,
        '/sys/class/drm/card1/device/vendor': '0x1002\n',
        '/sys/class/drm/card1/device/mem_info_vram_total': String(16 * GIB),
        '/sys/class/drm/card1-DP-1/status': 'connected',
      },
    }),
    finds: [['graphics', 'note', /AMD GPU, 16\.0GB/, /install the Vulkan loader and driver.*mesa-vulkan-drivers/]],
  },
  'a laptop of Intel with a graphics unit and an NPU': {
    reader: recordedMachine({
      files: {
        '/proc/cpuinfo': X86,
        ...VULKAN,
        '/sys/class/drm/card0/device/vendor': '0x8086\n',
        '/sys/class/accel/accel0/device/vendor': '0x8086\n',
      },
    }),
    finds: [
      ['graphics', 'good', /Intel GPU/, /used through Vulkan/],
      ['neural unit', 'note', /Intel NPU/, /ggml plug-in/],
    ],
  },
  'a laptop of AMD with an NPU': {
    reader: recordedMachine({ files: { '/proc/cpuinfo': X86, '/sys/class/accel/accel0/device/vendor': '0x1022\n' } }),
    finds: [['neural unit', 'note', /AMD XDNA NPU/, /QUERN_BACKENDS_DIR/]],
  },
  'a Mac': {
    reader: recordedMachine({ platform: 'darwin', arch: 'arm64', programs: { sysctl: 'Apple M4\n' } }),
    finds: [
      ['processor', 'good', /Apple M4, 8 cores \(NEON\)/, /^$/],
      ['graphics', 'good', /Apple GPU/, /Metal/],
    ],
  },
  'a board with a Rockchip': {
    reader: recordedMachine({
      arch: 'arm64',
      memoryBytes: 3 * GIB,
      files: {
        '/proc/cpuinfo': 'processor\t: 0\nFeatures\t: fp asimd asimddp\n',
        '/proc/device-tree/model': 'Orange Pi 5\0',
        '/proc/device-tree/compatible': 'xunlong,orangepi-5\0rockchip,rk3588s\0',
      },
    }),
    finds: [
      ['processor', 'good', /Orange Pi 5, 8 cores \(NEON, dot product\)/, /^$/],
      ['memory', 'note', /3\.0GB/, /below 1 GB/],
      ['neural unit', 'note', /Rockchip NPU/, /QUERN_BACKENDS_DIR/],
    ],
  },
  'a container that may use 2 GiB of an old machine': {
    reader: recordedMachine({
      files: { '/proc/cpuinfo': 'model name\t: Old\nflags\t\t: sse2\n', '/sys/fs/cgroup/memory.max': `${2 * GIB}\n` },
    }),
    finds: [
      ['processor', 'note', /Old/, /no AVX2 or NEON/],
      ['memory', 'note', /2\.0GB/, /below 1 GB/],
      ['graphics', 'good', /none/, /^$/],
    ],
  },
  'a machine that tells nothing': {
    reader: recordedMachine({}),
    finds: [
      ['processor', 'note', /x64/, /./],
      ['graphics', 'good', /none/, /^$/],
    ],
  },
};

describe('what a machine has', () => {
  for (const [name, { reader, finds }] of Object.entries(MACHINES))
    it(name, () => {
      const findings = machineFindings(machineOf(reader));
      for (const [about, state, found, advice] of finds) {
        const fitting = findings.filter(
          (one) => one.about === about && one.state === state && found.test(one.found) && advice.test(one.advice),
        );
        assert.ok(fitting.length > 0, `${about} ${state} ${found} ${advice} in ${JSON.stringify(findings, null, 1)}`);
      }
    });
});

describe('models for a machine', () => {
  const machine = (memoryBytes: number) => ({ ...machineOf(recordedMachine({})), memoryBytes });
  const bestOf = (memoryBytes: number, bandwidth: number, task: string): string | undefined =>
    recommendedFor(machine(memoryBytes), bandwidth).find((model) => model.task === task && model.isBest)?.name;

  it('are the largest that fit and are fast enough, one best of each task', () => {
    assert.match(bestOf(2 * GIB, 20e9, 'chat')!, /Qwen3-1\.7B|Qwen3-0\.6B/);
    assert.match(bestOf(16 * GIB, 40e9, 'chat')!, /Qwen3-4B|Qwen3-1\.7B/);
    assert.match(bestOf(64 * GIB, 100e9, 'chat')!, /30B-A3B/, 'of the large one few bytes are read for a token');
    for (const memory of [1, 4, 16, 64]) {
      const models = recommendedFor(machine(memory * GIB), 30e9);
      for (const task of new Set(models.map((model) => model.task)))
        assert.equal(models.filter((model) => model.task === task && model.isBest).length, 1, `${task} with ${memory}`);
      for (const { bytes } of models) assert.ok(bytes < memory * GIB);
    }
  });
});
