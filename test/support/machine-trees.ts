import { basename } from 'node:path';
import type { MachineReader } from '../../runtime/machine/reader.js';

/** A recorded machine: texts of files by their paths, and what programs print. */
export interface RecordedMachine extends Partial<Pick<MachineReader, 'platform' | 'arch' | 'cores' | 'memoryBytes' | 'user'>> {
  readonly files?: Readonly<Record<string, string>>;
  readonly programs?: Readonly<Record<string, string>>;
  /** Where links lead. */
  readonly links?: Readonly<Record<string, string>>;
  /** Rights that are not those of a file or folder of this user's alone. */
  readonly modes?: Readonly<Record<string, number>>;
  /** Whose what is that does not belong to this user. */
  readonly owners?: Readonly<Record<string, number>>;
  /** What this user may neither read nor write. */
  readonly closed?: readonly string[];
  readonly freeBytes?: number;
}

const OURS = 1000;

/** Reads a recorded machine: Linux with 8 cores, 32 GiB and a large disk unless it says else. */
export function recordedMachine({
  files = {},
  programs = {},
  links = {},
  modes = {},
  owners = {},
  closed = [],
  freeBytes = 2 ** 40,
  ...own
}: RecordedMachine): MachineReader {
  const below = (path: string): string[] => [...Object.keys(files), ...Object.keys(links)].filter((file) => file.startsWith(`${path}/`));
  return {
    platform: 'linux',
    arch: 'x64',
    cores: 8,
    memoryBytes: 32 * 1024 ** 3,
    user: OURS,
    ...own,
    text: (path) => files[path] ?? '',
    names: (path) => (closed.includes(path) ? [] : [...new Set(below(path).map((file) => file.slice(path.length + 1).split('/')[0]!))]),
    facts: (path) =>
      files[path] === undefined && below(path).length === 0
        ? null
        : {
            mode: modes[path] ?? 0o700,
            owner: owners[path] ?? OURS,
            bytes: files[path]?.length ?? 0,
            isFolder: files[path] === undefined,
          },
    link: (path) => links[path] ?? '',
    may: (_what, path) => !closed.includes(path),
    freeBytes: () => freeBytes,
    output: (program) => programs[basename(program)] ?? '',
  };
}
