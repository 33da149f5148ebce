import { dialect } from '@orch/component';
import { describe, expect, it } from 'vitest';
import { MemoryApiClient } from '../../../client/src/testing/memory-api-client.js';
import { MemoryApiServer } from '../../../client/src/testing/memory-api-server.js';
import { UsageError } from '../command-line/errors.js';
import { Catalog } from '../session/catalog.js';
import { policyRules, type RuleFlags } from './policy-rules.js';

async function rulesOf(flags: RuleFlags) {
  const client = new MemoryApiClient(new MemoryApiServer());
  const groups = (await client.request('GET', '/apis')).json<object>();
  return policyRules(flags, new Catalog(client, groups));
}

describe('policyRules', () => {
  it('returns one rule per group, with all verbs and names', async () => {
    const { rules, warnings } = await rulesOf({
      verb: ['get', 'list', 'get'],
      resource: ['deployment.apps/scale', 'pods', 'pods/log', 'configmap'],
      resourceName: ['a', 'b'],
    });
    const shared = { verbs: ['get', 'list'], resourceNames: ['a', 'b'] };
    expect(rules).toEqual([
      { ...shared, apiGroups: [''], resources: ['pods', 'pods/log', 'configmaps'] },
      { ...shared, apiGroups: ['apps'], resources: ['deployments/scale'] },
    ]);
    expect(warnings).toEqual([]);
  });

  it('reduces lists with a wildcard to it', async () => {
    const all = { verb: ['get', '*'], resource: ['pods', '*'] };
    expect((await rulesOf(all)).rules).toEqual([
      { verbs: ['*'], apiGroups: [''], resources: ['*'] },
    ]);
    const inGroup = { verb: ['get'], resource: ['*.apps', '*/scale'] };
    expect((await rulesOf(inGroup)).rules).toEqual([
      { verbs: ['get'], apiGroups: [''], resources: ['*/scale'] },
      { verbs: ['get'], apiGroups: ['apps'], resources: ['*'] },
    ]);
  });

  it('accepts resources that only permissions refer to', async () => {
    const group = dialect().group('authentication');
    const resource = ['users', `userextras.${group}/scopes`];
    expect((await rulesOf({ verb: ['impersonate'], resource })).rules).toEqual([
      { verbs: ['impersonate'], apiGroups: [''], resources: ['users'] },
      { verbs: ['impersonate'], apiGroups: [group], resources: ['userextras/scopes'] },
    ]);
  });

  it('warns about unknown verbs and rejects unknown types', async () => {
    const odd = await rulesOf({ verb: ['frob'], resource: ['pods'] });
    expect(odd.warnings).toEqual(["'frob' is not a standard resource verb"]);
    await expect(rulesOf({ verb: ['get'], resource: ['gears'] })).rejects.toThrow(
      'the server doesn\'t have a resource type "gears"',
    );
    await expect(rulesOf({ verb: ['get'], resource: ['gears.example.com'] })).rejects.toThrow(
      'the server doesn\'t have a resource type "gears" in group "example.com"',
    );
  });

  it.each([
    [{ resource: ['pods'] }, 'at least one verb must be specified'],
    [{ verb: ['get'], resource: ['/log'] }, 'resource must be specified'],
    [{ verb: ['get'], nonResourceUrl: ['logs'] }, 'nonResourceURL should start with /'],
    [{ verb: ['get'], nonResourceUrl: ['/a*/b'] }, 'only supports wildcard matches'],
    [{ verb: ['list'], nonResourceUrl: ['/a'] }, "invalid verb: 'list' for nonResourceURL"],
    [{ verb: ['get'], resourceName: ['a'], nonResourceUrl: ['/a'] }, 'give --resource too'],
  ] as const)('rejects %j', async (flags, message) => {
    await expect(rulesOf(flags)).rejects.toThrow(message);
    await expect(rulesOf(flags)).rejects.toThrow(UsageError);
  });
});
