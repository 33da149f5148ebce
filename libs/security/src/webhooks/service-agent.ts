/** Connections to an endpoint of a service, with the name of the service in the handshake. */
import type { ClientRequestArgs } from 'node:http';
import type { Agent, AgentOptions } from 'node:https';
import type { Duplex } from 'node:stream';
import { type Dial, httpsAgent, SoleTlsAgent } from '@orch/component';

export interface ServiceEndpoint {
  readonly host: string;
  readonly port: number;
}

/** Chooses an endpoint of a service. Rejects if it has none. */
export type ServiceResolver = (
  service: { readonly namespace: string; readonly name: string; readonly port: number },
  timeoutMs: number,
) => Promise<ServiceEndpoint>;

type ConnectionCallback = (error: Error | null, stream: Duplex) => void;

class ServiceAgent extends SoleTlsAgent {
  constructor(
    options: AgentOptions,
    private readonly endpoint: ServiceEndpoint,
  ) {
    super(options);
  }

  override createConnection(
    options: ClientRequestArgs,
    callback: ConnectionCallback,
  ): Duplex | null | undefined {
    const { host, port } = this.endpoint;
    return super.createConnection({ ...options, host, port }, callback);
  }
}

/** Without `dial`, connections are direct. */
export function serviceAgent(
  options: AgentOptions,
  endpoint: ServiceEndpoint,
  dial: Dial | undefined,
): Agent {
  return dial ? httpsAgent(options, () => dial(endpoint)) : new ServiceAgent(options, endpoint);
}
