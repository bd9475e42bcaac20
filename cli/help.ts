import { OPTIONS } from '../gateway/daemon/options.js';

/** Prints the commands and options. */
export function help(): void {
  const rows = Object.entries(OPTIONS).map(([flag, [variable, meaning]]) => `  --${flag.padEnd(18)}${variable.padEnd(24)}${meaning}`);
  process.stdout.write(
    [
      'quern: a local AI runtime in one daemon.',
      '',
      'Commands',
      '  quern start      both APIs (the default)',
      '  quern runtime    the universal runtime alone',
      '  quern version    the version',
      '',
      'Options             environment             meaning (default)',
      ...rows,
      '',
    ].join('\n'),
  );
}
