import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { createServer } from 'node:net';

/** Below what systems give to those who ask for any port. */
const LOWEST = 20_000;
const COUNT = 12_000;

/**
 * A TCP port of 127.0.0.1 on which nothing listens. It stays so for this process, which may take and leave it as often as it likes: the system
 * gives such a port to nobody who asks for any, and no other process of tests gets it here while this one lives. A UDP socket on the same number
 * says that it is taken, for the system closes that however the process ends.
 */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = LOWEST + Math.floor(Math.random() * COUNT);
    const claim = createSocket('udp4').bind({ port, address: '127.0.0.1', exclusive: true });
    const server = createServer();
    try {
      await once(claim, 'listening');
      await once(server.listen(port, '127.0.0.1'), 'listening');
      await once(server.close(), 'close');
      claim.unref();
      return port;
    } catch (error) {
      claim.close();
      if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error;
    }
  }
}
