import { isIP } from 'node:net';
import { type ConnectionOptions, checkServerIdentity } from 'node:tls';

/**
 * Returns TLS options of a client whose server must have a certificate for `name`, a DNS name or an
 * IP address, whatever its URL is. A handshake cannot contain an address, so none is sent then.
 */
export function expectingName(
  name: string,
): Pick<ConnectionOptions, 'servername' | 'checkServerIdentity'> {
  if (isIP(name) === 0) return { servername: name };
  return {
    servername: '',
    checkServerIdentity: (_host, certificate) => checkServerIdentity(name, certificate),
  };
}
