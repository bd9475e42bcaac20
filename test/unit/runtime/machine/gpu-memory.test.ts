import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { gpuLines } from '../../../../gateway/daemon/metrics.js';
import { type GpuMemory, gpuMemory, ownGpuMemory } from '../../../../runtime/machine/gpu-memory.js';
import { type RecordedMachine, recordedMachine } from '../../../support/machine-trees.js';

const MIB = 1024 ** 2;
const GIB = 1024 ** 3;

/** Recorded machines, and the cards that tell of their memory. */
const MACHINES: Readonly<Record<string, { machine: RecordedMachine; cards: readonly GpuMemory[] }>> = {
  'two cards of NVIDIA': {
    machine: { programs: { 'nvidia-smi': '0, NVIDIA H100 80GB HBM3, 1024, 81559\n1, NVIDIA H100 80GB HBM3, 0, 81559\n' } },
    cards: [
      { gpu: 'nvidia0', name: 'NVIDIA H100 80GB HBM3', usedBytes: 1024 * MIB, totalBytes: 81559 * MIB },
      { gpu: 'nvidia1', name: 'NVIDIA H100 80GB HBM3', usedBytes: 0, totalBytes: 81559 * MIB },
    ],
  },
  'a card of NVIDIA that does not tell, and a name with a comma': {
    machine: { programs: { 'nvidia-smi': '0, NVIDIA Orin, [N/A], [N/A]\n1, Tesla, old, 5, 10\n' } },
    cards: [{ gpu: 'nvidia1', name: 'Tesla, old', usedBytes: 5 * MIB, totalBytes: 10 * MIB }],
  },
  'a driver of NVIDIA that fails in words': {
    machine: { programs: { 'nvidia-smi': 'NVIDIA-SMI has failed because it could not communicate with the NVIDIA driver.\n' } },
    cards: [],
  },
  'a card of AMD beside a screen and a card of Intel': {
    machine: {
      files: {
        '/sys/class/drm/card0/device/vendor': '0x8086\n',
        '/sys/class/drm/card1/device/vendor': '0x1002\n',
        '/sys/class/drm/card1/device/mem_info_vram_total': `${16 * GIB}\n`,
        '/sys/class/drm/card1/device/mem_info_vram_used': `${3 * GIB}\n`,
        '/sys/class/drm/card1-DP-1/status': 'connected',
      },
    },
    cards: [{ gpu: 'card1', name: 'AMD GPU', usedBytes: 3 * GIB, totalBytes: 16 * GIB }],
  },
  'a machine without a card': { machine: {}, cards: [] },
  'a Mac, whose graphics share its memory': { machine: { platform: 'darwin', arch: 'arm64' }, cards: [] },
};

describe('the memory of graphics cards', () => {
  for (const [name, { machine, cards }] of Object.entries(MACHINES))
    it(`of ${name}`, async () => assert.deepEqual(await gpuMemory(recordedMachine(machine)), cards));

  it('is shown by card', async () => {
    assert.deepEqual(gpuLines(await gpuMemory(recordedMachine(MACHINES['two cards of NVIDIA']!.machine))), [
      '# HELP quern_gpu_memory_used_bytes Memory in use on a graphics card, by whatever process.',
      '# TYPE quern_gpu_memory_used_bytes gauge',
      'quern_gpu_memory_used_bytes{gpu="nvidia0",name="NVIDIA H100 80GB HBM3"} 1073741824',
      'quern_gpu_memory_used_bytes{gpu="nvidia1",name="NVIDIA H100 80GB HBM3"} 0',
      '# HELP quern_gpu_memory_total_bytes Memory of a graphics card.',
      '# TYPE quern_gpu_memory_total_bytes gauge',
      'quern_gpu_memory_total_bytes{gpu="nvidia0",name="NVIDIA H100 80GB HBM3"} 85520809984',
      'quern_gpu_memory_total_bytes{gpu="nvidia1",name="NVIDIA H100 80GB HBM3"} 85520809984',
    ]);
    assert.deepEqual(gpuLines([]), [], 'nothing without one');
  });

  it('of this machine is told, or nothing is', async () => {
    for (const { usedBytes, totalBytes } of await ownGpuMemory()) assert.ok(usedBytes >= 0 && usedBytes <= totalBytes);
  });
});
