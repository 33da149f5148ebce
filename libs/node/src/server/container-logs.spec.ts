/** The log endpoint of the agent over HTTP, with a fake list of runs. */
import { once } from 'node:events';
import { appendFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, get, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { systemClock } from '@orch/component';
import type { Pod } from '@orch/types/core/v1';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type {
  ContainerId,
  ContainerState,
  ContainerStatus,
  SandboxId,
} from '../runtimes/container-runtime.js';
import { type ContainerLogsDependencies, serveContainerLog } from './container-logs.js';

const identity = { uid: 'u', namespace: 'default', name: 'p' };
const address = { namespace: 'default', pod: 'p', container: 'main' };
const line = (second: number, words: string) =>
  `2026-01-01T00:00:0${second}.000000000Z stdout F ${words}\n`;

let directory: string;
let server: Server;
let runs: { attempt: number; state: ContainerState }[];
let waiting: string | undefined;
let ended: (() => void) | undefined;

const status = ({ attempt, state }: (typeof runs)[number]): ContainerStatus => ({
  id: String(attempt) as ContainerId,
  sandboxId: 'sandbox' as SandboxId,
  pod: identity,
  name: 'main',
  attempt,
  state,
  createdAtMs: 0,
  image: 'image',
  imageRef: 'image',
  logPath: join(directory, `${attempt}.log`),
  annotations: {},
});
const runtime: ContainerLogsDependencies['runtime'] = {
  listContainers: async () => runs.map(status),
  containerStatus: async (id) => status(runs.find((run) => String(run.attempt) === id)!),
  onContainerChanged(listener) {
    ended = () => listener(status(runs.at(-1)!).id, identity);
    return () => undefined;
  },
};
const workers = {
  find: (_namespace: string, name: string) =>
    name === 'p'
      ? ({
          metadata: { uid: 'u' },
          spec: { containers: [{ name: 'main' }] },
          status: {
            containerStatuses: waiting
              ? [{ name: 'main', state: { waiting: { reason: waiting } } }]
              : [],
          },
        } as Pod)
      : undefined,
};

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'orch-container-logs-'));
  server = createServer((request, response) => {
    const { searchParams } = new URL(request.url ?? '/', 'http://node');
    const pod = searchParams.get('pod') ?? 'p';
    const parts = { runtime, workers, clock: systemClock };
    void serveContainerLog(parts, { ...address, pod }, searchParams, request, response);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
});

afterAll(() => {
  server.closeAllConnections();
  server.close();
  rmSync(directory, { recursive: true, force: true });
});

beforeEach(() => {
  waiting = undefined;
  runs = [
    { attempt: 0, state: 'exited' },
    { attempt: 1, state: 'running' },
  ];
  writeFileSync(join(directory, '0.log'), line(1, 'before'));
  writeFileSync(join(directory, '1.log'), line(2, 'one') + line(3, 'two'));
});

async function open(query: string): Promise<IncomingMessage> {
  const { port } = server.address() as AddressInfo;
  const asked = get({ host: '127.0.0.1', port, path: `/?${query}`, agent: false });
  const [answer] = await once(asked, 'response');
  return answer as IncomingMessage;
}

async function ask(query: string): Promise<[number, string]> {
  const answer = await open(query);
  return [answer.statusCode ?? 0, await text(answer)];
}

describe('the log of a container', () => {
  it.each([
    ['', 'one\ntwo\n'],
    ['tailLines=1', 'two\n'],
    ['tailLines=0', ''],
    ['limitBytes=5', 'one\nt'],
    ['sinceTime=2026-01-01T00:00:03Z', 'two\n'],
    ['sinceSeconds=1', ''],
    ['timestamps&tailLines=1', '2026-01-01T00:00:03.000000000Z two\n'],
    ['previous=1', 'before\n'],
    ['previous=false&follow=0', 'one\ntwo\n'],
  ])('with "%s" is %j', async (query, expected) => {
    expect(await ask(query)).toEqual([200, expected]);
  });

  it.each([
    ['tailLines=-1', 422],
    ['limitBytes=0', 422],
    ['sinceSeconds=0', 422],
    ['sinceTime=x', 422],
    ['sinceSeconds=1&sinceTime=2026-01-01T00:00:03Z', 422],
    ['pod=other', 404],
  ])('with "%s" is rejected with %i', async (query, code) => {
    expect((await ask(query))[0]).toBe(code);
  });

  it('is rejected with the reason while there is none', async () => {
    runs = [{ attempt: 0, state: 'created' }];
    waiting = 'ImagePullBackOff';
    expect(await ask('')).toEqual([
      400,
      'container "main" in pod "p" is waiting to start: trying and failing to pull image',
    ]);
    expect(await ask('previous=true')).toEqual([
      400,
      'previous terminated container "main" in pod "p" not found',
    ]);
  });

  it('of a waiting container is that of its last run, also with previous', async () => {
    runs = [{ attempt: 0, state: 'exited' }];
    waiting = 'CrashLoopBackOff';
    expect(await ask('')).toEqual([200, 'before\n']);
    expect(await ask('previous=true')).toEqual([200, 'before\n']);
  });

  it('can be followed until the container has ended', async () => {
    const answer = await open('follow=true');
    let said = '';
    answer.on('data', (chunk) => {
      said += chunk;
      if (said === 'one\ntwo\n') appendFileSync(join(directory, '1.log'), line(4, 'three'));
      if (said === 'one\ntwo\nthree\n') ended?.();
    });
    await once(answer, 'end');
    expect(said).toBe('one\ntwo\nthree\n');
  });
});
