/**
 * Runs the handler of a probe or lifecycle hook: a command, an HTTP request or a TCP connection.
 */
import { request as httpRequest, type RequestOptions } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { connect } from 'node:net';
import { dialect, errorMessage, interfaceVersion } from '@orch/component';
import type { Container, Handler, HTTPGetAction } from '@orch/types/core/v1';
import { probeBodyBytesMax } from '../limits.js';
import type { ContainerId, ContainerRuntime } from '../runtimes/container-runtime.js';

export interface HandlerTarget {
  readonly runtime: ContainerRuntime;
  readonly containerId: ContainerId;
  readonly container: Container;
  /** The address of the container unless the handler sets a host. */
  readonly podIp: string;
}

export interface HandlerResult {
  readonly succeeded: boolean;
  /** Output or error message, for events. */
  readonly output: string;
}

/**
 * Runs `handler`. Failures of the container are results; rejects only for a handler without an
 * action.
 */
export async function runHandler(
  handler: Handler,
  target: HandlerTarget,
  timeoutMs: number,
): Promise<HandlerResult> {
  try {
    if (handler.exec) return await runCommand(handler.exec.command ?? [], target, timeoutMs);
    if (handler.httpGet) return await get(handler.httpGet, target, timeoutMs);
    if (handler.tcpSocket) {
      const { host, port } = handler.tcpSocket;
      return await dial(host || target.podIp, portNumber(port, target.container), timeoutMs);
    }
  } catch (error) {
    return { succeeded: false, output: errorMessage(error) };
  }
  throw new Error('the handler has none of exec, httpGet and tcpSocket');
}

async function runCommand(
  command: readonly string[],
  { runtime, containerId }: HandlerTarget,
  timeoutMs: number,
): Promise<HandlerResult> {
  const { exitCode, stdout, stderr } = await runtime.execSync(containerId, command, timeoutMs);
  const output = Buffer.concat([stdout, stderr]).subarray(0, probeBodyBytesMax).toString('utf8');
  return { succeeded: exitCode === 0, output };
}

/** Returns the number of a port that is given by number or by name. */
export function portNumber(port: number | string, container: Container): number {
  const number = Number(port);
  if (Number.isInteger(number)) return number;
  const named = container.ports?.find(({ name }) => name === port);
  if (!named) throw new Error(`couldn't find port: "${port}"`);
  return named.containerPort;
}

function get(
  action: HTTPGetAction,
  target: HandlerTarget,
  timeoutMs: number,
): Promise<HandlerResult> {
  const host = action.host || target.podIp;
  const port = portNumber(action.port, target.container);
  const isTls = action.scheme === 'HTTPS';
  const path = action.path?.startsWith('/') ? action.path : `/${action.path ?? ''}`;
  const headers: Record<string, string> = {
    'user-agent': `${dialect().systemName('probe')}/${interfaceVersion.major}.${interfaceVersion.minor}`,
    accept: '*/*',
    connection: 'close',
  };
  for (const { name, value } of action.httpHeaders ?? []) headers[name.toLowerCase()] = value;
  const address = `${isTls ? 'https' : 'http'}://${host.includes(':') ? `[${host}]` : host}:${port}${path}`;
  const options: RequestOptions & { rejectUnauthorized: boolean } = {
    host,
    port,
    path,
    headers,
    agent: false,
    // The pod's address identifies the pod, so its certificate is not verified.
    rejectUnauthorized: false,
  };
  return new Promise((resolve) => {
    const fail = (reason: string) =>
      resolve({ succeeded: false, output: `Get "${address}": ${reason}` });
    const request = (isTls ? httpsRequest : httpRequest)(options, (response) => {
      const chunks: Buffer[] = [];
      let byteCount = 0;
      const finish = () => {
        clearTimeout(timer);
        const statusCode = response.statusCode ?? 0;
        // A redirect counts as a success and is not followed.
        const succeeded = statusCode >= 200 && statusCode < 400;
        const output = succeeded
          ? Buffer.concat(chunks).toString('utf8')
          : `HTTP probe failed with statuscode: ${statusCode}`;
        resolve({ succeeded, output });
        request.destroy();
      };
      response.on('data', (chunk: Buffer) => {
        chunks.push(chunk.subarray(0, probeBodyBytesMax - byteCount));
        byteCount += chunk.length;
        if (byteCount >= probeBodyBytesMax) finish();
      });
      response.on('end', finish);
      response.on('error', (error) => fail(error.message));
    });
    const timer = setTimeout(() => {
      fail('context deadline exceeded (Client.Timeout exceeded while awaiting headers)');
      request.destroy();
    }, timeoutMs);
    request.on('error', (error) => {
      clearTimeout(timer);
      fail(error.message);
    });
    request.end();
  });
}

function dial(host: string, port: number, timeoutMs: number): Promise<HandlerResult> {
  return new Promise((resolve) => {
    const socket = connect({ host, port });
    const settle = (succeeded: boolean, output: string) => {
      clearTimeout(timer);
      socket.destroy();
      resolve({ succeeded, output });
    };
    const timer = setTimeout(
      () => settle(false, `dial tcp ${host}:${port}: i/o timeout`),
      timeoutMs,
    );
    socket.on('connect', () => settle(true, ''));
    socket.on('error', (error) => settle(false, `dial tcp ${host}:${port}: ${error.message}`));
  });
}
