/** `orchctl port-forward POD LOCAL:REMOTE`: forwards local ports to ports of a pod. */

import { once } from 'node:events';
import { createServer, type Server, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { resources } from '@orch/client';
import { errorMessage } from '@orch/component';
import { parsePort, SpdySession, spdyForwardProtocol } from '@orch/streaming';
import type { Pod } from '@orch/types/core/v1';
import { CliError, UsageError } from '../command-line/errors.js';
import type { Configure } from '../session/command-context.js';
import type { Session } from '../session/session.js';
import { openSpdySocket } from '../streams/open.js';
import { podFor, podPath } from '../streams/pod-target.js';

interface PortPair {
  /** 0 means any free port. */
  readonly local: number;
  readonly remote: number;
}

export const configurePortForward: Configure = (command, context) => {
  command
    .argument('<resource>', 'POD, pod/NAME, service/NAME, deployment/NAME, ...')
    .argument('<ports...>', 'PORT, LOCAL:REMOTE, or :REMOTE for any free local port')
    .option('--address <address>', 'address to listen on', '127.0.0.1')
    .action(async (resource: string, texts: string[], options: { address: string }) => {
      const { out, err } = context.io;
      const session = await context.session();
      const pod = await podFor(session, resource);
      const portPairs = await Promise.all(
        texts.map((text) => pairOf(text, (port) => podPort(session, resource, pod, port))),
      );
      const query = new URLSearchParams();
      const path = podPath(pod, 'portforward', query);
      const socket = await openSpdySocket(session, path, spdyForwardProtocol());
      const spdy = new SpdySession(socket, 'client');
      const lost = once(spdy, 'close');
      const forwarder = new Forwarder(spdy, (text) => err(text));
      try {
        for (const { local, remote } of portPairs) {
          const port = await forwarder.listen(options.address, local, remote);
          out(`Forwarding from ${options.address}:${port} -> ${remote}\n`);
        }
        await lost;
        throw new CliError('lost connection to pod');
      } finally {
        forwarder.close();
        spdy.destroy();
      }
    });
};

async function pairOf(
  text: string,
  remoteOf: (port: number) => Promise<number>,
): Promise<PortPair> {
  const [first = '', second] = text.split(':');
  const remote = parsePort(second ?? first);
  const local = first === '' ? 0 : parsePort(first);
  if (remote === undefined || local === undefined) {
    throw new UsageError(`want PORT, LOCAL:REMOTE or :REMOTE, got "${text}"`);
  }
  return { local, remote: await remoteOf(remote) };
}

/** The port of the pod. A service port is translated to its target port. */
async function podPort(
  session: Session,
  resource: string,
  pod: Pod,
  port: number,
): Promise<number> {
  const [type = '', name = ''] = resource.split('/');
  if (!['service', 'services', 'svc'].includes(type)) return port;
  const service = await session.client.resource(resources.services, session.namespace).get(name);
  const found = service.spec?.ports?.find((candidate) => candidate.port === port);
  if (!found) throw new CliError(`service ${name} does not have a service port ${port}`);
  const { targetPort = port } = found;
  if (typeof targetPort === 'number') return targetPort;
  const ports = (pod.spec?.containers ?? []).flatMap((container) => container.ports ?? []);
  const named = ports.find((candidate) => candidate.name === targetPort);
  if (!named) throw new CliError(`pod ${pod.metadata?.name} does not have a port ${targetPort}`);
  return named.containerPort;
}

class Forwarder {
  private readonly servers: Server[] = [];
  private readonly sockets = new Set<Socket>();
  private nextRequestId = 0;

  constructor(
    private readonly spdy: SpdySession,
    private readonly note: (text: string) => void,
  ) {}

  async listen(address: string, local: number, remote: number): Promise<number> {
    const server = createServer({ allowHalfOpen: true }, (socket) => {
      this.note(`Handling connection for ${socket.localPort}\n`);
      void this.handle(socket, remote);
    });
    this.servers.push(server);
    server.listen(local, address);
    await once(server, 'listening').catch((error: Error) => {
      throw new CliError(`cannot listen on ${address}:${local}: ${error.message}`);
    });
    const bound = server.address();
    return typeof bound === 'object' && bound ? bound.port : local;
  }

  close(): void {
    for (const server of this.servers) server.close();
    for (const socket of this.sockets) socket.destroy();
  }

  private async handle(socket: Socket, port: number): Promise<void> {
    this.sockets.add(socket);
    socket.once('close', () => this.sockets.delete(socket));
    socket.on('error', () => socket.destroy());
    const requestid = String(this.nextRequestId);
    this.nextRequestId += 1;
    const open = (streamtype: string): Duplex =>
      this.spdy.open({ streamtype, port: String(port), requestid });
    try {
      const error = open('error');
      error.end();
      const data = open('data');
      const errorText = textOf(error);
      await Promise.allSettled([pipeline(socket, data), pipeline(data, socket)]);
      const reason = await errorText;
      if (reason !== '') this.note(`${reason}\n`);
    } catch (cause) {
      this.note(`cannot forward: ${errorMessage(cause)}\n`);
    } finally {
      socket.destroy();
    }
  }
}

/** The text of a stream up to its end or close. */
function textOf(stream: Duplex): Promise<string> {
  return new Promise((resolve) => {
    let text = '';
    stream.on('data', (chunk) => {
      text += chunk;
    });
    stream.once('close', () => resolve(text));
    stream.once('end', () => resolve(text));
  });
}
