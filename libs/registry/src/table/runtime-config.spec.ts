import { definitions } from '@orch/api';
import { describe, expect, it } from 'vitest';
import { ResourceTable } from './resource-table.js';
import { RuntimeConfig } from './runtime-config.js';

function served(...entries: string[]): string[] {
  return new ResourceTable(definitions, new RuntimeConfig(entries, definitions)).served.map(
    ({ group, version, definition }) => `${group}/${version}/${definition.plural}`,
  );
}

const everything = served();

describe('RuntimeConfig', () => {
  it('serves everything by default', () => {
    expect(everything).toEqual(
      new ResourceTable(definitions).served.map(
        ({ group, version, definition }) => `${group}/${version}/${definition.plural}`,
      ),
    );
  });

  it('takes a version or one resource of it away', () => {
    expect(served('apps/v1=false')).toEqual(everything.filter((name) => !name.startsWith('apps/')));
    expect(served('v1/secrets=false')).toEqual(everything.filter((name) => name !== '/v1/secrets'));
  });

  it('lets the more particular key win, whatever the order', () => {
    const only = everything.filter((name) => name === 'apps/v1/deployments');
    expect(served('apps/v1/deployments', 'api/all=false')).toEqual(only);
    expect(served('api/ga=false', 'apps/v1')).toEqual(
      everything.filter((name) => !/\/v\d+\//.test(name) || name.startsWith('apps/')),
    );
  });

  it('retains disabled resources for the server itself', () => {
    const config = new RuntimeConfig(['api/all=false'], definitions);
    const table = new ResourceTable(definitions, config);
    expect(table.served).toEqual([]);
    expect(table.find('', 'v1', 'namespaces')).toBeUndefined();
    expect(table.inStoredVersion('core', 'namespaces')?.version).toBe('v1');
  });

  it.each([
    ['batch', /no "batch" here/],
    ['apps/v7=true', /no "apps\/v7" here/],
    ['apps/v1/pods', /no "apps\/v1\/pods" here/],
    ['apps/v1=perhaps', /apps\/v1: want true or false/],
  ])('refuses %s', (entry, why) => {
    expect(() => served(entry)).toThrow(why);
  });
});
