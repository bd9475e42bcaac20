// A reporter of Node's test runner that writes how long each test file took: a line of seconds and path for each.
export default async function* fileTimes(events) {
  for await (const { type, data } of events)
    if (type === 'test:complete' && data.name === data.file) yield `${(data.details.duration_ms / 1000).toFixed(1)} ${data.file}\n`;
}
