/**
 * Every cell of the interface's tables of resource versions, on a real server: gets, lists with and
 * without a limit, pages, and watches.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Api } from './support/api.js';
import { Cluster } from './support/cluster.js';

interface ConfigMap {
  metadata: { name: string; resourceVersion: string };
  data?: Record<string, string>;
}

interface List {
  kind: string;
  reason?: string;
  message?: string;
  metadata: { resourceVersion: string; continue?: string; remainingItemCount?: number };
  items: ConfigMap[];
}

const path = '/api/v1/namespaces/default/configmaps';
const future = '1000000000000';

describe('resource versions', () => {
  const cluster = new Cluster({ dialect: 'orch', replicas: 1, components: 'apiserver' });
  let api: Api;
  /** Versions by the write that created them; a query refers to one as `{name}`. */
  const versions: Record<string, string> = {};

  async function write(step: string, method: string, name: string, value: string): Promise<void> {
    const object = { metadata: { name }, data: { value } };
    const target = method === 'POST' ? path : `${path}/${name}`;
    const answer = await api.call<ConfigMap>(
      method,
      target,
      method === 'DELETE' ? undefined : object,
    );
    expect(answer.status).toBeLessThan(300);
    if (method !== 'DELETE') versions[step] = answer.body.metadata.resourceVersion;
  }

  const filled = (query: string) => query.replace(/\{(\w+)\}/g, (_, name) => versions[name] ?? '');

  async function list(query: string) {
    return api.call<List>('GET', `${path}?${filled(query)}`);
  }

  /**
   * `b=2 c=1 @exact`: the listed values, and whether the version is the requested or a later one.
   */
  async function shown(query: string): Promise<string> {
    const { status, body } = await list(query);
    if (status !== 200) return `${status} ${body.reason} ${body.message}`;
    const names = body.items.map(({ metadata, data }) => `${metadata.name}=${data?.value}`).sort();
    const asked = new URLSearchParams(filled(query)).get('resourceVersion') ?? '';
    const relation = body.metadata.resourceVersion === asked ? 'exact' : 'newest';
    const more = body.metadata.continue ? ' more' : '';
    return `${names.join(' ')} @${relation}${more}`;
  }

  beforeAll(async () => {
    await cluster.up();
    api = new Api(cluster);
    const before = (await list('')).body.items.map(({ metadata }) => metadata.name);
    for (const name of before) await api.call('DELETE', `${path}/${name}`);
    await write('a', 'POST', 'a', '1');
    await write('b', 'POST', 'b', '1');
    await write('c', 'POST', 'c', '1');
    await write('', 'DELETE', 'a', '');
    await write('b2', 'PUT', 'b', '2');
    await write('d', 'POST', 'd', '1');
    // A write elsewhere makes the latest list newer than any object in it.
    await api.call('POST', '/api/v1/namespaces/default/secrets', { metadata: { name: 's' } });
  });

  afterAll(() => cluster.destroy());

  const all = 'b=2 c=1 d=1';
  it.each([
    ['', `${all} @newest`],
    ['resourceVersion=', `${all} @newest`],
    ['resourceVersion=0', `${all} @newest`],
    ['resourceVersion={c}', `${all} @newest`],
    ['limit=2', 'b=2 c=1 @newest more'],
    ['limit=2&resourceVersion=0', `${all} @newest`],
    ['limit=2&resourceVersion={c}', 'a=1 b=1 @exact more'],
    ['limit=3&resourceVersion={c}', 'a=1 b=1 c=1 @exact'],
    ['resourceVersionMatch=Exact&resourceVersion={c}', 'a=1 b=1 c=1 @exact'],
    ['resourceVersionMatch=Exact&resourceVersion={b2}', 'b=2 c=1 @exact'],
    ['resourceVersionMatch=Exact&limit=1&resourceVersion={d}', 'b=2 @exact more'],
    ['resourceVersionMatch=NotOlderThan&resourceVersion=0', `${all} @newest`],
    ['resourceVersionMatch=NotOlderThan&resourceVersion=0&limit=1', `${all} @newest`],
    ['resourceVersionMatch=NotOlderThan&resourceVersion={c}', `${all} @newest`],
    ['resourceVersionMatch=NotOlderThan&resourceVersion={c}&limit=1', 'b=2 @newest more'],
  ])('a list with "%s" has %s', async (query, expected) => {
    expect(await shown(query)).toBe(expected);
  });

  const wrongMatch = (...reasons: string[]) => {
    const text = reasons.map((reason) => `resourceVersionMatch: ${reason}`).join(', ');
    return `422 Invalid ListOptions.meta.orch.io "" is invalid: ${reasons.length > 1 ? `[${text}]` : text}`;
  };
  const needsVersion =
    'Forbidden: resourceVersionMatch is forbidden unless resourceVersion is provided';
  const notWithContinue = 'Forbidden: resourceVersionMatch is forbidden when continue is provided';
  const notZero = 'Forbidden: resourceVersionMatch "exact" is forbidden for resourceVersion "0"';
  const unknown = 'Unsupported value: "Nope": supported values: "Exact", "NotOlderThan", ""';
  it.each([
    ['resourceVersionMatch=Exact', wrongMatch(needsVersion)],
    ['resourceVersionMatch=Exact&limit=2', wrongMatch(needsVersion)],
    ['resourceVersionMatch=NotOlderThan', wrongMatch(needsVersion)],
    ['resourceVersionMatch=NotOlderThan&limit=2', wrongMatch(needsVersion)],
    ['resourceVersionMatch=Exact&resourceVersion=0', wrongMatch(notZero)],
    ['resourceVersionMatch=Exact&resourceVersion=0&limit=2', wrongMatch(notZero)],
    ['resourceVersionMatch=Nope&resourceVersion=0', wrongMatch(unknown)],
    ['resourceVersionMatch=Exact&resourceVersion=5&continue=x', wrongMatch(notWithContinue)],
    ['resourceVersionMatch=Nope&continue=x', wrongMatch(needsVersion, notWithContinue, unknown)],
  ])('a list with "%s" is refused', async (query, expected) => {
    expect(await shown(query)).toBe(expected);
  });

  it.each([
    ['', 'c', 200],
    ['resourceVersion=0', 'c', 200],
    ['resourceVersion={d}', 'c', 200],
    ['resourceVersion={c}&resourceVersionMatch=Exact', 'a', 404],
    ['', 'a', 404],
    ['resourceVersion=x', 'c', 400],
  ])('a get with "%s" of %s returns %i', async (query, name, status) => {
    expect((await api.call('GET', `${path}/${name}?${filled(query)}`)).status).toBe(status);
  });

  it.each([
    `${path}?resourceVersion=${future}`,
    `${path}?resourceVersion=${future}&resourceVersionMatch=NotOlderThan`,
    `${path}/c?resourceVersion=${future}`,
  ])('%s waits for a short time, then returns a time to retry', async (target) => {
    const { status, headers, bytes } = await api.exchange('GET', target, {});
    const body = JSON.parse(bytes.toString()) as { message: string; reason: string };
    expect([status, body.reason, headers['retry-after']]).toEqual([504, 'Timeout', '1']);
    expect(body.message).toContain(`Timeout: Too large resource version: ${future}, current: `);
  });

  it('an exact list of a future version is refused', async () => {
    const query = `resourceVersion=${future}&resourceVersionMatch=Exact`;
    expect(await shown(query)).toContain('410 Expired');
  });

  /** Names and types of the events of a short watch. */
  async function events(target: string): Promise<string> {
    const { status, bytes } = await api.exchange('GET', filled(target), {});
    const text = bytes.toString().trim();
    if (status !== 200) return `${status} ${(JSON.parse(text) as List).message}`;
    const lines = text === '' ? [] : text.split('\n');
    return lines
      .map((line) => JSON.parse(line) as { type: string; object: ConfigMap })
      .map(({ type, object }) => `${type} ${object.metadata.name}`)
      .join(', ');
  }

  const added = 'ADDED b, ADDED c, ADDED d';
  const short = 'timeoutSeconds=2';
  it.concurrent.each([
    [`${path}?watch=true&${short}`, added],
    [`${path}?watch=1&resourceVersion=0&${short}`, added],
    [`${path}?watch=true&resourceVersion={b}&${short}`, 'ADDED c, DELETED a, MODIFIED b, ADDED d'],
    [`${path}?watch=true&resourceVersion={d}&${short}`, ''],
    [`${path}?watch=true&resourceVersion=${future}&${short}`, ''],
    [`${path}?watch=true&resourceVersion={b}&fieldSelector=metadata.name=b&${short}`, 'MODIFIED b'],
    [`/api/v1/watch/namespaces/default/configmaps?${short}`, added],
    [
      `/api/v1/watch/configmaps?resourceVersion={c}&${short}&fieldSelector=metadata.namespace=default`,
      'DELETED a, MODIFIED b, ADDED d',
    ],
    [`/api/v1/watch/namespaces/default/configmaps/b?${short}`, 'ADDED b'],
    [`/api/v1/watch/namespaces/default/configmaps/b?resourceVersion={b}&${short}`, 'MODIFIED b'],
    [
      `/api/v1/watch/namespaces/default/configmaps/b?${short}&fieldSelector=metadata.name=b`,
      'ADDED b',
    ],
    [
      `/api/v1/watch/namespaces/default/configmaps/b?${short}&fieldSelector=metadata.name=c`,
      "400 fieldSelector metadata.name doesn't match requested name",
    ],
    [
      `/api/v1/watch/namespaces/default/configmaps/b?${short}&fieldSelector=metadata.name!=c`,
      "400 fieldSelector metadata.name doesn't match requested name",
    ],
    [
      `${path}?watch=true&resourceVersion=x`,
      '400 resourceVersion: Invalid value: "x": strconv.ParseUint: parsing "x": invalid syntax',
    ],
    [
      `${path}?watch=true&resourceVersionMatch=Exact&resourceVersion={b}`,
      '422 ListOptions.meta.orch.io "" is invalid: resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden for watch',
    ],
  ])('%s returns "%s"', async (target, expected) => {
    expect(await events(target)).toBe(expected);
  });

  it('pages have one version with any limit, despite writes between them', async () => {
    const { body: first } = await list('limit=1');
    const token = first.metadata.continue;
    expect(first.metadata.remainingItemCount).toBe(2);
    await write('later', 'POST', 'cc', '1');
    const rest = await list(`limit=1&continue=${token}&resourceVersion=0`);
    expect(rest.body.metadata.resourceVersion).toBe(first.metadata.resourceVersion);
    expect(rest.body.metadata.remainingItemCount).toBe(1);
    const last = await list(`continue=${token}`);
    expect(last.body.items.map(({ metadata }) => metadata.name)).toEqual(['c', 'd']);
    expect(last.body.metadata.continue ?? '').toBe('');
    await api.call('DELETE', `${path}/cc`);
    const refused = await list(`limit=1&continue=${token}&resourceVersion={d}`);
    expect([refused.status, refused.body.message]).toEqual([
      400,
      'specifying resource version is not allowed when using continue',
    ]);
    const foreign = await list('limit=1&continue=bm9uZQ');
    expect(foreign.body.message).toContain('invalid continue token: continue key is not valid: ');
  });
});
