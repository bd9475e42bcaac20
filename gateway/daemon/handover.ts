import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, existsSync, lchownSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { loadCore } from '../../native/loader.js';
import { log } from '../../runtime/base/log.js';
import { Failure } from '../../schemas/errors.js';
import { type ApiName, SUCCESSION, serviceManagerEnv, tellServiceManager } from './systemd.js';

/** What a daemon and its successor tell each other of, over the channel of Node's child processes. */
type Stage = 'loaded' | 'serving';

/** A successor is ready to take over this soon; one that builds itself first takes minutes, and the daemon serves meanwhile. */
const LOAD_MS = 10 * 60_000;
/** From the closed store to a successor that serves; recovery of a large store takes seconds. */
const TAKE_MS = 120_000;
/** Successors that are tried once the store is closed. */
const TRIES = 3;

/** The file by which `quern upgrade` says what is wanted, and the daemon says why it could not be. */
export const upgradeFile = (dataDir: string): string => join(dataDir, 'upgrade.json');

/** What that file holds. */
export interface UpgradeNote {
  /** The command that runs the next program, without its arguments. */
  readonly program?: readonly string[];
  /** Why the daemon goes on instead. */
  readonly failed?: string;
}

/** Writes such a file whole or not at all. One by root belongs to the owner of the data directory, whose daemon reads it. */
export function writeUpgradeNote(dataDir: string, note: UpgradeNote): void {
  const file = upgradeFile(dataDir);
  const part = `${file}.part`;
  // Whoever owns the directory may have put a link there, behind which root would write.
  rmSync(part, { force: true });
  writeFileSync(part, JSON.stringify(note), { mode: 0o600, flag: 'wx' });
  if (process.getuid?.() === 0) {
    const { uid, gid } = statSync(dataDir);
    lchownSync(part, uid, gid);
  }
  renameSync(part, file);
}

/** Removes what was asked of the daemon before, once this one has the data directory. */
export function dropUpgradeNote(dataDir: string): void {
  rmSync(upgradeFile(dataDir), { force: true });
}

/** Reads and removes the file; empty where there is none. */
function takeUpgradeNote(dataDir: string): UpgradeNote {
  const file = upgradeFile(dataDir);
  if (!existsSync(file)) return {};
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as UpgradeNote;
  } catch {
    return {};
  } finally {
    rmSync(file, { force: true });
  }
}

/** The command that runs this very program. */
const ownProgram = (): string[] => [process.execPath, ...process.execArgv, process.argv[1]!];

/** A process that is to take over. */
class Successor {
  readonly #child: ChildProcess;
  #stage: Stage | 'gone' | undefined;
  #woken = (): void => undefined;

  constructor(program: readonly string[], sockets: ReadonlyMap<ApiName, number>) {
    const [command = '', ...args] = program;
    this.#child = spawn(command, [...args, ...process.argv.slice(2)], {
      detached: true,
      env: { ...process.env, ...serviceManagerEnv(), [SUCCESSION]: [...sockets.keys()].join(',') },
      // The sockets stand behind the usual three, where `givenSockets` takes them from.
      stdio: ['ignore', 'inherit', 'inherit', ...sockets.values(), 'ipc'],
    });
    this.#child.on('message', (stage: Stage) => this.#note(stage));
    this.#child.once('error', () => this.#note('gone'));
    this.#child.once('exit', () => this.#note('gone'));
  }

  get pid(): number | undefined {
    return this.#child.pid;
  }

  #note(stage: Stage | 'gone'): void {
    this.#stage = stage;
    this.#woken();
  }

  /** Whether it gets to a stage within a time; one that does not is ended. */
  async reaches(stage: Stage, withinMs: number): Promise<boolean> {
    let isLate = false;
    const timer = setTimeout(() => {
      isLate = true;
      this.#woken();
    }, withinMs);
    while (!isLate && this.#stage !== 'gone' && this.#stage !== stage && this.#stage !== 'serving')
      await new Promise<void>((resolve) => (this.#woken = resolve));
    clearTimeout(timer);
    const reached = this.#stage === stage || this.#stage === 'serving';
    if (!reached) this.kill();
    return reached;
  }

  kill(): void {
    this.#child.kill('SIGKILL');
  }
}

/** What is handed over. */
export interface Estate {
  readonly dataDir: string;
  /** The listening sockets of the APIs. */
  readonly sockets: ReadonlyMap<ApiName, number>;
  /** Ends what runs, closes the store and lets go of the data directory. */
  close(): Promise<void>;
}

let successor: Successor | undefined;
let isAbandoned = false;

/** Ends a successor that has not taken over yet, for a daemon that is told to stop meanwhile. */
export function abandonHandover(): void {
  isAbandoned = true;
  successor?.kill();
}

/**
 * Starts the program that `quern upgrade` names, else this one, gives it the listening sockets and, once it has loaded, the data directory. Clients that connect meanwhile
 * wait in the sockets. Returns where the successor does not come so far; this daemon goes on then. Ends the process otherwise.
 */
export async function handOver({ dataDir, sockets, close }: Estate): Promise<void> {
  const program = takeUpgradeNote(dataDir).program ?? ownProgram();
  const refuse = (reason: string): void => {
    log('error', `the next daemon cannot take over: ${reason}; this one goes on`);
    writeUpgradeNote(dataDir, { failed: reason });
  };
  if ([...sockets.values()].some((descriptor) => descriptor < 0)) return refuse('this system has no way to hand a port over');
  // Those of the listeners are closed with them.
  const kept = new Map([...sockets].map(([api, descriptor]) => [api, loadCore().duplicateConnection(descriptor)]));
  log('info', 'starting the daemon that takes over', { program: program.join(' ') });
  successor = new Successor(program, kept);
  if (!(await successor.reaches('loaded', LOAD_MS))) {
    for (const descriptor of kept.values()) closeSync(descriptor);
    return refuse(`"${program.join(' ')}" ended or did not load (what it said stands before this line)`);
  }
  await close();
  for (let tries = 1; !(await successor.reaches('serving', TAKE_MS)); tries++) {
    if (isAbandoned) return;
    if (tries === TRIES) {
      log('error', 'no daemon could take over; start one by hand');
      process.exit(1);
    }
    log('error', 'the daemon that should take over ended, another is started');
    successor = new Successor(tries === 1 ? program : ownProgram(), kept);
  }
  tellServiceManager(`MAINPID=${successor.pid}\nREADY=1`);
  log('info', `process ${successor.pid} serves now`);
  process.exit(0);
}

/** Tells the daemon before how far this one has come; does nothing where that is gone. */
export function tellPredecessor(stage: Stage): void {
  if (!process.connected) return;
  // It may end at any time, and then nobody needs to know.
  process.send?.(stage, undefined, undefined, () => {
    if (stage === 'serving' && process.connected) process.disconnect();
  });
}

/** Calls `lock` again until the daemon before has let go of the data directory. Throws what it throws when that takes too long. */
export async function lockAfter<T>(lock: () => T): Promise<T> {
  for (const until = Date.now() + TAKE_MS; ; await new Promise((resolve) => setTimeout(resolve, 5)))
    try {
      return lock();
    } catch (error) {
      if (!(error instanceof Failure) || error.kind !== 'busy' || Date.now() > until) throw error;
    }
}
