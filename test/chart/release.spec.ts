/** A release of the real helm: installed, upgraded and uninstalled on a host. */
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { stockTool } from '../e2e/support/kubectl.js';
import { must } from '../e2e/support/process.js';
import { chart } from './support/helm.js';
import { HostServer } from './support/server.js';

const host = new HostServer();
// Requires StatefulSets and Jobs, which this host does not serve yet.
const common = [
  ...[`--namespace=control`, '--set=apiserver.membership.enabled=false'],
  `--post-renderer=${join(import.meta.dirname, 'support/served-kinds.mjs')}`,
];

beforeAll(() => host.start());
afterAll(() => host.stop());

const helm = (args: readonly string[]) =>
  must(stockTool('helm'), [...args, `--kubeconfig=${host.kubeconfig}`]);

async function data(kind: string): Promise<Map<string, object>> {
  const text = await must(stockTool('kubectl'), [
    ...[`--kubeconfig=${host.kubeconfig}`, '-n', 'control', 'get', kind, '-o', 'json'],
    '--selector=app.kubernetes.io/instance=orch',
  ]);
  const { items } = JSON.parse(text) as { items: { metadata: { name: string }; data: object }[] };
  return new Map(items.map((item) => [item.metadata.name, item.data]));
}

describe('a release', () => {
  let secrets: Map<string, object>;

  it('is installed', async () => {
    const said = await helm(['install', 'orch', chart, '--create-namespace', ...common]);
    expect(said).toContain('STATUS: deployed');
    expect(said).toContain('rollout status statefulset/orch-apiserver');
    secrets = await data('secrets');
    expect(secrets.size).toBeGreaterThan(9);
  });

  it('stores no generated value among its values', async () => {
    const values = await helm(['get', 'values', 'orch', '--namespace=control', '--all']);
    expect(values).toContain('antiAffinity: hard');
    expect(values).not.toMatch(/^made:|PRIVATE KEY/m);
  });

  it('is upgraded without a new key, token or certificate', async () => {
    await helm(['upgrade', 'orch', chart, ...common, '--set=apiserver.replicas=5']);
    const now = await data('secrets');
    // The kubeconfig names the replicas.
    expect(now.get('orch-kubeconfig')).not.toEqual(secrets.get('orch-kubeconfig'));
    now.delete('orch-kubeconfig');
    secrets.delete('orch-kubeconfig');
    expect(now).toEqual(secrets);
  });

  it('retains the objects of the volumes, and reuses them when installed again', async () => {
    await helm(['uninstall', 'orch', '--namespace=control']);
    const left = await data('secrets');
    expect(left.has('orch-kubeconfig')).toBe(false);
    for (const name of ['ca', 'peer-ca', 'apiserver-tls', 'peer-tls', 'tokens']) {
      expect(left.get(`orch-${name}`), name).toEqual(secrets.get(`orch-${name}`));
    }
    expect((await data('configmaps')).get('orch-beginning')).toMatchObject({
      initialReplicas: '3',
    });
    await helm(['install', 'orch', chart, ...common]);
    const again = await data('secrets');
    again.delete('orch-kubeconfig');
    expect(again).toEqual(secrets);
  });
});
