import { spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { volume } from '../../test/volumes.js';
import {
  clearingTemplate,
  planDeletion,
  type RecyclingPolicy,
  recyclingPod,
} from './reclaim-plan.js';

const policy: RecyclingPolicy = {
  template: clearingTemplate,
  minimumSeconds: 60,
  secondsPerGib: 30,
};
const policies = { nfs: policy, hostPath: policy };
const provisioned = { 'pv.orch.io/provisioned-by': 'orch.io/local-path' };
const directoryVolume = (path: string, name = 'pvc-1', annotations = provisioned) =>
  volume(name, '1Gi', { nfs: undefined, hostPath: { path } }, annotations);

describe('planDeletion', () => {
  it.each([
    '/pvc-1',
    '/srv/volumes/other',
    '/srv/volumes/../pvc-1',
    '/srv/volumes/pvc-1/',
    'volumes/pvc-1',
    '',
  ])('deletes no directory %j', (path) => {
    expect(planDeletion(directoryVolume(path), policies).by).toBe('nobody');
  });

  it.each([
    ['/tmp/x', 'controller'],
    ['/tmp/', 'nobody'],
    ['/tmp/../etc', 'nobody'],
    ['/srv/x', 'nobody'],
  ])('of a hostPath volume made by hand, %s: %s', (path, by) => {
    expect(planDeletion(directoryVolume(path, 'v', {} as never), policies).by).toBe(by);
  });

  it('leaves volumes of other provisioners to them', () => {
    const external = { 'pv.orch.io/provisioned-by': 'disk.example.com' };
    const made = directoryVolume('/tmp/x', 'v', external);
    expect(planDeletion(made, policies).by).toBe('external provisioner');
  });
});

describe('the pod that deletes a directory', () => {
  let root: string;
  let outside: string;
  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), 'orch-volumes-'));
    outside = mkdtempSync(join(tmpdir(), 'orch-outside-'));
    writeFileSync(join(outside, 'file'), '');
    writeFileSync(join(root, 'neighbour'), '');
  });
  afterEach(() => {
    for (const directory of [root, outside]) rmSync(directory, { recursive: true, force: true });
  });

  const run = () => {
    const plan = planDeletion(directoryVolume(join(root, 'pvc-1')), policies);
    if (plan.by !== 'pod') throw new Error(plan.by);
    const [program, ...args] = plan.spec.containers![0]!.command!;
    return spawnSync(program!, args).status;
  };

  it('deletes the directory and no other, and follows no link', () => {
    const directory = join(root, 'pvc-1');
    mkdirSync(join(directory, 'sub'), { recursive: true });
    writeFileSync(join(directory, '.hidden'), '');
    symlinkSync(outside, join(directory, 'sub', 'link'));
    expect(run()).toBe(0);
    expect(readdirSync(root)).toEqual(['neighbour']);
    expect(existsSync(join(outside, 'file'))).toBe(true);
  });

  it('deletes a link in the place of the directory, not its target', () => {
    symlinkSync(outside, join(root, 'pvc-1'));
    expect(run()).toBe(0);
    expect(readdirSync(root)).toEqual(['neighbour']);
    expect(existsSync(join(outside, 'file'))).toBe(true);
  });

  it('succeeds if no pod has used the volume', () => {
    expect(run()).toBe(0);
  });
});

describe('recyclingPod', () => {
  it('mounts the volume first, with a deadline by its size, on a node of the volume', () => {
    const required = { nodeSelectorTerms: [{ matchExpressions: [] }] };
    const large = volume('v', '10Gi', { nodeAffinity: { required } });
    const spec = recyclingPod(large, policies);
    expect(spec?.volumes?.[0]).toEqual({ name: 'vol', nfs: { server: '192.0.2.1', path: '/x' } });
    expect(spec?.activeDeadlineSeconds).toBe(300);
    const affinity = spec?.affinity?.nodeAffinity;
    expect(affinity?.requiredDuringSchedulingIgnoredDuringExecution).toEqual(required);
  });

  it('is missing for volumes of other kinds', () => {
    const csi = { driver: 'disk.example.com', volumeHandle: 'h' };
    expect(recyclingPod(volume('v', '1Gi', { nfs: undefined, csi }), policies)).toBeUndefined();
  });
});
