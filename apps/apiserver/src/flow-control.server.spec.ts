/** Priority and fairness of a complete server. */
import { once } from 'node:events';
import type { ClientRequest, IncomingMessage } from 'node:http';
import { request } from 'node:https';
import { text } from 'node:stream/consumers';
import { dialect } from '@orch/component';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { RunningServer } from './testing/running-server.js';

const configMaps = '/api/v1/namespaces/default/configmaps';
const dumps = '/debug/api_priority_and_fairness';
const group = () => `/apis/${dialect().group('flowcontrol.apiserver')}/v1beta1`;
const headerNames = () =>
  ['pf-flowschema-uid', 'pf-prioritylevel-uid'].map((name) => dialect().header(name));

/** A level with half of all shares: the other levels together have 205. */
const level = (name: string, limitResponse: object) => ({
  metadata: { name },
  spec: { type: 'Limited', limited: { assuredConcurrencyShares: 205, limitResponse } },
});

function schema(name: string, levelName: string, users: readonly string[]) {
  const all = ['*'];
  return {
    metadata: { name },
    spec: {
      priorityLevelConfiguration: { name: levelName },
      matchingPrecedence: 50,
      distinguisherMethod: { type: 'ByUser' },
      rules: [
        {
          subjects: users.map((user) => ({ kind: 'User', user: { name: user } })),
          resourceRules: [{ verbs: all, apiGroups: all, resources: all, namespaces: all }],
        },
      ],
    },
  };
}

describe('a server with priority and fairness', () => {
  let server: RunningServer;

  const as = (user: string) => ({ headers: { authorization: `Bearer ${user}` } });

  beforeAll(async () => {
    // The level of a test gets half of the ten seats.
    server = await RunningServer.start(
      ['--max-requests-inflight=6', '--max-mutating-requests-inflight=4'],
      { users: ['noisy', 'quiet', 'hasty'] },
    );
    await server.grantEverything(['noisy', 'quiet', 'hasty']);
  }, 30_000);

  afterAll(() => server.stop());

  async function levelRow(name: string): Promise<string[]> {
    const { text: table } = await server.call('GET', `${dumps}/dump_priority_levels`);
    const row = table.split('\n').find((line) => line.startsWith(`${name},`));
    return row?.split(/, */) ?? [];
  }

  /** Sends creates with incomplete bodies, so that they occupy their seats. */
  function hold(user: string, count: number) {
    return Array.from({ length: count }, () => {
      const body = JSON.stringify({ metadata: { generateName: `${user}-` } });
      const sending = request({
        host: '127.0.0.1',
        port: server.port,
        path: configMaps,
        method: 'POST',
        agent: false,
        rejectUnauthorized: false,
        headers: {
          ...as(user).headers,
          'content-type': 'application/json',
          'content-length': String(body.length),
        },
      });
      sending.write(body.slice(0, 5));
      return new Held(sending, body.slice(5));
    });
  }

  it('returns the schema and level of a request in the headers of every response', async () => {
    const uidOf = async (plural: string, name: string) =>
      (await server.must('GET', `${group()}/${plural}/${name}`)).metadata.uid;
    const exempt = [
      await uidOf('flowschemas', 'exempt'),
      await uidOf('prioritylevelconfigurations', 'exempt'),
    ];
    for (const path of [configMaps, `${configMaps}/none`, '/apis/apps/v1']) {
      const { headers } = await server.call('GET', path);
      expect(headerNames().map((name) => headers[name])).toEqual(exempt);
    }
    const globalDefault = [
      await uidOf('flowschemas', 'global-default'),
      await uidOf('prioritylevelconfigurations', 'global-default'),
    ];
    const { headers } = await server.call('GET', configMaps, as('quiet'));
    expect(headerNames().map((name) => headers[name])).toEqual(globalDefault);
    const unknown = await server.call('GET', configMaps, as('stranger'));
    expect(unknown.code).toBe(401);
    expect(headerNames().map((name) => unknown.headers[name])).toEqual([undefined, undefined]);
  });

  it('dispatches a quiet user round-robin with the queues of a noisy one, without loss', async () => {
    const queuing = { queues: 16, handSize: 2, queueLengthLimit: 50 };
    const levels = `${group()}/prioritylevelconfigurations`;
    await server.must('POST', levels, level('shared', { type: 'Queue', queuing }));
    await server.must(
      'POST',
      `${group()}/flowschemas`,
      schema('both', 'shared', ['noisy', 'quiet']),
    );
    await vi.waitFor(async () => expect(await levelRow('shared')).toHaveLength(6));
    const executing = hold('noisy', 5);
    await vi.waitFor(async () => expect((await levelRow('shared')).slice(4)).toEqual(['0', '5']));
    const waiting = hold('noisy', 25);
    await vi.waitFor(async () => expect((await levelRow('shared')).slice(4)).toEqual(['25', '5']));
    const pending = server.call('GET', `${configMaps}/none`, as('quiet'));
    await vi.waitFor(async () => expect((await levelRow('shared')).slice(4)).toEqual(['26', '5']));
    const details = `${dumps}/dump_requests?includeRequestDetails=1`;
    const { text: table } = await server.call('GET', details);
    expect(table.split('\n').filter((line) => / noisy, +create, /.test(line))).toHaveLength(25);
    expect(table).toMatch(/ quiet, +get, +\/api\/v1\/namespaces\/default\/configmaps\/none, /);
    // The noisy user has two queues.
    for (const held of executing.slice(0, 2)) held.end();
    expect((await pending).code).toBe(404);
    // The released seats are occupied by two of the waiting requests.
    expect(waiting.filter(({ response }) => response)).toEqual([]);
    for (const held of [...executing.slice(2), ...waiting]) held.end();
    for (const held of [...executing, ...waiting]) expect(await held.code()).toBe(201);
  });

  it('drains a deleted level in which requests wait', async () => {
    const queuing = { queues: 4, handSize: 1, queueLengthLimit: 50 };
    const levels = `${group()}/prioritylevelconfigurations`;
    await server.must('POST', levels, level('brief', { type: 'Queue', queuing }));
    await server.must('POST', `${group()}/flowschemas`, schema('brief', 'brief', ['hasty']));
    await vi.waitFor(async () => expect(await levelRow('brief')).toHaveLength(6));
    const held = hold('hasty', 12);
    await vi.waitFor(async () => expect((await levelRow('brief'))[4]).not.toBe('0'));
    await server.must('DELETE', `${group()}/flowschemas/brief`);
    await server.must('DELETE', `${levels}/brief`);
    await vi.waitFor(async () => expect((await levelRow('brief'))[3]).toBe('true'));
    for (const one of held) one.end();
    for (const one of held) expect(await one.code()).toBe(201);
    await vi.waitFor(async () => expect(await levelRow('brief')).toEqual([]));
  });

  it('rejects requests without a seat in plain text, except of the administrator', async () => {
    const levels = `${group()}/prioritylevelconfigurations`;
    await server.must('POST', levels, level('strict', { type: 'Reject' }));
    await server.must('POST', `${group()}/flowschemas`, schema('strict', 'strict', ['hasty']));
    await vi.waitFor(async () => expect(await levelRow('strict')).toHaveLength(6));
    const held = hold('hasty', 20);
    const responses = () => held.flatMap(({ response }) => response ?? []);
    await vi.waitFor(async () => {
      const [, , , , , executingCount] = await levelRow('strict');
      expect(Number(executingCount) + responses().length).toBe(20);
    });
    const [refused] = responses() as [IncomingMessage];
    expect(refused.statusCode).toBe(429);
    expect(refused.headers).toMatchObject({
      'retry-after': '1',
      'content-type': 'text/plain; charset=utf-8',
      'x-content-type-options': 'nosniff',
    });
    expect(await server.call('GET', configMaps, as('hasty'))).toMatchObject({
      code: 429,
      text: 'Too many requests, please try again later.\n',
    });
    expect((await server.call('GET', configMaps)).code).toBe(200);
    expect((await server.call('GET', configMaps, as('quiet'))).code).toBe(200);
    for (const one of held) if (!one.response) one.end();
    const codes = await Promise.all(held.map((one) => one.code()));
    expect(new Set(codes)).toEqual(new Set([201, 429]));
  });
});

describe('a server without priority and fairness', () => {
  it.each(['--feature-gates=APIPriorityAndFairness=false', '--enable-priority-and-fairness=false'])(
    'has only the two limits: %s',
    async (flag) => {
      const server = await RunningServer.start([flag]);
      try {
        const { code, headers } = await server.call('GET', configMaps);
        expect([code, ...headerNames().map((name) => headers[name])]).toEqual([
          200,
          undefined,
          undefined,
        ]);
        expect((await server.call('GET', `${dumps}/dump_queues`)).code).toBe(404);
        const { text: metrics } = await server.call('GET', '/metrics');
        expect(metrics).toContain(
          '\napiserver_current_inflight_requests{request_kind="readOnly"} 1',
        );
        expect(metrics).not.toContain('apiserver_flowcontrol_');
      } finally {
        await server.stop();
      }
    },
  );

  it('is the only one that may disable both limits', async () => {
    const none = ['--max-requests-inflight=0', '--max-mutating-requests-inflight=0'];
    await expect(RunningServer.start(none)).rejects.toThrow('their sum must be positive');
  });
});

/** A request whose body is incomplete until `end`. */
class Held {
  response: IncomingMessage | undefined;
  private readonly status: Promise<number>;

  constructor(
    private readonly sending: ClientRequest,
    private readonly rest: string,
  ) {
    this.status = once(sending, 'response').then(async ([response]) => {
      this.response = response as IncomingMessage;
      await text(this.response);
      return this.response.statusCode ?? 0;
    });
  }

  end(): void {
    this.sending.end(this.rest);
  }

  code(): Promise<number> {
    return this.status;
  }
}
