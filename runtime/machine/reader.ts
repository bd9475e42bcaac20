import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { arch, cpus, platform, totalmem } from 'node:os';

/** How facts of a machine are read; tests read recorded ones. */
export interface MachineReader {
  readonly platform: NodeJS.Platform;
  readonly arch: string;
  readonly cores: number;
  readonly memoryBytes: number;
  /** The text of a file; empty where it is not there or may not be read. */
  text(path: string): string;
  /** The names in a folder; none where it is not there. */
  names(path: string): string[];
  /** What a program prints; empty where it is not there, fails or takes over 5 s. */
  output(program: string, ...args: string[]): string;
}

const PROGRAM_MS = 5000;

/** This machine. */
export const thisMachine: MachineReader = {
  platform: platform(),
  arch: arch(),
  cores: cpus().length,
  memoryBytes: totalmem(),
  text: (path) => {
    try {
      return readFileSync(path, 'utf8');
    } catch {
      return '';
    }
  },
  names: (path) => {
    try {
      return readdirSync(path).sort();
    } catch {
      return [];
    }
  },
  output: (program, ...args) => {
    try {
      return execFileSync(program, args, { encoding: 'utf8', timeout: PROGRAM_MS, stdio: ['ignore', 'pipe', 'ignore'] });
    } catch {
      return '';
    }
  },
};
