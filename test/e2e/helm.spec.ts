/** Stock Helm in the `kubernetes` dialect: the life of a release, from installation to removal. */
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Cluster } from './support/cluster.js';
import { driverFor } from './support/driver.js';
import { stockTool } from './support/kubectl.js';
import { type Outcome, run } from './support/process.js';
import { eventually } from './support/wait.js';

const cluster = new Cluster({ dialect: 'kubernetes', replicas: 1 });
const kubectl = driverFor(cluster, 'kubectl');
const chart = join(import.meta.dirname, 'helm-chart');
const awaited = ['--wait', '--timeout', '60s'];

beforeAll(() => cluster.up());
afterAll(() => cluster.destroy());

function tried(...args: string[]): Promise<Outcome> {
  return run(stockTool('helm'), ['--kubeconfig', cluster.kubeconfig, ...args]);
}

async function helm(...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await tried(...args);
  if (code !== 0) throw new Error(`helm ${args.join(' ')}: ${code}\n${stdout}\n${stderr}`);
  return stdout;
}

function greeting(): Promise<string> {
  return kubectl.must('get', 'configmap', 'greeter', '-o', 'jsonpath={.data.greeting}');
}

describe('a release', () => {
  it('is rendered against the server before it is installed', async () => {
    const rendered = await helm('install', 'greeter', chart, '--dry-run=server');
    expect(rendered).toContain('known-before: "false"');
    expect(await kubectl.must('get', 'deployments', '-o', 'name')).toBe('');
  });

  it('is installed, and waited for', async () => {
    expect(await helm('install', 'greeter', chart, ...awaited)).toContain('2 replicas say hello.');
    const ready = ['get', 'deployment', 'greeter', '-o', 'jsonpath={.status.readyReplicas}'];
    expect(await kubectl.must(...ready)).toBe('2');
    const secrets = ['get', 'secrets', '-l', 'owner=helm', '-o', 'jsonpath={.items[*].type}'];
    expect(await kubectl.must(...secrets)).toBe('helm.sh/release.v1');
    const again = await tried('install', 'greeter', chart);
    expect(again).toMatchObject({ code: 1, stderr: expect.stringContaining('still in use') });
  });

  it('is tested', async () => {
    const tested = await helm('test', 'greeter', '--logs');
    expect(tested).toMatch(/Phase: +Succeeded/);
    expect(tested).toContain('\nhello\n');
  });

  it('is upgraded without losing the changes of other clients', async () => {
    await kubectl.must('label', 'configmap', 'greeter', 'seen=yes');
    await helm('upgrade', 'greeter', chart, '--set', 'greeting=hi,replicas=1', ...awaited);
    expect(await greeting()).toBe('hi');
    const map = await kubectl.must('get', 'configmap', 'greeter', '-o', 'yaml');
    expect(map).toContain('seen: "yes"');
    expect(map).toContain('known-before: "true"');
    expect(await helm('test', 'greeter', '--logs')).toContain('\nhi\n');
  });

  it('does not change when an upgrade is refused', async () => {
    const upgrade = ['upgrade', 'greeter', chart, '--set', 'replicas=-1', '--atomic', ...awaited];
    const refused = await tried(...upgrade);
    expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining('spec.replicas') });
    expect(await greeting()).toBe('hi');
  });

  it('is rolled back', async () => {
    await helm('rollback', 'greeter', '1', ...awaited);
    expect(await greeting()).toBe('hello');
    const history = JSON.parse(await helm('history', 'greeter', '-o', 'json'));
    expect(history.at(-1)).toMatchObject({ status: 'deployed', description: 'Rollback to 1' });
  });

  it('is removed with all its objects', async () => {
    await helm('uninstall', 'greeter', ...awaited);
    const kinds =
      'deployments,pods,services,configmaps,serviceaccounts,poddisruptionbudgets,secrets';
    const left = () => kubectl.must('get', kinds, '-o', 'name');
    // It waits for the objects of the chart, not for their pods.
    await eventually('the pods to end', async () => !/pod\/greeter-\w+-/.test(await left()));
    expect((await left()).trim().split('\n').sort()).toEqual([
      'configmap/kube-root-ca.crt',
      'pod/greeter-answers',
      expect.stringMatching(/^secret\/default-token-/),
      'service/kubernetes',
      'serviceaccount/default',
    ]);
  });
});
