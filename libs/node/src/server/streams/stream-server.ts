/**
 * The streaming endpoints of the agent: `/exec`, `/attach` and `/portForward`, over WebSocket and
 * SPDY/3.1. Invariant: an invalid request is rejected before the upgrade, so that the client
 * receives an HTTP response.
 */
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { type Clock, type Logger, type Metrics, refuseUpgrade } from '@orch/component';
import {
  CommandSocket,
  type CommandStreams,
  commandStreams,
  forwardedPortsMax,
  SpdySession,
  serveForwardSession,
  serveForwardSocket,
  spdyCommandProtocols,
  spdyForwardProtocol,
  tunnelForwardProtocol,
  webSocketCommandProtocols,
  webSocketForwardProtocols,
} from '@orch/streaming';
import { createWebSocketStream } from 'ws';
import { streamingSessionsMax } from '../../limits.js';
import type { NodeAgentOptions } from '../../node-agent-options.js';
import type { RunningCommand } from '../../runtimes/container-runtime.js';
import { HttpError } from '../request/http-error.js';
import { decodeSegment } from '../request/path-segment.js';
import {
  acceptSpdy,
  chooseStreamProtocol,
  chooseSubprotocol,
  offeredSubprotocols,
  openWebSocket,
  type Upgrade,
  upgradeKind,
} from './accept.js';
import { serveCommand } from './serve-command.js';
import { forwardTo } from './serve-forward.js';
import {
  findRunningContainer,
  findSandbox,
  parseCommandRequest,
  parsePorts,
  type RunningContainer,
  type StreamDependencies,
} from './stream-target.js';

export interface StreamServerDependencies extends StreamDependencies {
  readonly options: Pick<NodeAgentOptions, 'streamingIdleTimeoutMs'>;
  readonly metrics: Metrics;
  readonly clock: Clock;
  readonly logger: Logger;
}

export const streamEndpoints: ReadonlySet<string> = new Set(['exec', 'attach', 'portForward']);

export class StreamServer {
  private sessionCount = 0;

  constructor(private readonly dependencies: StreamServerDependencies) {
    dependencies.metrics.gauge({
      name: 'kubelet_streaming_sessions',
      help: 'Open commands, attached clients and port-forwards',
      collect: (gauge) => gauge.set(this.sessionCount),
    });
  }

  /** Handles the upgrade request; returns false for an unknown path. */
  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): boolean {
    // The same path as the one that is authorized.
    const { pathname: path, searchParams } = new URL(request.url ?? '/', 'http://node');
    const [endpoint = '', ...names] = path.split('/').slice(1).map(decodeSegment);
    if (!streamEndpoints.has(endpoint)) return false;
    this.sessionCount += 1;
    socket.once('close', () => {
      this.sessionCount -= 1;
    });
    const upgrade = { request, socket, head };
    this.serve(endpoint, names, searchParams, upgrade).catch((error: unknown) => {
      if (!(error instanceof HttpError)) {
        this.dependencies.logger.warn({ err: error, path }, 'stream failed');
        socket.destroy();
        return;
      }
      refuseUpgrade(socket, error.statusCode, error.message, error.headers);
    });
    return true;
  }

  private async serve(
    endpoint: string,
    names: readonly string[],
    parameters: URLSearchParams,
    upgrade: Upgrade,
  ): Promise<void> {
    if (this.sessionCount > streamingSessionsMax) {
      throw new HttpError(429, `more than ${streamingSessionsMax} streams are open`);
    }
    if (endpoint === 'portForward') return this.forward(names, parameters, upgrade);
    return this.command(endpoint, names, parameters, upgrade);
  }

  private async command(
    endpoint: string,
    names: readonly string[],
    parameters: URLSearchParams,
    upgrade: Upgrade,
  ): Promise<void> {
    const { runtime, options, clock } = this.dependencies;
    const request = parseCommandRequest(parameters);
    const target = await findRunningContainer(this.dependencies, names);
    const argv = parameters.getAll('command');
    if (endpoint === 'exec' && argv.length === 0) {
      throw new HttpError(400, 'you must specify at least 1 command for the container');
    }
    const { id } = target.status;
    const start = (): Promise<RunningCommand> =>
      endpoint === 'exec'
        ? runtime.exec(id, argv, request)
        : runtime.attach(id, { stdin: request.stdin, endsInput: endsInput(target) });
    const streams = await this.streams(upgrade, request);
    await serveCommand(streams, start, options.streamingIdleTimeoutMs, clock);
  }

  private async streams(
    upgrade: Upgrade,
    request: ReturnType<typeof parseCommandRequest>,
  ): Promise<CommandStreams> {
    if (upgradeKind(upgrade) === 'websocket') {
      const protocol = chooseSubprotocol(upgrade, webSocketCommandProtocols());
      return new CommandSocket(openWebSocket(upgrade, protocol.name), protocol, request);
    }
    const protocol = chooseStreamProtocol(upgrade, spdyCommandProtocols());
    return commandStreams(acceptSpdy(upgrade, protocol.name), protocol, request);
  }

  private async forward(
    names: readonly string[],
    parameters: URLSearchParams,
    upgrade: Upgrade,
  ): Promise<void> {
    const { runtime, options, clock } = this.dependencies;
    const sandbox = await findSandbox(this.dependencies, names);
    const title = `${names[0]}/${names[1]}`;
    const forward = forwardTo(runtime, sandbox, title, options.streamingIdleTimeoutMs, clock);
    if (upgradeKind(upgrade) === 'spdy') {
      const name = spdyForwardProtocol();
      const protocol = chooseStreamProtocol(upgrade, [{ name, version: 1, base64: false }]);
      await serveForwardSession(acceptSpdy(upgrade, protocol.name), forward);
    } else if (offeredSubprotocols(upgrade).includes(tunnelForwardProtocol())) {
      const socket = openWebSocket(upgrade, tunnelForwardProtocol());
      const session = new SpdySession(createWebSocketStream(socket), 'server');
      await serveForwardSession(session, forward);
    } else {
      const protocol = chooseSubprotocol(upgrade, webSocketForwardProtocols());
      const ports = parsePorts(parameters);
      if (ports.length === 0 || ports.length > forwardedPortsMax) {
        throw new HttpError(400, `want 1 to ${forwardedPortsMax} ports, got ${ports.length}`);
      }
      const socket = openWebSocket(upgrade, protocol.name);
      await serveForwardSocket(socket, protocol, ports, forward);
    }
  }
}

/** Whether the first client that ends the input of the container ends it permanently. */
function endsInput({ container }: RunningContainer): boolean {
  return container.stdinOnce ?? false;
}
