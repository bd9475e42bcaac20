import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ROOT } from './measure.js';

/** Where peers are fetched and built: outside the repository. */
export const PEERS = process.env.QUERN_BENCH_PEERS ?? join(tmpdir(), 'quern-bench-peers');

function must(command: string, args: string[]): void {
  const { status } = spawnSync(command, args, { stdio: ['ignore', 'ignore', 'inherit'] });
  if (status !== 0) throw new Error(`${command} ${args.join(' ')} failed`);
}

/**
 * The path of a `llama-server` built from the very llama.cpp source that comes with node-llama-cpp, with its default optimised settings
 * for this machine. Built once (about 10 minutes on 2 cores); `LLAMA_SERVER` names a ready one instead.
 */
export function llamaServer(): string {
  if (process.env.LLAMA_SERVER) return process.env.LLAMA_SERVER;
  const binary = join(PEERS, 'build/bin/llama-server');
  if (existsSync(binary)) return binary;
  process.stderr.write(`bench: building llama-server in ${PEERS}, once\n`);
  mkdirSync(join(PEERS, 'source'), { recursive: true });
  const bare = join(PEERS, 'llama.git');
  if (!existsSync(bare))
    must('git', ['clone', '--quiet', '--bare', join(ROOT, 'node_modules/node-llama-cpp/llama/gitRelease.bundle'), bare]);
  must('sh', ['-c', `git -C '${bare}' archive HEAD | tar -x -C '${join(PEERS, 'source')}'`]);
  must('cmake', [
    '-S',
    join(PEERS, 'source'),
    '-B',
    join(PEERS, 'build'),
    '-DCMAKE_BUILD_TYPE=Release',
    '-DLLAMA_CURL=OFF',
    '-DLLAMA_OPENSSL=OFF',
    '-DLLAMA_BUILD_TESTS=OFF',
    '-DLLAMA_BUILD_EXAMPLES=OFF',
  ]);
  must('cmake', ['--build', join(PEERS, 'build'), '-j2', '--target', 'llama-server']);
  return binary;
}
