// A reporter of Node's test runner for the processes that run `test-entry.mjs`: a line of JSON for each test file that ended, with the number
// of its tests, those that were skipped, and for each that failed where it is, its name, and what was thrown, with what the tests of the file told
// beside it, such as the seed of what is drawn by lot.
export default async function* testResults(events) {
  let tests = 0;
  let skipped = [];
  let failures = [];
  let told = '';
  for await (const { type, data } of events) {
    if (type === 'test:diagnostic' && data.nesting > 0) told += `    ${data.message}\n`;
    if ((type !== 'test:pass' && type !== 'test:fail') || data.todo !== undefined) continue;
    const { error, type: kind } = data.details;
    if (type === 'test:fail' && error.failureType !== 'subtestsFailed') failures.push(failure(data, error.cause ?? error));
    if (data.skip !== undefined) skipped.push(data.skip === true ? data.name : `${data.name}: ${data.skip}`);
    // A file is a suite as well, the outermost.
    if (data.nesting > 0) {
      if (kind !== 'suite' || data.skip !== undefined) tests += 1;
      continue;
    }
    if (failures.length > 0) failures.push(failures.pop() + told);
    yield `${JSON.stringify({ ended: data.name, passed: type === 'test:pass', tests, skipped, failures })}\n`;
    tests = 0;
    skipped = [];
    failures = [];
    told = '';
  }
}

const failure = ({ file, line, name }, cause) =>
  `✖ ${file ?? ''}:${line ?? ''} ${name}\n${(cause?.stack ?? String(cause)).split('\n').slice(0, 20).join('\n').replace(/^/gm, '    ')}\n`;
