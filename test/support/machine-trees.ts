import type { MachineReader } from '../../runtime/machine/reader.js';

/** A recorded machine: texts of files by their paths, and what programs print. */
export interface RecordedMachine extends Partial<Pick<MachineReader, 'platform' | 'arch' | 'cores' | 'memoryBytes'>> {
  readonly files?: Readonly<Record<string, string>>;
  readonly programs?: Readonly<Record<string, string>>;
}

/** Reads a recorded machine: Linux with 8 cores and 32 GiB unless it says else. */
export function recordedMachine({ files = {}, programs = {}, ...own }: RecordedMachine): MachineReader {
  return {
    platform: 'linux',
    arch: 'x64',
    cores: 8,
    memoryBytes: 32 * 1024 ** 3,
    ...own,
    text: (path) => files[path] ?? '',
    names: (path) => [
      ...new Set(Object.keys(files).flatMap((file) => (file.startsWith(`${path}/`) ? [file.slice(path.length + 1).split('/')[0]!] : []))),
    ],
    output: (program) => programs[program] ?? '',
  };
}
