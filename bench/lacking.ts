/** What a measurement needs beside the project and does not find here, with the line that brings it. */
export class Lacking extends Error {
  constructor(
    readonly what: string,
    readonly remedy: string,
  ) {
    super(`${what} is not here: ${remedy}`);
  }
}

const skipped: string[] = [];

/** Remembers for the end of the run that `part` was not measured, or not against a peer; says it now, too. */
export function skip(part: string, why: unknown): void {
  const line = `${part}: ${why instanceof Error ? why.message.split('\n')[0] : String(why)}`;
  if (skipped.includes(line)) return;
  skipped.push(line);
  process.stderr.write(`bench: skipped ${line}\n`);
}

/** What `make` makes; undefined, and said at the end of the run, where something that it needs is not here. */
export async function unlessLacking<Made>(part: string, make: () => Made | Promise<Made>): Promise<Made | undefined> {
  try {
    return await make();
  } catch (error) {
    if (!(error instanceof Lacking)) throw error;
    skip(part, error);
    return undefined;
  }
}

/** The last lines of a run: everything that was skipped, with the line that would bring it. */
export function skippedLines(): string {
  return skipped.length === 0 ? '\nNothing was skipped.\n' : `\nSkipped:\n${skipped.map((line) => `- ${line}`).join('\n')}\n`;
}
