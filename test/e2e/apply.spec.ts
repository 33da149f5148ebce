/**
 * Server-side apply as users do it: objects of client-side apply taken over, conflicts told of, forced
 * and given up. With our own command line and, in the other dialect, with stock kubectl.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Api } from './support/api.js';
import { Cluster, type DialectName } from './support/cluster.js';
import { type Driver, driverFor } from './support/driver.js';

interface Owned {
  metadata: {
    resourceVersion: string;
    managedFields: { manager: string; operation: string; fieldsV1: Record<string, unknown> }[];
  };
  data: Record<string, string>;
}

const settings: { dialect: DialectName; tool: 'orchctl' | 'kubectl' }[] = [
  { dialect: 'orch', tool: 'orchctl' },
  { dialect: 'kubernetes', tool: 'kubectl' },
];

function manifest(data: Record<string, string>): string {
  return JSON.stringify({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' }, data });
}

describe.each(settings)('apply in the $dialect dialect with $tool', ({ dialect, tool }) => {
  const cluster = new Cluster({ dialect, components: 'apiserver' });
  let ctl: Driver;
  let api: Api;

  beforeAll(async () => {
    await cluster.up();
    ctl = driverFor(cluster, tool);
    api = new Api(cluster);
  });

  afterAll(() => cluster.destroy());

  const apply = (data: Record<string, string>, ...more: string[]) =>
    ctl.pipe(manifest(data), 'apply', '--server-side', '-f', '-', ...more);

  async function stored(): Promise<Owned> {
    return (await api.call<Owned>('GET', '/api/v1/namespaces/default/configmaps/a')).body;
  }

  async function ownerOf(key: string): Promise<string[]> {
    const { metadata } = await stored();
    return metadata.managedFields
      .filter(({ fieldsV1 }) => Object.hasOwn(fieldsV1['f:data'] ?? {}, `f:${key}`))
      .map(({ manager }) => manager);
  }

  it('takes over what client-side apply made, without a conflict', async () => {
    await ctl.pipe(manifest({ x: '1', y: '1' }), 'apply', '-f', '-');
    expect(await ownerOf('x')).toEqual([`${tool}-client-side-apply`]);
    expect(await apply({ x: '2', y: '1' })).toContain('serverside-applied');
    expect((await stored()).data).toEqual({ x: '2', y: '1' });
    expect(await ownerOf('x')).toEqual([tool]);
  });

  it('changes nothing when there is nothing to change', async () => {
    const { metadata } = await stored();
    await apply({ x: '2', y: '1' });
    expect((await stored()).metadata).toEqual(metadata);
  });

  it('tells of conflicts, and takes over when told to', async () => {
    const refused = await apply({ x: '3' }, '--field-manager=other').catch(String);
    expect(refused).toContain(`Apply failed with 1 conflict: conflict with "${tool}": .data.x`);
    expect((await stored()).data).toEqual({ x: '2', y: '1' });
    await apply({ x: '3' }, '--field-manager=other', '--force-conflicts');
    expect((await stored()).data).toEqual({ x: '3', y: '1' });
    expect(await ownerOf('x')).toEqual(['other']);
  });

  it('takes out what is given up and owned by nobody else', async () => {
    await apply({ y: '1' }, '--field-manager=other', '--force-conflicts');
    const { data } = await stored();
    expect(data).toEqual({ y: '1' });
    expect((await ownerOf('y')).toSorted()).toContain('other');
  });

  it('makes nothing on a dry run', async () => {
    const before = await stored();
    await apply({ y: '9' }, '--dry-run=server', '--force-conflicts');
    expect(await stored()).toEqual(before);
  });
});
