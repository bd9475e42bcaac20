import { makeBackup } from '../../gateway/daemon/backup/backup.js';
import { restoreBackup } from '../../gateway/daemon/backup/restore.js';
import { humanSize } from '../../runtime/base/files.js';
import { interruptible } from '../interrupt.js';
import type { Output } from '../output.js';
import type { Run } from '../verb.js';

/** Shows the file that was worked on last, and how many before. Throws where the work was stopped, and what was copied goes away. */
function countProgress(out: Output, signal: AbortSignal): (path: string) => void {
  let count = 0;
  return (path) => {
    signal.throwIfAborted();
    count += 1;
    out.progress(`${count}  ${path}`);
  };
}

/** Copies the data directory into a new folder below the one that is named, also while a daemon works on it. */
export const backup: Run = async ({ words: [target = ''], flags, daemon, out }) => {
  const withModels = flags.models === true;
  const made = await interruptible((signal) => makeBackup(daemon.dataDir, target, { withModels, onFile: countProgress(out, signal) }));
  out.endProgress();
  const { path, files, bytes, shared } = made;
  return {
    result: made,
    show: () => {
      const since = shared > 0 ? `; ${shared} have not changed and share the disk with the backup before` : '';
      out.line(`${path}: ${files} files, ${humanSize(bytes)}${since}`);
      out.line(`"quern restore ${path}" puts it back`);
    },
  };
};

/** Puts a backup in the place of what the data directory holds, which is kept beside it. */
export const restore: Run = async ({ words: [from = ''], daemon, out }) => {
  const restored = await interruptible((signal) => restoreBackup(from, daemon.dataDir, countProgress(out, signal)));
  out.endProgress();
  const { files, bytes, aside } = restored;
  return {
    result: restored,
    show: () => {
      out.line(`${daemon.dataDir} is as ${restored.from} had it: ${files} files, ${humanSize(bytes)}`);
      if (aside !== null) out.line(`what was there before lies in ${aside}: remove it when you are sure`);
    },
  };
};
