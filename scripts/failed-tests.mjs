// A reporter of Node's test runner that writes the tests that failed, one block each: where, name, and what was thrown.
export default async function* failedTests(events) {
  for await (const { type, data } of events) {
    if (type !== 'test:fail' || data.details?.error?.failureType === 'subtestsFailed') continue;
    const cause = data.details?.error?.cause ?? data.details?.error;
    yield `✖ ${data.file ?? ''}:${data.line ?? ''} ${data.name}\n${indented(cause?.stack ?? String(cause))}\n`;
  }
}

const indented = (text) => text.split('\n').slice(0, 20).join('\n    ').replace(/^/, '    ');
