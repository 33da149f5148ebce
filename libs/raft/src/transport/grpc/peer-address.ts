/** Where a peer listens, as members and options give it. */
import { TransportError } from '../transport-error.js';

/** `https://host:port` -> `host:port`. Throws TransportError `BadAddress`. */
export function addressOf(peerUrl: string): string {
  let url: URL;
  try {
    url = new URL(peerUrl);
  } catch (error) {
    throw new TransportError('BadAddress', `${peerUrl} is no URL`, { cause: error });
  }
  if (url.protocol !== 'https:') {
    throw new TransportError('BadAddress', `${peerUrl} must begin with https://`);
  }
  return `${url.hostname}:${url.port || '443'}`;
}
