import { dirname, join } from 'node:path';
import { humanSize } from '../../../runtime/base/files.js';
import type { Finding } from '../../../runtime/machine/machine.js';
import type { MachineReader } from '../../../runtime/machine/reader.js';

const LITTLE_DISK = 5 * 1024 ** 3;
/** Reading, writing and entering by others than the owner. */
const OTHERS = 0o077;
const HALF = /\.incomplete$/;

/** The nearest folder above a path that is there. */
function nearest(reader: MachineReader, path: string): string {
  for (let folder = path; ; folder = dirname(folder)) if (reader.facts(folder) || folder === dirname(folder)) return folder;
}

function dataFinding(reader: MachineReader, dataDir: string): Finding {
  const facts = reader.facts(dataDir);
  const about = 'data';
  const above = nearest(reader, dataDir);
  if (reader.facts(above)?.isFolder === false)
    return { about, state: 'bad', found: `${above} is a file, and no folder`, advice: 'choose another with --data-dir' };
  if (!reader.may('write', above))
    return { about, state: 'bad', found: `${dataDir} cannot be written`, advice: 'make it writable, or choose another with --data-dir' };
  if (!facts) return { about, state: 'good', found: `${dataDir}, which the first start makes`, advice: '' };
  if (reader.user !== null && reader.user !== 0 && facts.owner !== reader.user)
    return {
      about,
      state: 'note',
      found: `${dataDir} belongs to user ${facts.owner}`,
      advice: 'start the daemon as that user, or choose another with --data-dir',
    };
  if ((facts.mode & OTHERS) !== 0)
    return {
      about,
      state: 'note',
      found: `${dataDir} is open to other users (${facts.mode.toString(8)})`,
      advice: `the next start closes it; so does: chmod -R go= ${dataDir}`,
    };
  return { about, state: 'good', found: `${dataDir}, for its owner alone`, advice: '' };
}

function diskFinding(reader: MachineReader, dataDir: string): Finding {
  const free = reader.freeBytes(nearest(reader, dataDir));
  const isLittle = free < LITTLE_DISK;
  return {
    about: 'disk',
    state: isLittle ? 'note' : 'good',
    found: `${humanSize(free)} free`,
    advice: isLittle ? 'models need room: "quern rm" takes some away' : '',
  };
}

/** What lies in the cache that this machine's programs share. */
function cacheFinding(reader: MachineReader, cache: string, isOffline: boolean): Finding {
  const about = 'model cache';
  if (!reader.facts(cache)) return { about, state: 'good', found: `none yet in ${cache}`, advice: offlineAdvice(isOffline) };
  const repositories = reader.names(cache).filter((name) => name.startsWith('models--'));
  const folders = repositories.map((name) => join(cache, name, 'blobs'));
  const closed = [cache, ...folders].filter((folder) => reader.facts(folder) && !reader.may('read', folder));
  if (closed.length > 0)
    return { about, state: 'bad', found: `${closed[0]} cannot be read`, advice: 'make it readable, or name another cache in HF_HUB_CACHE' };
  const files = folders.flatMap((folder) =>
    reader.names(folder).map((name) => ({ name, bytes: reader.facts(join(folder, name))?.bytes ?? 0 })),
  );
  const size = (some: typeof files): string => humanSize(some.reduce((sum, { bytes }) => sum + bytes, 0));
  const halves = files.filter(({ name }) => HALF.test(name));
  const count = `${repositories.length} ${repositories.length === 1 ? 'model' : 'models'}, ${size(files)} in ${cache}`;
  if (!reader.may('write', cache))
    return {
      about,
      state: 'note',
      found: `${count}, which cannot be written`,
      advice: 'models can be used and not fetched: make it writable, or set HF_HUB_CACHE',
    };
  if (halves.length > 0)
    return {
      about,
      state: 'note',
      found: `${count}; ${halves.length} unfinished (${size(halves)})`,
      advice: '"quern pull" of the same model goes on; a start removes ours that a day has not touched',
    };
  return { about, state: isOffline ? 'note' : 'good', found: count, advice: offlineAdvice(isOffline) };
}

const offlineAdvice = (isOffline: boolean): string => (isOffline ? 'HF_HUB_OFFLINE is set: no model is fetched' : '');

/** Where data and models lie: rights, room, and what downloads have left. */
export const placeFindings = (
  reader: MachineReader,
  { dataDir, cache, isOffline }: { readonly dataDir: string; readonly cache: string; readonly isOffline: boolean },
): Finding[] => [dataFinding(reader, dataDir), diskFinding(reader, dataDir), cacheFinding(reader, cache, isOffline)];
