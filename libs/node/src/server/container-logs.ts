/** Serves the log of one container: `/containerLogs/<namespace>/<pod>/<container>`. */
import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { parseTime } from '@orch/apimachinery';
import type { Clock } from '@orch/component';
import { type LogQuery, readLog } from '../logs/log-reader.js';
import { reasonToWait, runWithLog } from '../logs/log-run.js';
import { allContainersOf, allStatusesOf } from '../pods/pod-view.js';
import type { PodWorkers } from '../pods/pod-workers.js';
import type { ContainerRuntime, ContainerStatus } from '../runtimes/container-runtime.js';
import { Refusal } from './refusal.js';

export interface ContainerLogsParts {
  readonly runtime: ContainerRuntime;
  readonly workers: PodWorkers;
  readonly clock: Clock;
}

export interface LogAddress {
  readonly namespace: string;
  readonly pod: string;
  readonly container: string;
}

export async function serveContainerLog(
  parts: ContainerLogsParts,
  address: LogAddress,
  parameters: URLSearchParams,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const ended = new AbortController();
  response.on('close', () => ended.abort());
  try {
    const query = logQuery(parameters, parts.clock.nowMs());
    const run = await findRun(parts, address, isSet(parameters, 'previous'));
    const state = await liveState(parts.runtime, run, ended.signal);
    response.writeHead(200, { 'content-type': 'text/plain; charset=utf-8' });
    response.flushHeaders();
    for await (const text of readLog(
      { path: run.logPath, isRunning: state.isRunning },
      query,
      parts.clock,
      ended.signal,
    )) {
      if (!response.write(text)) await once(response, 'drain', { signal: ended.signal });
    }
    response.end();
  } catch (error) {
    if (ended.signal.aborted) return;
    if (!(error instanceof Refusal)) throw error;
    response.writeHead(error.statusCode, { 'content-type': 'text/plain; charset=utf-8' });
    response.end(error.message);
  } finally {
    ended.abort();
    request.resume();
  }
}

/** Given, and neither `0` nor `false`. */
function isSet(parameters: URLSearchParams, name: string): boolean {
  const value = parameters.get(name);
  return value !== null && value !== '0' && value.toLowerCase() !== 'false';
}

/** Throws a refusal for what is no number or time. */
function logQuery(parameters: URLSearchParams, nowMs: number): LogQuery {
  const count = (name: string, least: number): number | undefined => {
    const text = parameters.get(name);
    if (text === null) return undefined;
    const value = Number(text);
    if (!Number.isInteger(value) || value < least) {
      throw new Refusal(422, `invalid ${name}: "${text}" must be a whole number, ${least} or more`);
    }
    return value;
  };
  const sinceSeconds = count('sinceSeconds', 1);
  const sinceText = parameters.get('sinceTime');
  const sinceTime = sinceText === null ? undefined : parseTime(sinceText);
  if (sinceText !== null && sinceTime === undefined) {
    throw new Refusal(422, `invalid sinceTime: "${sinceText}"`);
  }
  if (sinceSeconds !== undefined && sinceTime !== undefined) {
    throw new Refusal(422, 'at most one of sinceTime or sinceSeconds may be specified');
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
  { runtime, workers }: ContainerLogsParts,
  { namespace, pod: podName, container }: LogAddress,
  previous: boolean,
): Promise<ContainerStatus> {
  const pod = workers.find(namespace, podName);
  if (!pod) throw new Refusal(404, `pod "${podName}" not found in namespace "${namespace}"`);
  if (!allContainersOf(pod).some(({ name }) => name === container)) {
    throw new Refusal(404, `container "${container}" in pod "${podName}" is not available`);
  }
  const waiting = allStatusesOf(pod).find(({ name }) => name === container)?.state?.waiting;
  const runs = (await runtime.listContainers(pod.metadata?.uid)).filter(
    ({ name }) => name === container,
  );
  const run = runWithLog(runs, waiting !== undefined, previous);
  if (run) return run;
  if (previous) {
    const what = `previous terminated container "${container}" in pod "${podName}"`;
    throw new Refusal(400, `${what} not found`);
  }
  const what = `container "${container}" in pod "${podName}" is waiting to start`;
  throw new Refusal(400, `${what}: ${reasonToWait(waiting?.reason)}`);
}

/** Whether the container runs, kept up to date until `signal`. */
async function liveState(
  runtime: ContainerRuntime,
  run: ContainerStatus,
  signal: AbortSignal,
): Promise<{ isRunning: () => boolean }> {
  let running = run.state === 'running';
  const unsubscribe = runtime.onContainerChanged((id) => {
    if (id === run.id) running = false;
  });
  signal.addEventListener('abort', unsubscribe, { once: true });
  // It may have ended between the two looks.
  running &&= (await runtime.containerStatus(run.id)).state === 'running';
  return { isRunning: () => running };
}
