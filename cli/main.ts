#!/usr/bin/env node
import { runProgram } from './program.js';

const { stdin, stdout, stderr, env, execPath, execArgv, argv } = process;
process.exitCode = await runProgram(argv.slice(2), { stdin, stdout, stderr, env, program: [execPath, ...execArgv, argv[1]!] });
