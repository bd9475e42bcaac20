import { execFileSync } from 'node:child_process';

/** Runs a program of the system in silence; false where it is not there or fails. */
export function run(command: string, ...parameters: string[]): boolean {
  try {
    execFileSync(command, parameters, { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}
