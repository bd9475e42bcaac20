#!/usr/bin/env node
import { INTERRUPTED, runProgram } from './program.js';

// Whoever reads may have had enough, as `head` has.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit(0);
  process.stderr.write(`quern: the output cannot be written: ${error.message}\n`);
  process.exit(1);
});
const { stdin, stdout, stderr, env, execPath, execArgv, argv } = process;
process.exitCode = await runProgram(argv.slice(2), { stdin, stdout, stderr, env, program: [execPath, ...execArgv, argv[1]!] });
// So that a shell ends the loop or the script that the program ran in.
if (process.exitCode === INTERRUPTED) process.kill(process.pid, 'SIGINT');
