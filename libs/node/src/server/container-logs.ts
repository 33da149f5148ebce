/** Serves the log of one container: `/containerLogs/<namespace>/<pod>/<container>`. */
import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { parseTime } from '@orch/apimachinery';
import type { Clock } from '@orch/component';
import { type LogQuery, readLog } from '../logs/log-reader.js';
import { allContainersOf, allStatusesOf } from '../pods/pod-view.js';
import type { PodWorkers } from '../pods/pod-workers.js';
import type { ContainerRuntime, ContainerStatus } from '../runtimes/container-runtime.js';
import { selectRun, waitingReason } from './log-run.js';
import { HttpError } from './request/http-error.js';

/** The part of the runtime that logs are served from. */
type LogRuntime = Pick<
  ContainerRuntime,
  'listContainers' | 'containerStatus' | 'onContainerChanged'
>;

export interface ContainerLogsDependencies {
  readonly runtime: LogRuntime;
  readonly workers: Pick<PodWorkers, 'find'>;
  readonly clock: Clock;
}

export interface LogAddress {
  readonly namespace: string;
  readonly pod: string;
  readonly container: string;
}

export async function serveContainerLog(
  dependencies: ContainerLogsDependencies,
  address: LogAddress,
  parameters: URLSearchParams,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const ended = new AbortController();
  response.on('close', () => ended.abort());
  try {
    const query = logQuery(parameters, dependencies.clock.nowMs());
    const run = await findRun(dependencies, address, isSet(parameters, 'previous'));
    const state = await liveState(dependencies.runtime, run, ended.signal);
    response.writeHead(200, { 'content-type': 'text/plain; charset=utf-8' });
    response.flushHeaders();
    for await (const text of readLog(
      { path: run.logPath, isRunning: state.isRunning },
      query,
      dependencies.clock,
      ended.signal,
    )) {
      if (!response.write(text)) await once(response, 'drain', { signal: ended.signal });
    }
    response.end();
  } catch (error) {
    if (ended.signal.aborted) return;
    if (!(error instanceof HttpError)) throw error;
    response.writeHead(error.statusCode, { 'content-type': 'text/plain; charset=utf-8' });
    response.end(error.message);
  } finally {
    ended.abort();
    request.resume();
  }
}

/** Whether the parameter is present and neither `0` nor `false`. */
function isSet(parameters: URLSearchParams, name: string): boolean {
  const value = parameters.get(name);
  return value !== null && value !== '0' && value.toLowerCase() !== 'false';
}

/** Parses the query parameters. Throws HttpError for an invalid value. */
function logQuery(parameters: URLSearchParams, nowMs: number): LogQuery {
  const count = (name: string, min: number): number | undefined => {
    const text = parameters.get(name);
    if (text === null) return undefined;
    const value = Number(text);
    if (!Number.isInteger(value) || value < min) {
      throw new HttpError(422, `invalid ${name}: "${text}" must be a whole number, ${min} or more`);
    }
    return value;
  };
  const sinceSeconds = count('sinceSeconds', 1);
  const sinceText = parameters.get('sinceTime');
  const sinceTime = sinceText === null ? undefined : parseTime(sinceText);
  if (sinceText !== null && sinceTime === undefined) {
    throw new HttpError(422, `invalid sinceTime: "${sinceText}"`);
  }
  if (sinceSeconds !== undefined && sinceTime !== undefined) {
    throw new HttpError(422, 'at most one of sinceTime or sinceSeconds may be specified');
  }
  const sinceMs = sinceSeconds === undefined ? sinceTime : nowMs - sinceSeconds * 1000;
  const tailLines = count('tailLines', 0);
  const limitBytes = count('limitBytes', 1);
  return {
    follow: isSet(parameters, 'follow'),
    timestamps: isSet(parameters, 'timestamps'),
    ...(tailLines === undefined ? {} : { tailLines }),
    ...(sinceMs === undefined ? {} : { sinceMs }),
    ...(limitBytes === undefined ? {} : { limitBytes }),
  };
}

async function findRun(
  { runtime, workers }: ContainerLogsDependencies,
  { namespace, pod: podName, container }: LogAddress,
  previous: boolean,
): Promise<ContainerStatus> {
  const pod = workers.find(namespace, podName);
  if (!pod) throw new HttpError(404, `pod "${podName}" not found in namespace "${namespace}"`);
  if (!allContainersOf(pod).some(({ name }) => name === container)) {
    throw new HttpError(404, `container "${container}" in pod "${podName}" is not available`);
  }
  const waiting = allStatusesOf(pod).find(({ name }) => name === container)?.state?.waiting;
  const runs = (await runtime.listContainers(pod.metadata?.uid)).filter(
    ({ name }) => name === container,
  );
  const run = selectRun(runs, waiting !== undefined, previous);
  if (run) return run;
  if (previous) {
    const what = `previous terminated container "${container}" in pod "${podName}"`;
    throw new HttpError(400, `${what} not found`);
  }
  const what = `container "${container}" in pod "${podName}" is waiting to start`;
  throw new HttpError(400, `${what}: ${waitingReason(waiting?.reason)}`);
}

/** Tracks whether the container runs, until `signal` is aborted. */
async function liveState(
  runtime: LogRuntime,
  run: ContainerStatus,
  signal: AbortSignal,
): Promise<{ isRunning: () => boolean }> {
  let running = run.state === 'running';
  const unsubscribe = runtime.onContainerChanged((id) => {
    if (id === run.id) running = false;
  });
  signal.addEventListener('abort', unsubscribe, { once: true });
  // The container may have ended before the subscription.
  running &&= (await runtime.containerStatus(run.id)).state === 'running';
  return { isRunning: () => running };
}
