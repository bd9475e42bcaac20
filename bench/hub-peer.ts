import { HubServer } from '../test/support/hub-server.js';

// Serves one model of the asked size as a hub does; tells where and ends with its parent.
process.on('message', async ({ sizeBytes, repository }: { sizeBytes: number; repository: string }) => {
  const server = await HubServer.start();
  const bytes = Buffer.alloc(sizeBytes);
  for (let at = 0; at < sizeBytes; at += 4096) bytes.writeUInt32LE(at >>> 12, at);
  const { commit } = server.put(repository, { 'model.gguf': bytes });
  process.send!({ result: { url: server.url, commit } });
});
process.on('disconnect', () => process.exit(0));
