/**
 * HTTP agents that open their connections through a `Dial`, as through a proxy. TLS is spoken
 * inside the opened connection, so that the proxy sees no plaintext.
 */
import { Agent as HttpAgent, type AgentOptions as HttpAgentOptions } from 'node:http';
import {
  Agent as HttpsAgent,
  type AgentOptions as HttpsAgentOptions,
  type RequestOptions,
} from 'node:https';
import type { Duplex } from 'node:stream';
import { connect as tlsConnect } from 'node:tls';

export interface DialAddress {
  readonly host: string;
  readonly port: number;
}

/** Opens a connection to an address. Rejects with the reason, within a limited time. */
export type Dial = (address: DialAddress) => Promise<Duplex>;

type Opened = (error: Error | null, stream: Duplex) => void;

class DialingHttpAgent extends HttpAgent {
  constructor(
    options: HttpAgentOptions,
    private readonly dial: Dial,
  ) {
    super(options);
  }

  override createConnection(options: object, opened: Opened): undefined {
    open(this.dial, options, opened, (stream) => stream);
  }
}

/**
 * All requests of one agent have the same TLS settings. The names of its connection pools do not
 * contain them, because the runtime would join them, with the certificates, for each request.
 */
class SoleTlsAgent extends HttpsAgent {
  override getName({ host, port, servername }: RequestOptions = {}): string {
    return `${host ?? ''}:${port ?? ''}:${servername ?? ''}`;
  }
}

class DialingHttpsAgent extends SoleTlsAgent {
  constructor(
    options: HttpsAgentOptions,
    private readonly dial: Dial,
  ) {
    super(options);
  }

  override createConnection(options: object, opened: Opened): undefined {
    open(this.dial, options, opened, (socket) => tlsConnect({ ...options, socket }));
  }
}

function open(
  dial: Dial,
  options: { readonly host?: string | null; readonly port?: number | string | null },
  opened: Opened,
  secure: (stream: Duplex) => Duplex,
): void {
  const address = { host: options.host ?? 'localhost', port: Number(options.port) };
  dial(address).then(
    (stream) => opened(null, secure(stream)),
    (error: Error) => (opened as (error: Error) => void)(error),
  );
}

/** Without `dial`, connections are direct. */
export function httpAgent(options: HttpAgentOptions, dial: Dial | undefined): HttpAgent {
  return dial ? new DialingHttpAgent(options, dial) : new HttpAgent(options);
}

/** Without `dial`, connections are direct. */
export function httpsAgent(options: HttpsAgentOptions, dial: Dial | undefined): HttpsAgent {
  return dial ? new DialingHttpsAgent(options, dial) : new SoleTlsAgent(options);
}
