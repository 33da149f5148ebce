/**
 * Questions to servers that extend this one: a JSON document there, one back, within a deadline. The other
 * side is named by URL or by a service of the cluster, and proves itself by the certificate that its
 * configuration names, or one that this machine believes.
 */
import { Agent, type Dispatcher, request } from 'undici';
import { webhookAnswerBytesMax, webhookClientsMax } from '../limits.js';

/** As configurations name a webhook. */
export interface WebhookAddress {
  readonly url?: string;
  readonly service?: {
    readonly namespace: string;
    readonly name: string;
    readonly path?: string;
    readonly port?: number;
  };
  /** Base64 of PEM. */
  readonly caBundle?: string;
}

/** Where a service is reached. */
export type ServiceResolver = (
  service: { readonly namespace: string; readonly name: string; readonly port: number },
  timeoutMs: number,
) => Promise<{ readonly host: string; readonly port: number }>;

/** The question was not answered; the message says why and may be shown. */
export class WebhookError extends Error {
  override readonly name = 'WebhookError';
}

interface Place {
  readonly origin: string;
  readonly path: string;
  /** Whose certificate is wanted, where that is not the host. */
  readonly serverName?: string;
}

const servicePort = 443;

export class WebhookClient {
  private readonly agents = new Map<string, Agent>();

  constructor(private readonly resolve: ServiceResolver) {}

  /** Throws WebhookError. */
  async ask(address: WebhookAddress, question: object, timeoutMs: number): Promise<unknown> {
    const signal = AbortSignal.timeout(Math.ceil(timeoutMs));
    try {
      const place = await this.placeOf(address, timeoutMs);
      const { statusCode, body } = await request(`${place.origin}${place.path}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', accept: 'application/json' },
        body: JSON.stringify(question),
        dispatcher: this.agentFor(address.caBundle ?? '', place.serverName ?? ''),
        signal,
      });
      const text = await readText(body);
      if (statusCode !== 200) throw new WebhookError(`the server answered with ${statusCode}`);
      return JSON.parse(text) as unknown;
    } catch (error) {
      if (error instanceof WebhookError) throw error;
      if (signal.aborted) throw new WebhookError(`no answer within ${Math.ceil(timeoutMs)} ms`);
      throw new WebhookError(error instanceof Error ? error.message : String(error));
    }
  }

  async close(): Promise<void> {
    const agents = [...this.agents.values()];
    this.agents.clear();
    await Promise.all(agents.map((agent) => agent.destroy()));
  }

  private async placeOf({ url, service }: WebhookAddress, timeoutMs: number): Promise<Place> {
    if (url !== undefined) {
      const { origin, pathname, search } = new URL(url);
      return { origin, path: `${pathname}${search}` };
    }
    if (!service) throw new WebhookError('neither a URL nor a service is named');
    const { namespace, name, port = servicePort, path = '/' } = service;
    const place = await this.resolve({ namespace, name, port }, timeoutMs);
    const host = place.host.includes(':') ? `[${place.host}]` : place.host;
    return {
      origin: `https://${host}:${place.port}`,
      path: path.startsWith('/') ? path : `/${path}`,
      serverName: `${name}.${namespace}.svc`,
    };
  }

  /** Connections are kept by what they believe in. */
  private agentFor(caBundle: string, serverName: string): Dispatcher {
    const key = `${serverName} ${caBundle}`;
    let agent = this.agents.get(key);
    if (!agent) {
      this.makeRoom();
      agent = new Agent({
        connect: {
          ...(caBundle !== '' && { ca: Buffer.from(caBundle, 'base64') }),
          ...(serverName !== '' && { servername: serverName }),
        },
      });
      this.agents.set(key, agent);
    }
    return agent;
  }

  private makeRoom(): void {
    const [oldest] = this.agents;
    if (!oldest || this.agents.size < webhookClientsMax) return;
    const [key, agent] = oldest;
    this.agents.delete(key);
    // What it is still asked is answered first.
    void agent.close();
  }
}

async function readText(body: AsyncIterable<Uint8Array>): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of body) {
    bytes += chunk.length;
    if (bytes > webhookAnswerBytesMax) throw new WebhookError('the answer is too long');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}
