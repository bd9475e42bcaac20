// Builds the GoogleTest suite under AddressSanitizer and UndefinedBehaviorSanitizer, and runs it. Says why when it cannot.
import { spawn, spawnSync } from 'node:child_process';
import { join } from 'node:path';

const root = join(import.meta.dirname, '..');
const folder = join(root, 'build/native-tests');

/** Processes among which the tests are dealt out: most of them use one core. */
const SHARDS = 2;

/** Runs every `SHARDS`th test; resolves to whether all of them passed. */
function shard(index) {
  const child = spawn(join(folder, 'quern_native_tests'), ['--gtest_brief=1'], {
    cwd: root,
    env: { ...process.env, GTEST_TOTAL_SHARDS: String(SHARDS), GTEST_SHARD_INDEX: String(index) },
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  return new Promise((resolve) => {
    child.on('error', () => resolve(false));
    child.on('close', (code) => resolve(code === 0));
  });
}

const cmake = (args, stdio = 'pipe') => spawnSync('cmake', args, { cwd: root, encoding: 'utf8', stdio });

// Lines are enough for the traces of the sanitizers; all that a debugger wants takes a sixth of the compiler's time.
const options = ['-DQUERN_TESTS=ON', '-DQUERN_SANITIZE=ON', '-DCMAKE_BUILD_TYPE=Debug', '-DCMAKE_CXX_FLAGS_DEBUG=-g1'];
const configured = cmake(['-S', root, '-B', folder, ...options]);
if (configured.error) {
  process.stderr.write('quern: C++ tests were SKIPPED: cmake is not installed.\n');
} else if (configured.status !== 0 && /GTest/.test(configured.stderr)) {
  process.stderr.write(
    'quern: C++ tests were SKIPPED: GoogleTest is not installed (Debian: apt install libgtest-dev, Fedora: dnf install gtest-devel, macOS: brew install googletest).\n',
  );
} else if (configured.status !== 0) {
  process.stderr.write(configured.stderr);
  process.exit(1);
} else {
  process.stderr.write('quern: building the C++ tests ...\n');
  const built = cmake(['--build', folder, '--parallel', '2']);
  if (built.status !== 0) {
    process.stderr.write(built.stdout + built.stderr);
    process.exit(1);
  }
  const passed = await Promise.all(Array.from({ length: SHARDS }, (_, index) => shard(index)));
  process.exit(passed.every(Boolean) ? 0 : 1);
}
