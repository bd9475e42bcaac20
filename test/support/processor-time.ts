/** Milliseconds that processors spend on some work of this process; what other programs of a busy machine take does not count. */
export function processorMs(work: () => void): number {
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}
