import { loadCore } from '../../native/core.js';

let address: string | undefined;

/** Takes the address of the service manager out of the environment, so that no child speaks for this daemon. */
export function meetServiceManager(env: NodeJS.ProcessEnv = process.env): void {
  address = env.NOTIFY_SOCKET || undefined;
  delete env.NOTIFY_SOCKET;
}

/** Tells systemd something by the protocol of sd_notify(3), such as `READY=1`; does nothing where no service manager listens. */
export function tellServiceManager(text: string): void {
  if (address !== undefined) loadCore().sendDatagram(address, text);
}

/** The variable that a successor finds the service manager by. */
export const serviceManagerEnv = (): NodeJS.ProcessEnv => (address === undefined ? {} : { NOTIFY_SOCKET: address });
