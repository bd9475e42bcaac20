import { mkdtempSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { run } from './run.js';

/** A file system of its own that can be filled. */
export class SmallDisk {
  readonly folder: string;

  private constructor(folder: string) {
    this.folder = folder;
  }

  /** One of so many mebibytes; undefined where none may be mounted. */
  static mount(mebibytes: number): SmallDisk | undefined {
    const folder = mkdtempSync(join(tmpdir(), 'quern-full-disk-'));
    if (run('mount', '-t', 'tmpfs', '-o', `size=${mebibytes}m`, 'tmpfs', folder)) return new SmallDisk(folder);
    rmSync(folder, { recursive: true });
    return undefined;
  }

  get #ballast(): string {
    return join(this.folder, 'ballast');
  }

  /** Takes the space that is left, but for `spareBytes`. */
  fill(spareBytes = 0): void {
    this.free();
    const { bavail, bsize } = statfsSync(this.folder);
    try {
      writeFileSync(this.#ballast, Buffer.alloc(Math.max(0, bavail * bsize - spareBytes)));
    } catch (error) {
      // Somebody else took some meanwhile: full it is.
      if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
    }
  }

  /** Gives the space back. */
  free(): void {
    rmSync(this.#ballast, { force: true });
  }

  unmount(): void {
    run('umount', this.folder);
    rmSync(this.folder, { recursive: true, force: true });
  }
}

/** Why tests of a full disk are skipped where `disk` could not be mounted; false where it was. */
export const skipWithout = (disk: SmallDisk | undefined): string | false =>
  disk === undefined ? 'needs the right to mount a file system' : false;
