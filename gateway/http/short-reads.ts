import { loadCore } from '../../native/core.js';
import { log } from '../../runtime/base/log.js';

/** Bytes that a connection may hold unread: what Linux lets anybody ask for. It gives twice as many, which hardly ever fill a read of 512 KiB. */
const UNREAD_BYTES = 208 * 1024;

/**
 * Bounds what one turn reads from a connection. uWebSockets.js reads 512 KiB at a time, and where they are filled it reads again at once, whether or
 * not the connection was paused meanwhile: somebody who sends as fast as we read, which is anybody on this machine, would hold all others up and
 * fill the memory. Without effect on Windows.
 */
export function keepReadsShort(port: number): void {
  try {
    if (!loadCore().limitReceiveBuffers(port, UNREAD_BYTES) && process.platform !== 'win32')
      log('warn', `reads of large uploads to port ${port} are not kept short: its socket was not found`);
  } catch (error) {
    log('warn', 'reads of large uploads are not kept short', { error });
  }
}
