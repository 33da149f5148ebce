import { dialect } from '@orch/component';
import { describe, expect, it } from 'vitest';
import { jsonResponse } from '../../../client/src/testing/json-response.js';
import { selectionsOf } from '../resources/selection.js';
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

const responses: Record<string, object> = {
  '/api/v1': {
    resources: [
      type('pods', 'Pod', ['po'], ['all']),
      type('pods/log', 'Pod'),
      type('events', 'Event', ['ev']),
    ],
  },
  '/apis/apps/v1': { resources: [type('deployments', 'Deployment', ['deploy'], ['all'])] },
  '/apis/example.com/v2': { resources: [type('pods', 'Pod'), type('gears', 'Gear', ['gr'])] },
  '/apis/example.com/v1': { resources: [type('gears', 'Gear'), type('cogs', 'Cog', ['co'])] },
};

function catalog() {
  const requestedPaths: string[] = [];
  const client = {
    request: async (_method: string, path: string) => {
      requestedPaths.push(path);
      return jsonResponse(responses[path]);
    },
  };
  const groups = [
    { name: 'apps', versions: [{ version: 'v1' }], preferredVersion: { version: 'v1' } },
    {
      name: 'example.com',
      versions: [{ version: 'v2' }, { version: 'v1' }],
      preferredVersion: { version: 'v2' },
    },
  ];
  return { requestedPaths, catalog: new Catalog(client, { groups }) };
}

describe('Catalog', () => {
  it.each(['cogs', 'co', 'cogs.example.com', 'cogs.v1.example.com'])(
    'finds a type that the preferred version of its group lacks: %s',
    async (name) => {
      expect(await catalog().catalog.type(name)).toMatchObject({ plural: 'cogs', version: 'v1' });
    },
  );

  it('lists each type once, in the preferred version if that has it', async () => {
    const types = await catalog().catalog.preferred();
    const inGroup = types.filter(({ groupName }) => groupName === 'example.com');
    expect(inGroup.map(({ plural, version }) => `${plural} ${version}`)).toEqual([
      'pods v2',
      'gears v2',
      'cogs v1',
    ]);
  });

  it.each(['pods', 'pod', 'po', 'Pod', 'PODS'])('finds pods as %s, core first', async (name) => {
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

  it('discovers only the groups that it needs', async () => {
    const { catalog: client, requestedPaths } = catalog();
    await client.type('pods');
    await client.type('deployments');
    await client.type('pod');
    expect(requestedPaths).toEqual(['/api/v1', '/apis/apps/v1']);
  });

  it('finds types by apiVersion and kind, and rejects unknown ones', async () => {
    const { catalog: client } = catalog();
    expect(singularTypeName(await client.kind('apps/v1', 'Deployment'))).toBe('deployment.apps');
    await expect(client.kind('apps/v9', 'Deployment')).rejects.toThrow(
      'no matches for kind "Deployment" in version "apps/v9"',
    );
    await expect(client.type('unicorns')).rejects.toThrow(
      'the server doesn\'t have a resource type "unicorns"',
    );
  });

  it('resolves lists, pairs and categories of a command line', async () => {
    const { catalog: client } = catalog();
    const selected = async (...args: string[]) =>
      (await selectionsOf(args, client)).map(({ type: t, names }) =>
        [t.plural, ...names].join(' '),
      );
    expect(await selected('po,deploy')).toEqual(['pods', 'deployments']);
    expect(await selected('pod', 'a', 'b')).toEqual(['pods a b']);
    expect(await selected('pod/a', 'deploy/b')).toEqual(['pods a', 'deployments b']);
    expect(await selected('all')).toEqual(['pods', 'deployments']);
    await expect(selected('pod/a', 'b')).rejects.toThrow('TYPE/NAME');
    await expect(selected()).rejects.toThrow('must specify resources');
  });
});

it('detects the dialect from the served groups', () => {
  const groups = (...names: string[]) => ({
    groups: names.map((name) => ({ name, versions: [] })),
  });
  const own = (head: string) => dialect().group(head);
  expect(dialectOf(groups('apps', own('events'), own('storage')))).toBe('orch');
  expect(dialectOf(groups('apps', 'events.k8s.io', 'storage.k8s.io'))).toBe('kubernetes');
});
