/** An HTTPS server behind an API service, and the registration that leads to it, for tests. */
import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { createAuthority, issueCertificate, type KeyPairPem, systemClock } from '@orch/component';
import type { APIService, APIServiceSpec } from '@orch/types/apiregistration/v1';
import { AggregatedServer } from '../aggregation/aggregated-server.js';

const validMs = 3_600_000;

export interface BackendKeys {
  readonly authority: KeyPairPem;
  readonly serving: KeyPairPem;
  readonly client: KeyPairPem;
}

/** One authority signs the serving certificate and the client certificate. */
export async function backendKeys(): Promise<BackendKeys> {
  const authority = await createAuthority('authority', validMs, systemClock);
  const issue = (commonName: string, usage: 'server' | 'client', hosts: string[]) =>
    issueCertificate(authority, { commonName, hosts, usages: [usage], validMs }, systemClock);
  return {
    authority,
    serving: await issue('wares', 'server', ['wares.default.svc']),
    client: await issue('front-proxy-client', 'client', []),
  };
}

export type Listener = (request: IncomingMessage, response: ServerResponse) => void;

export class AggregatedBackend {
  connectionCount = 0;
  readonly requests: IncomingMessage[] = [];
  readonly clientNames: (string | string[] | undefined)[] = [];
  private readonly server: Server;

  constructor(
    private readonly keys: BackendKeys,
    listener: Listener,
  ) {
    const { authority, serving } = keys;
    const tls = {
      cert: serving.certificatePem,
      key: serving.keyPem,
      ca: authority.certificatePem,
      requestCert: true,
    };
    this.server = createServer(tls, (request, response) => {
      this.requests.push(request);
      this.clientNames.push((request.socket as TLSSocket).getPeerCertificate().subject?.CN);
      listener(request, response);
    });
    this.server.on('secureConnection', () => {
      this.connectionCount += 1;
    });
  }

  async listen(): Promise<this> {
    this.server.listen(0, '127.0.0.1');
    await once(this.server, 'listening');
    return this;
  }

  close(): void {
    this.server.closeAllConnections();
    this.server.close();
  }

  /** The server of `v1.wares.example.com` that listens here. */
  registered(spec: Partial<APIServiceSpec> = {}, isAvailable = true): AggregatedServer {
    const object: APIService = {
      metadata: { name: 'v1.wares.example.com' },
      spec: {
        group: 'wares.example.com',
        version: 'v1',
        service: { namespace: 'default', name: 'wares' },
        caBundle: Buffer.from(this.keys.authority.certificatePem).toString('base64'),
        groupPriorityMinimum: 1_000,
        versionPriority: 15,
        ...spec,
      },
      status: { conditions: [{ type: 'Available', status: isAvailable ? 'True' : 'False' }] },
    };
    const { port } = this.server.address() as AddressInfo;
    return new AggregatedServer(object, {
      resolve: async () => ({ host: '127.0.0.1', port }),
      isIdentityHeader: (name) => name.startsWith('x-remote-'),
      certificate: () => this.keys.client,
    });
  }
}
