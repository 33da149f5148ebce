/** `orchctl proxy`: serves the API on a local port and adds the user's credentials. */

import { once } from 'node:events';
import {
  createServer,
  request as httpRequest,
  type IncomingMessage,
  type OutgoingHttpHeaders,
  type ServerResponse,
} from 'node:http';
import { request as httpsRequest } from 'node:https';
import type { Duplex } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { RawServer } from '@orch/client';
import { errorMessage } from '@orch/component';
import { parsePort } from '@orch/streaming';
import { CliError, UsageError } from '../command-line/errors.js';
import type { Configure } from '../session/command-context.js';
import type { Session } from '../session/session.js';

interface ProxyOptions {
  readonly port: string;
  readonly address: string;
  readonly acceptHosts: string;
  readonly rejectPaths: string;
}

export const configureProxy: Configure = (command, context) => {
  command
    .option('-p, --port <port>', 'port to listen on; 0 means any free port', '8001')
    .option('--address <address>', 'address to listen on', '127.0.0.1')
    .option(
      '--accept-hosts <pattern>',
      'patterns of accepted Host headers; wider patterns let websites in a local browser use the proxy',
      '^localhost$,^127\\.0\\.0\\.1$,^\\[::1\\]$',
    )
    .option(
      '--reject-paths <pattern>',
      'patterns of rejected paths',
      '^/api/.*/pods/.*/exec,^/api/.*/pods/.*/attach',
    )
    .action(async (options: ProxyOptions) => {
      const port = options.port === '0' ? 0 : parsePort(options.port);
      if (port === undefined) throw new UsageError(`--port: want a port, got "${options.port}"`);
      const hosts = patternsOf('--accept-hosts', options.acceptHosts);
      const rejected = patternsOf('--reject-paths', options.rejectPaths);
      const session = await context.session();
      const mayPass = ({ headers, url = '/' }: IncomingMessage) => {
        const host = (headers.host ?? '').replace(/:\d+$/, '');
        const path = decoded(url.split('?')[0] ?? '');
        return (
          hosts.some((pattern) => pattern.test(host)) &&
          !rejected.some((pattern) => pattern.test(path))
        );
      };
      const server = createServer((request, response) => {
        if (mayPass(request)) forward(session, request, response);
        else response.writeHead(403).end('Forbidden\n');
      });
      server.on('upgrade', (request, socket, head) => {
        if (mayPass(request)) upgrade(session, request, socket, head);
        else socket.end('HTTP/1.1 403 Forbidden\r\nconnection: close\r\n\r\n');
      });
      server.listen(port, options.address);
      await once(server, 'listening').catch((error: Error) => {
        throw new CliError(`cannot listen on ${options.address}:${port}: ${error.message}`);
      });
      const bound = server.address();
      const actual = typeof bound === 'object' && bound ? bound.port : port;
      context.io.out(`Starting to serve on ${options.address}:${actual}\n`);
      await once(server, 'close');
    });
};

function patternsOf(flag: string, text: string): RegExp[] {
  try {
    return text
      .split(',')
      .filter((source) => source !== '')
      .map((source) => new RegExp(source));
  } catch (error) {
    throw new UsageError(`${flag}: ${errorMessage(error)}`);
  }
}

/** The decoded path, so that an encoded one cannot bypass `--reject-paths`. */
function decoded(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path; // the server rejects it
  }
}

function ask(server: RawServer, request: IncomingMessage, isUpgrade: boolean) {
  const { host: _host, authorization: _authorization, ...headers } = request.headers;
  const all: OutgoingHttpHeaders = { ...headers, ...server.headers };
  if (!isUpgrade) delete all.connection;
  const send = server.url.startsWith('https:') ? httpsRequest : httpRequest;
  return send(server.url + (request.url ?? '/'), {
    ...server.tls,
    method: request.method ?? 'GET',
    headers: all,
    ...(isUpgrade && { agent: false }),
  });
}

function forward(session: Session, request: IncomingMessage, response: ServerResponse): void {
  const outgoing = ask(session.rawServers()[0]!, request, false);
  outgoing.on('error', (error) => {
    if (response.headersSent) response.destroy();
    else response.writeHead(502).end(`${error.message}\n`);
  });
  outgoing.on('response', (answer) => {
    response.writeHead(answer.statusCode ?? 502, answer.headers);
    // If one side closes, the other is closed too.
    pipeline(answer, response).catch(() => response.destroy());
  });
  response.on('close', () => outgoing.destroy());
  request.pipe(outgoing);
}

function upgrade(session: Session, request: IncomingMessage, socket: Duplex, head: Buffer): void {
  const outgoing = ask(session.rawServers()[0]!, request, true);
  socket.on('error', () => outgoing.destroy());
  outgoing.on('error', () => socket.destroy());
  outgoing.on('response', (answer) => {
    socket.write(headOf(answer));
    answer.pipe(socket);
  });
  outgoing.on('upgrade', (answer, far, farHead) => {
    socket.write(headOf(answer));
    if (head.length > 0) socket.unshift(head);
    if (farHead.length > 0) far.unshift(farHead);
    const cut = () => {
      socket.destroy();
      far.destroy();
    };
    pipeline(socket, far).catch(cut);
    pipeline(far, socket).catch(cut);
  });
  outgoing.end();
}

function headOf({ statusCode, statusMessage, rawHeaders }: IncomingMessage): string {
  const lines = [`HTTP/1.1 ${statusCode} ${statusMessage}`];
  for (let index = 0; index < rawHeaders.length; index += 2) {
    if (rawHeaders[index]?.toLowerCase() === 'transfer-encoding') continue;
    lines.push(`${rawHeaders[index]}: ${rawHeaders[index + 1]}`);
  }
  return `${lines.join('\r\n')}\r\n\r\n`;
}
