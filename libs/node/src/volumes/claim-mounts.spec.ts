import { mkdirSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { PersistentVolume, PersistentVolumeClaim, Pod, Volume } from '@orch/types/core/v1';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ClaimMounts } from './claim-mounts.js';

const pod: Pod = { metadata: { name: 'web-0', namespace: 'default', uid: 'uid-web' } };
const data: Volume = { name: 'data', persistentVolumeClaim: { claimName: 'data-web-0' } };
const scratch: Volume = { name: 'scratch', ephemeral: { volumeClaimTemplate: { spec: {} } } };
const provisioned = { 'pv.orch.io/provisioned-by': 'orch.io/local-path' };

function bound(name: string, facts: PersistentVolumeClaim['metadata'] = {}): PersistentVolumeClaim {
  const annotations = { 'pv.orch.io/bind-completed': 'yes' };
  return {
    metadata: { name, namespace: 'default', uid: `uid-${name}`, annotations, ...facts },
    spec: { volumeName: 'v' },
    status: { phase: 'Bound' },
  };
}

function persistent(
  spec: Partial<NonNullable<PersistentVolume['spec']>>,
  annotations: Record<string, string> = {},
): PersistentVolume {
  const claimRef = { namespace: 'default', name: 'data-web-0', uid: 'uid-data-web-0' };
  return { metadata: { name: 'v', annotations }, spec: { claimRef, ...spec } };
}

const on = (host: string) =>
  persistent({
    nodeAffinity: {
      required: {
        nodeSelectorTerms: [
          { matchExpressions: [{ key: 'host', operator: 'In', values: [host] }] },
        ],
      },
    },
  });

describe('ClaimMounts', () => {
  let directory: string;
  let readCount = 0;
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'orch-claims-'));
    readCount = 0;
  });
  afterEach(() => rmSync(directory, { recursive: true, force: true }));

  const mountsOf = (claim?: PersistentVolumeClaim, volume?: PersistentVolume) =>
    new ClaimMounts({
      claim: async (_, name) => {
        readCount += 1;
        return claim?.metadata?.name === name ? claim : undefined;
      },
      volume: async () => volume,
      node: async () => ({ name: 'a', labels: { host: 'a' } }),
    });
  const failure = (claim?: PersistentVolumeClaim, volume?: PersistentVolume, of = data) =>
    mountsOf(claim, volume)
      .find(pod, of)
      .then(
        () => 'none',
        (error: Error) => error.message,
      );

  it('returns a local directory, for which the files get the group of the pod, and reads it once', async () => {
    const mounts = mountsOf(bound('data-web-0'), persistent({ local: { path: directory } }));
    const mount = { hostPath: directory, needsGroup: true };
    expect(await mounts.find(pod, data)).toEqual({ mount, isNew: true });
    expect(await mounts.find(pod, data)).toEqual({ mount, isNew: false });
    expect(readCount).toBe(1);
  });

  it('creates a provisioned directory that any user may write, and retains an existing one', async () => {
    const path = join(directory, 'volumes', 'pvc-1');
    const spec = { hostPath: { path, type: 'DirectoryOrCreate' as const } };
    const find = () => mountsOf(bound('data-web-0'), persistent(spec, provisioned)).find(pod, data);
    expect((await find()).mount.hostPath).toBe(path);
    expect(statSync(path).mode & 0o777).toBe(0o777);
    expect(statSync(join(directory, 'volumes')).mode & 0o777).toBe(0o755);
    rmSync(path, { recursive: true });
    mkdirSync(path, { mode: 0o700 });
    await find();
    expect(statSync(path).mode & 0o777).toBe(0o700);
  });

  it.each<[string, PersistentVolumeClaim | undefined, PersistentVolume | undefined]>([
    ['"data-web-0" not found', undefined, undefined],
    ['is being deleted', bound('data-web-0', { deletionTimestamp: 'now' }), undefined],
    ['is not bound', bound('data-web-0', { annotations: {} }), undefined],
    ['persistentvolume "v" not found', bound('data-web-0'), undefined],
    ['is not bound to', bound('data-web-0', { uid: 'other' }), persistent({})],
    [
      'is neither a local nor a hostPath',
      bound('data-web-0'),
      persistent({ nfs: { server: 's', path: '/' } }),
    ],
    ['is not for this node', bound('data-web-0'), on('b')],
    ['is neither', bound('data-web-0'), on('a')],
    ['is a block device', bound('data-web-0'), persistent({ volumeMode: 'Block' })],
    ['is not a directory', bound('data-web-0'), persistent({ local: { path: '/nowhere' } })],
  ])('refuses with: %s', async (message, claim, volume) => {
    expect(await failure(claim, volume)).toContain(message);
  });

  it('refuses the claim of an ephemeral volume that belongs to another pod', async () => {
    const claim = bound('web-0-scratch');
    expect(await failure(claim, persistent({}), scratch)).toContain('not created for the pod');
    const owner = {
      apiVersion: 'v1',
      kind: 'Pod',
      name: 'web-0',
      uid: 'uid-web',
      controller: true,
    };
    const own = bound('web-0-scratch', { uid: 'u', ownerReferences: [owner] });
    own.metadata!.annotations = bound('x').metadata!.annotations!;
    const claimRef = { namespace: 'default', name: 'web-0-scratch', uid: 'u' };
    const volume = persistent({ local: { path: directory }, claimRef });
    expect((await mountsOf(own, volume).find(pod, scratch)).mount.hostPath).toBe(directory);
  });
});
