import type { RestClient } from '@orch/client';
import { dialect } from '@orch/component';
import { describe, expect, it } from 'vitest';
import { selectionsOf } from './arguments.js';
import { Catalog, qualifiedName, singularTypeName } from './catalog.js';
import { dialectOf } from './session.js';

const type = (
  name: string,
  kind: string,
  shortNames: string[] = [],
  categories: string[] = [],
) => ({
  name,
  singularName: kind.toLowerCase(),
  namespaced: true,
  kind,
  verbs: ['get', 'list'],
  shortNames,
  categories,
});

const answers: Record<string, object> = {
  '/api/v1': {
    resources: [
      type('pods', 'Pod', ['po'], ['all']),
      type('pods/log', 'Pod'),
      type('events', 'Event', ['ev']),
    ],
  },
  '/apis/apps/v1': { resources: [type('deployments', 'Deployment', ['deploy'], ['all'])] },
  '/apis/example.com/v2': { resources: [type('pods', 'Pod'), type('gears', 'Gear', ['gr'])] },
  '/apis/example.com/v1': { resources: [type('gears', 'Gear')] },
};

function catalog() {
  const asked: string[] = [];
  const client = {
    request: async (_method: string, path: string) => {
      asked.push(path);
      return { json: () => answers[path] };
    },
  } as unknown as RestClient;
  const groups = [
    { name: 'apps', versions: [{ version: 'v1' }], preferredVersion: { version: 'v1' } },
    {
      name: 'example.com',
      versions: [{ version: 'v2' }, { version: 'v1' }],
      preferredVersion: { version: 'v2' },
    },
  ];
  return { asked, catalog: new Catalog(client, { groups }) };
}

describe('Catalog', () => {
  it.each(['pods', 'pod', 'po', 'Pod', 'PODS'])('knows pods as %s, core first', async (name) => {
    const found = await catalog().catalog.type(name);
    expect(qualifiedName(found)).toBe('pods');
  });

  it.each([
    ['deploy', 'apps', 'v1'],
    ['deployments.apps', 'apps', 'v1'],
    ['deployment.v1.apps', 'apps', 'v1'],
    ['pods.example.com', 'example.com', 'v2'],
    ['gears.v1.example.com', 'example.com', 'v1'],
    ['gr', 'example.com', 'v2'],
  ])('finds %s', async (name, group, version) => {
    expect(await catalog().catalog.type(name)).toMatchObject({ groupName: group, version });
  });

  it('asks for no more than it needs', async () => {
    const { catalog: one, asked } = catalog();
    await one.type('pods');
    await one.type('deployments');
    await one.type('pod');
    expect(asked).toEqual(['/api/v1', '/apis/apps/v1']);
  });

  it('finds types by the words of objects, and says when there is none', async () => {
    const { catalog: one } = catalog();
    expect(singularTypeName(await one.kind('apps/v1', 'Deployment'))).toBe('deployment.apps');
    await expect(one.kind('apps/v9', 'Deployment')).rejects.toThrow(
      'no matches for kind "Deployment" in version "apps/v9"',
    );
    await expect(one.type('unicorns')).rejects.toThrow(
      'the server doesn\'t have a resource type "unicorns"',
    );
  });

  it('resolves lists, pairs and categories of a command line', async () => {
    const { catalog: one } = catalog();
    const shown = async (...args: string[]) =>
      (await selectionsOf(args, one)).map(({ type: t, names }) => [t.plural, ...names].join(' '));
    expect(await shown('po,deploy')).toEqual(['pods', 'deployments']);
    expect(await shown('pod', 'a', 'b')).toEqual(['pods a b']);
    expect(await shown('pod/a', 'deploy/b')).toEqual(['pods a', 'deployments b']);
    expect(await shown('all')).toEqual(['pods', 'deployments']);
    await expect(shown('pod/a', 'b')).rejects.toThrow('TYPE/NAME');
    await expect(shown()).rejects.toThrow('which resources');
  });
});

it('tells the dialect by the groups that are served', () => {
  const groups = (...names: string[]) => ({
    groups: names.map((name) => ({ name, versions: [] })),
  });
  const own = (head: string) => dialect().group(head);
  expect(dialectOf(groups('apps', own('events'), own('storage')))).toBe('orch');
  expect(dialectOf(groups('apps', 'events.k8s.io', 'storage.k8s.io'))).toBe('kubernetes');
});
