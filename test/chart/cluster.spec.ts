/**
 * The life cycle of an installation: bootstrap, test, scaling up and down, loss of a volume, backup
 * and restore. Everything runs from the image with the specs of the chart, see
 * support/local-host.ts. Each step builds on the previous one.
 */
import { mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { PodSpec } from '@orch/types/core/v1';
import { afterAll, beforeAll, describe, expect, it, onTestFailed } from 'vitest';
import { must } from '../e2e/support/process.js';
import { eventually } from '../e2e/support/wait.js';
import { find, type Rendered, render, type Values } from './support/helm.js';
import { LocalHost } from './support/local-host.js';
import { podsOf } from './support/pods.js';

const directory = mkdtempSync(join(tmpdir(), 'orch-chart-cluster-'));
const image = join(directory, 'image');
const hosts: LocalHost[] = [];

interface MemberView {
  readonly name: string;
  readonly role: string;
}

beforeAll(async () => {
  const archive = join(directory, 'image.tar');
  const layout = join(directory, 'layout');
  await must('node', ['scripts/image/build.mjs', '--tree', 'dist', '--output', archive]);
  mkdirSync(layout);
  mkdirSync(image);
  await must('tar', ['-xf', archive, '-C', layout]);
  const blobs = join(layout, 'blobs/sha256');
  for (const blob of readdirSync(blobs)) {
    // Blobs other than layers are text.
    const isLayer = await must('sh', ['-c', `gzip -t "${join(blobs, blob)}" 2>&1 || true`]);
    if (isLayer === '') await must('tar', ['-xzf', join(blobs, blob), '-C', image]);
  }
});
afterAll(async () => {
  await Promise.all(hosts.map((host) => host.stop()));
  rmSync(directory, { recursive: true, force: true });
});

/** The values of the installation, at some number of replicas. */
function values(replicas: number, more: Values = {}): Values {
  return {
    apiserver: { replicas, initialReplicas: 3, clusterToken: 'test', shutdownDelaySeconds: 0 },
    ...more,
  };
}

function newHost(name: string, secrets: readonly Rendered[]): LocalHost {
  const place = join(directory, name);
  mkdirSync(place);
  const host = new LocalHost(image, place, secrets);
  hosts.push(host);
  return host;
}

async function members(host: LocalHost): Promise<MemberView[]> {
  const text = await host.orchctl(['cluster', 'members', '-o', 'json']);
  return (JSON.parse(text) as { members: MemberView[] }).members;
}

function voters(all: readonly MemberView[]): string[] {
  return all
    .filter(({ role }) => role !== 'learner')
    .map(({ name }) => name)
    .sort();
}

const names = (...ordinals: number[]) => ordinals.map((i) => `orch-apiserver-${i}`);

function podOf(objects: readonly Rendered[], of: string): PodSpec {
  const pod = podsOf(objects).find((it) => it.of === of);
  if (!pod) throw new Error(`no ${of}`);
  return pod.spec;
}

function showLogs(host: LocalHost): void {
  onTestFailed(() => {
    for (const name of names(0, 1, 2, 3, 4)) console.error(`== ${name}\n${host.log(name)}`);
  });
}

describe('an installation', () => {
  let host: LocalHost;
  let objects: Rendered[];
  beforeAll(async () => {
    objects = await render(values(3));
    host = newHost('first', objects);
    const set = find(objects, 'StatefulSet', 'orch-apiserver');
    await Promise.all([0, 1, 2].map((i) => host.startReplica(set, i)));
    // All further steps depend on it.
    await eventually('a leader', async () => {
      return (await members(host)).some(({ role }) => role === 'leader');
    }).catch((error: Error) => {
      throw new Error(`${error.message}\n${names(0, 1, 2).map((name) => host.log(name))}`);
    });
  });

  it('is bootstrapped by three replicas', async () => {
    expect(voters(await members(host))).toEqual(names(0, 1, 2));
  });

  it('passes helm test', async () => {
    const { code, output } = await host.runOnce('test', podOf(objects, 'Pod/orch-test'));
    expect(output).toBe('wrote, watched and deleted\n');
    expect(code).toBe(0);
  });

  it('has a controller manager that fills token secrets and can sign certificates', async () => {
    const name = 'orch-controller-manager';
    onTestFailed(() => console.error(host.log(`${name}-7`)));
    await host.startReplica(find(objects, 'Deployment', name), 7);
    await eventually('the token of the default service account', async () => {
      const secrets = await host.orchctl(['get', 'secrets', '-n', 'default', '-o', 'name']);
      return /^secret\/default-token-/m.test(secrets);
    });
    const running = host.log(`${name}-7`).match(/"controllers":\[[^\]]*\]/)?.[0];
    for (const controller of ['csrsigning', 'bootstrapsigner', 'tokencleaner']) {
      expect(running).toContain(`"${controller}"`);
    }
    expect(await host.stopReplica(`${name}-7`)).toBe(0);
  });

  it('scales up: new replicas join as learners and become voters', async () => {
    showLogs(host);
    const grown = await render(values(5), { isUpgrade: true });
    const set = find(grown, 'StatefulSet', 'orch-apiserver');
    await Promise.all([3, 4].map((i) => host.startReplica(set, i)));
    expect((await members(host)).map(({ name }) => name).sort()).toEqual(names(0, 1, 2, 3, 4));
    const job = podOf(grown, 'Job/orch-promote-members');
    const { code, output } = await host.runOnce('promote', job);
    expect(output).toContain('all 5 replicas vote');
    expect(code).toBe(0);
    expect(voters(await members(host))).toEqual(names(0, 1, 2, 3, 4));
  });

  it('scales down: removes members first, even if one of them is the leader', async () => {
    showLogs(host);
    await host.orchctl(['cluster', 'move-leader', 'orch-apiserver-4']);
    const shrunk = await render(values(3), { isUpgrade: true });
    const job = podOf(shrunk, 'Job/orch-remove-members');
    const { code, output } = await host.runOnce('remove', job);
    expect(output).toContain('removed orch-apiserver-4');
    expect(code).toBe(0);
    expect(voters(await members(host))).toEqual(names(0, 1, 2));
    await Promise.all(names(3, 4).map((name) => host.stopReplica(name)));
  });

  it('moves a retained volume aside when its replica is added again', async () => {
    showLogs(host);
    const grown = await render(values(5), { isUpgrade: true });
    await host.startReplica(find(grown, 'StatefulSet', 'orch-apiserver'), 3);
    expect(host.log('orch-apiserver-3')).toContain('the member of this directory was removed');
    await eventually('it to be a learner', async () =>
      (await members(host)).some(({ name, role }) => name.endsWith('-3') && role === 'learner'),
    );
    await host.stopReplica('orch-apiserver-3');
    await host.orchctl(['cluster', 'remove-member', 'orch-apiserver-3']);
  });

  it('replaces a replica whose volume was lost', async () => {
    showLogs(host);
    await host.stopReplica('orch-apiserver-1', 'SIGKILL');
    host.loseVolume('orch-apiserver-1');
    // It may have been the leader.
    await eventually('another to lead', async () =>
      (await members(host)).some(({ name, role }) => role === 'leader' && !name.endsWith('-1')),
    );
    await host.orchctl(['cluster', 'remove-member', 'orch-apiserver-1']);
    const again = await render(values(3), { isUpgrade: true });
    await host.startReplica(find(again, 'StatefulSet', 'orch-apiserver'), 1);
    const job = podOf(again, 'Job/orch-promote-members');
    expect((await host.runOnce('promote-again', job)).code).toBe(0);
    expect(voters(await members(host))).toEqual(names(0, 1, 2));
  });

  it('is backed up, and another one is restored from the backup', async () => {
    await host.orchctl(['label', 'namespace', 'default', 'kept=yes']);
    const saving = await render(values(3, { backup: { enabled: true, keep: 2 } }));
    const { code, output } = await host.runOnce('backup', podOf(saving, 'CronJob/orch-backup'));
    expect(output).toContain('saved revision');
    expect(code).toBe(0);
    const [file] = readdirSync(host.claim('orch-backup'));
    const restore = { enabled: true, existingClaim: 'vault', file };
    const restored = await render(values(3, { restore }));
    const second = newHost('second', restored);
    showLogs(second);
    await must('cp', [join(host.claim('orch-backup'), file!), second.claim('vault')]);
    const set = find(restored, 'StatefulSet', 'orch-apiserver');
    await Promise.all([0, 1, 2].map((i) => second.startReplica(set, i)));
    const asked = ['get', 'namespace', 'default', '-o', 'jsonpath={.metadata.labels.kept}'];
    await eventually('the label to be there', async () => {
      return (await second.orchctl(asked)).includes('yes');
    });
    expect(voters(await members(second))).toEqual(names(0, 1, 2));
  });

  it('shuts down when the host stops a pod', async () => {
    showLogs(host);
    expect(await host.stopReplica('orch-apiserver-0')).toBe(0);
    await eventually('another leader', async () =>
      (await members(host)).some(({ name, role }) => role === 'leader' && !name.endsWith('-0')),
    );
  });
});
