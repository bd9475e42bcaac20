// `npm run check`: schemas, compile, lint, dead code, C++ format, tests; cheapest first, stops at the first failure.
import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { build, root } from './steps.mjs';

await build();
const cpp = ['native', 'test/native'].flatMap((folder) =>
  readdirSync(join(root, folder), { recursive: true })
    .filter((name) => /\.(cpp|hpp)$/.test(name))
    .map((name) => join(folder, name)),
);
const CHECKS = [
  ['lint and format', 'node_modules/.bin/biome', ['check', '--error-on-warnings', '.']],
  ['dead code', 'node_modules/.bin/knip', []],
  ['C++ format', 'clang-format', ['--dry-run', '--Werror', ...cpp]],
  ['tests', process.execPath, ['scripts/test.mjs']],
];
for (const [label, command, args] of CHECKS) {
  process.stderr.write(`quern: checking ${label}\n`);
  const { status, error } = spawnSync(command, args, { cwd: root, stdio: 'inherit' });
  if (error?.code === 'ENOENT') {
    process.stderr.write(`quern: ${command} is not installed, so ${label} was NOT checked (Debian: apt install ${command}).\n`);
    process.exitCode = 1;
  } else if (status !== 0) process.exit(status ?? 1);
}
