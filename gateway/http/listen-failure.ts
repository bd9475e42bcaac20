import { Failure } from '../../schemas/errors.js';

/** Says in one line why a port could not be opened and what to do about it. */
export function listenFailure(host: string, port: number, cause: unknown): Failure {
  const reason = (cause as NodeJS.ErrnoException | undefined)?.code ?? 'unknown reason';
  if (reason === 'EADDRINUSE') {
    return new Failure('unavailable', `Port ${port} on ${host} is in use: stop the program that holds it, or choose another port.`, {
      code: 'PortInUse',
      cause,
    });
  }
  if (reason === 'EACCES') {
    return new Failure('unavailable', `Port ${port} on ${host} needs privileges: choose a port from 1024 upwards.`, {
      code: 'PortForbidden',
      cause,
    });
  }
  if (reason === 'EADDRNOTAVAIL' || reason === 'ENOTFOUND' || reason === 'EAI_AGAIN') {
    return new Failure('unavailable', `The address ${host} does not belong to this machine: bind 127.0.0.1 or one of its own addresses.`, {
      code: 'AddressUnknown',
      cause,
    });
  }
  return new Failure('unavailable', `Port ${port} on ${host} could not be opened (${reason}).`, { code: 'PortUnavailable', cause });
}
