/**
 * Volumes with real processes: a stateful set with claim templates and the default class keeps its
 * data when its pods are deleted, its claims grow, and its volumes are deleted with the claims.
 * Containers mount volumes in isolated mode only, which needs root.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Api } from './support/api.js';
import { Cluster, type DialectName } from './support/cluster.js';
import { type Driver, driverFor } from './support/driver.js';
import { repositoryRoot } from './support/process.js';
import { eventually } from './support/wait.js';

interface View {
  metadata: { name: string; uid: string };
  spec: { volumeName?: string; nodeName?: string; hostPath?: { path: string } };
  status: {
    phase?: string;
    capacity?: { storage: string };
    containerStatuses?: { ready: boolean }[];
  };
}

const manifest = join(repositoryRoot, 'examples/stateful.yaml');
const core = '/api/v1/namespaces/default';
const settings: { dialect: DialectName; tool: 'orchctl' | 'kubectl' }[] = [
  { dialect: 'orch', tool: 'orchctl' },
  { dialect: 'kubernetes', tool: 'kubectl' },
];

describe.runIf(process.getuid?.() === 0).each(settings)(
  'volumes in the $dialect dialect',
  ({ dialect, tool }) => {
    const cluster = new Cluster({ dialect, replicas: 1 });
    const root = join(cluster.dataDirectory, 'volumes');
    let api: Api;
    let ctl: Driver;

    beforeAll(async () => {
      await cluster.up();
      api = new Api(cluster);
      ctl = driverFor(cluster, tool);
    });

    afterAll(async () => {
      await api?.close();
      await cluster.destroy();
    });

    const get = async (path: string) => (await api.call<View>('GET', path)).body;
    const claims = async () =>
      (await api.call<{ items: View[] }>('GET', `${core}/persistentvolumeclaims`)).body.items;
    const directoryOf = async (pod: string) => {
      const { spec } = await get(`${core}/persistentvolumeclaims/data-${pod}`);
      const volume = await get(`/api/v1/persistentvolumes/${spec.volumeName}`);
      return volume.spec.hostPath!.path;
    };
    const startCount = async (pod: string) => {
      const text = readFileSync(join(await directoryOf(pod), 'starts'), 'utf8');
      return text.trim().split('\n').length;
    };
    /** A container is ready before its program has written its first line. */
    const expectStarts = async (pod: string, count: number) => {
      await eventually(`${count} starts of ${pod}`, async () => (await startCount(pod)) >= count);
      expect(await startCount(pod)).toBe(count);
    };
    const readyPod = (name: string, oldUid = '') =>
      eventually(`a ready pod ${name}`, async () => {
        const pod = await get(`${core}/pods/${name}`);
        const isReady = pod.status.containerStatuses?.every(({ ready }) => ready);
        return isReady && pod.metadata.uid !== oldUid ? pod : undefined;
      });

    it('gives each pod of a stateful set a volume of the default class', async () => {
      await ctl.must('apply', '-f', manifest);
      for (const name of ['counter-0', 'counter-1']) {
        await readyPod(name);
        await expectStarts(name, 1);
      }
      expect((await claims()).map(({ status }) => status.phase)).toEqual(['Bound', 'Bound']);
      expect(readdirSync(root)).toHaveLength(2);
    });

    it('keeps the data on its node when the pod is deleted', async () => {
      const before = await readyPod('counter-0');
      await ctl.must('delete', 'pod', 'counter-0');
      const after = await readyPod('counter-0', before.metadata.uid);
      expect(after.spec.nodeName).toBe(before.spec.nodeName);
      await expectStarts('counter-0', 2);
    });

    it('expands a claim', async () => {
      const path = `${core}/persistentvolumeclaims/data-counter-0`;
      const change = { spec: { resources: { requests: { storage: '2Gi' } } } };
      const patched = await api.send(
        'PATCH',
        path,
        JSON.stringify(change),
        'application/merge-patch+json',
      );
      expect(patched.status).toBe(200);
      await eventually('2Gi', async () => (await get(path)).status.capacity?.storage === '2Gi');
    });

    it('deletes the directory of a volume with its claim, and no other', async () => {
      const [gone, kept] = await Promise.all(['counter-0', 'counter-1'].map(directoryOf));
      await ctl.must('delete', '-f', manifest);
      await ctl.must('delete', 'persistentvolumeclaim', 'data-counter-0');
      await eventually('the volume to be deleted', async () => {
        const { items } = (await api.call<{ items: View[] }>('GET', '/api/v1/persistentvolumes'))
          .body;
        return items.length === 1;
      });
      expect(existsSync(gone!)).toBe(false);
      expect(readFileSync(join(kept!, 'starts'), 'utf8')).not.toBe('');
    });

    it('gives a pod an ephemeral volume, which is deleted with the pod', async () => {
      const template = {
        spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
      };
      await api.call('POST', `${core}/pods`, {
        metadata: { name: 'scratch' },
        spec: {
          containers: [
            {
              name: 'main',
              image: 'scratch:1',
              command: ['sh', '-c', 'echo here > /work/file; sleep 600'],
              volumeMounts: [{ name: 'work', mountPath: '/work' }],
            },
          ],
          terminationGracePeriodSeconds: 1,
          volumes: [{ name: 'work', ephemeral: { volumeClaimTemplate: template } }],
        },
      });
      await readyPod('scratch');
      const { spec } = await get(`${core}/persistentvolumeclaims/scratch-work`);
      expect(readFileSync(join(root, spec.volumeName!, 'file'), 'utf8')).toBe('here\n');
      await ctl.must('delete', 'pod', 'scratch');
      await eventually('the claim to be deleted', async () =>
        (await claims()).every(({ metadata }) => metadata.name !== 'scratch-work'),
      );
      await eventually('the directory to be deleted', () => readdirSync(root).length === 1);
    });
  },
);
