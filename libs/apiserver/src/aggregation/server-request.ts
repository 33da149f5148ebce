/** Requests of this server itself to an aggregated one: discovery and OpenAPI documents. */
import type { IncomingMessage } from 'node:http';
import { request } from 'node:https';
import { dialect, errorMessage } from '@orch/component';
import { privilegedGroup } from '@orch/security';
import { authorityOf } from '../proxy/forward.js';
import { bodyOf } from '../proxy/response-body.js';
import type { AggregatedServer } from './aggregated-server.js';
import { userHeaders } from './forwarded-request.js';

export interface ServerRequest {
  readonly path: string;
  readonly accept: string;
  readonly timeoutMs: number;
  /** Size of the response body; a longer one is an error. */
  readonly bytesMax: number;
  /** Whether the server's certificate must be valid. */
  readonly verify: boolean;
  /** Ends the request when it aborts. */
  readonly signal?: AbortSignal;
}

export interface ServerResponse {
  readonly url: string;
  readonly statusCode: number;
  readonly body: Buffer;
}

/** Returns the response. Rejects with an Error whose message names the URL and the reason. */
export async function requestServer(
  server: AggregatedServer,
  options: ServerRequest,
): Promise<ServerResponse> {
  const deadline = AbortSignal.timeout(options.timeoutMs);
  const address = await server.resolve(options.timeoutMs);
  const url = `https://${authorityOf(address)}${options.path}`;
  try {
    const signal = options.signal ? AbortSignal.any([deadline, options.signal]) : deadline;
    const response = await headOf(server, address, options, signal);
    const body = await bodyOf(response, options.bytesMax);
    return { url, statusCode: response.statusCode ?? 0, body };
  } catch (error) {
    const reason = deadline.aborted
      ? `no response within ${options.timeoutMs} ms`
      : errorMessage(error);
    throw new Error(`Get ${JSON.stringify(url)}: ${reason}`, { cause: error });
  }
}

function headOf(
  server: AggregatedServer,
  { host, port }: { readonly host: string; readonly port: number },
  { path, accept, verify }: ServerRequest,
  signal: AbortSignal,
): Promise<IncomingMessage> {
  const user = {
    name: `system:${dialect().systemName('aggregator')}`,
    uid: '',
    groups: [privilegedGroup],
    extra: {},
  };
  const headers = { host: authorityOf({ host, port }), accept, ...userHeaders(user) };
  return new Promise((resolve, reject) => {
    request({ host, port, path, headers, signal, agent: server.pool(verify) })
      .once('response', resolve)
      .on('error', reject)
      .end();
  });
}
