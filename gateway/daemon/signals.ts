/** What a signal asks of a daemon that runs. */
export interface Wishes {
  /** Read again what can be. */
  SIGHUP(): void;
  /** Hand over to another process; Windows has no such signal. */
  SIGUSR2(): void;
}

const NAMES: readonly (keyof Wishes)[] = process.platform === 'win32' ? ['SIGHUP'] : ['SIGHUP', 'SIGUSR2'];

/** Keeps these signals from ending the process from now on; what they ask waits until the function that it returns is told how it is done. */
export function holdSignals(): (wishes: Wishes) => void {
  const waiting = new Set<keyof Wishes>();
  let known: Wishes | undefined;
  for (const name of NAMES) process.on(name, () => (known ? known[name]() : waiting.add(name)));
  return (wishes) => {
    known = wishes;
    for (const name of waiting) wishes[name]();
  };
}
