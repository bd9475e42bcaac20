import { execFileSync } from 'node:child_process';
import { accessSync, constants, readdirSync, readFileSync, readlinkSync, statfsSync, statSync } from 'node:fs';
import { arch, cpus, platform, totalmem } from 'node:os';

/** What the file system says of a file or folder, links followed. */
export interface FileFacts {
  /** The rights, such as 0o700. */
  readonly mode: number;
  readonly owner: number;
  readonly bytes: number;
  readonly isFolder: boolean;
}

/** How facts of a machine are read; tests read recorded ones. */
export interface MachineReader {
  readonly platform: NodeJS.Platform;
  readonly arch: string;
  readonly cores: number;
  readonly memoryBytes: number;
  /** The number of this user; null where the system has none. */
  readonly user: number | null;
  /** The text of a file; empty where it is not there or may not be read. */
  text(path: string): string;
  /** The names in a folder; none where it is not there. */
  names(path: string): string[];
  /** Null where it is not there. */
  facts(path: string): FileFacts | null;
  /** Where a link leads; empty for what is none. */
  link(path: string): string;
  /** Whether this user may read, or write, a file or folder. */
  may(what: 'read' | 'write', path: string): boolean;
  /** Bytes that this user can still write on the disk of a folder. */
  freeBytes(path: string): number;
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
  user: process.getuid?.() ?? null,
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
  facts: (path) => {
    try {
      const facts = statSync(path);
      return { mode: facts.mode & 0o777, owner: facts.uid, bytes: facts.size, isFolder: facts.isDirectory() };
    } catch {
      return null;
    }
  },
  link: (path) => {
    try {
      return readlinkSync(path);
    } catch {
      return '';
    }
  },
  may: (what, path) => {
    try {
      accessSync(path, what === 'read' ? constants.R_OK : constants.W_OK);
      return true;
    } catch {
      return false;
    }
  },
  freeBytes: (path) => {
    const { bavail, bsize } = statfsSync(path);
    return bavail * bsize;
  },
  output: (program, ...args) => {
    try {
      return execFileSync(program, args, { encoding: 'utf8', timeout: PROGRAM_MS, stdio: ['ignore', 'pipe', 'ignore'] });
    } catch {
      return '';
    }
  },
};
