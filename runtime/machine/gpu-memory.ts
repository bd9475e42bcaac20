import { execFile } from 'node:child_process';
import type { MachineReader } from './reader.js';
import { thisMachine } from './reader.js';

/** The memory of a graphics card at a moment, in bytes. */
export interface GpuMemory {
  /** As the driver counts it: `nvidia0`, or the kernel's `card0`. */
  readonly gpu: string;
  readonly name: string;
  readonly usedBytes: number;
  readonly totalBytes: number;
}

/** Reads a machine without holding the thread while a driver's program runs. */
export interface GpuReader extends Pick<MachineReader, 'text' | 'names'> {
  output(program: string, ...args: string[]): Promise<string> | string;
}

const MEBIBYTE = 1024 ** 2;
const PROGRAM_MS = 2_000;
const QUERY = ['--query-gpu=index,name,memory.used,memory.total', '--format=csv,noheader,nounits'];
/** So long a driver that did not answer is not asked again. */
const ABSENT_MS = 60_000;
let absentUntil = 0;

function ofNvidia(told: string): GpuMemory[] {
  return told.split('\n').flatMap((row) => {
    // A name may hold a comma.
    const match = /^\s*(\d+),\s*(.+),\s*(\d+),\s*(\d+)\s*$/.exec(row);
    if (!match) return [];
    const [, index, name = '', used, total] = match;
    return [{ gpu: `nvidia${index}`, name, usedBytes: Number(used) * MEBIBYTE, totalBytes: Number(total) * MEBIBYTE }];
  });
}

/** Cards whose driver tells of their memory in files, as that of AMD does. */
function ofKernel(reader: GpuReader): GpuMemory[] {
  return reader
    .names('/sys/class/drm')
    .filter((name) => /^card\d+$/.test(name))
    .flatMap((gpu) => {
      const device = `/sys/class/drm/${gpu}/device`;
      const [used, total] = ['used', 'total'].map((what) => reader.text(`${device}/mem_info_vram_${what}`).trim());
      if (!used || !Number(total)) return [];
      const name = reader.text(`${device}/product_name`).trim() || 'AMD GPU';
      return [{ gpu, name, usedBytes: Number(used), totalBytes: Number(total) }];
    });
}

/** The memory of each graphics card whose driver tells of it; none where there is none, or where it shares the machine's. */
export async function gpuMemory(reader: GpuReader): Promise<GpuMemory[]> {
  return [...ofNvidia(await reader.output('nvidia-smi', ...QUERY)), ...ofKernel(reader)];
}

/** The same of this machine. */
export const ownGpuMemory = (): Promise<GpuMemory[]> => gpuMemory({ ...thisMachine, output: programOutput });

/** What a program prints; empty where it is not there, fails or takes over 2 s, and then for a minute. */
function programOutput(program: string, ...args: string[]): Promise<string> {
  if (performance.now() < absentUntil) return Promise.resolve('');
  return new Promise((resolve) => {
    execFile(program, args, { encoding: 'utf8', timeout: PROGRAM_MS }, (error, text) => {
      if (error) absentUntil = performance.now() + ABSENT_MS;
      resolve(error ? '' : text);
    });
  });
}
