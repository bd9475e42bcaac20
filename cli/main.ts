#!/usr/bin/env node
import { runProgram } from './program.js';

// Whoever reads may have had enough, as `head` has.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
  process.exit(0);
});
const { stdin, stdout, stderr, env, execPath, execArgv, argv } = process;
process.exitCode = await runProgram(argv.slice(2), { stdin, stdout, stderr, env, program: [execPath, ...execArgv, argv[1]!] });
