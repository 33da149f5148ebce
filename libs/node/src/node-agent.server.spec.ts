/** The agent end to end: real processes of the process runtime, and an in-memory API server. */
import { randomUUID } from 'node:crypto';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { get } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { resources } from '@orch/client';
import {
  createLogger,
  dialect,
  HealthChecks,
  Metrics,
  parseOptions,
  systemClock,
} from '@orch/component';
import type { Container, Pod, PodSpec } from '@orch/types/core/v1';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { MemoryApiClient } from '../../client/src/testing/memory-api-client.js';
import { MemoryApiServer } from '../../client/src/testing/memory-api-server.js';
import { NodeAgent } from './node-agent.js';
import { NodeAgentOptions } from './node-agent-options.js';
import { ProcessRuntime } from './runtimes/process/process-runtime.js';

const logger = createLogger({ component: 'test', format: 'text', level: 'error' });
const isRoot = process.getuid?.() === 0;

for (const isolation of isRoot ? ['plain', 'isolated'] : ['plain']) {
  describe(`node agent, ${isolation} mode`, () => {
    let base: string;
    let api: MemoryApiServer;
    let client: MemoryApiClient;
    let agent: NodeAgent;
    const clusterName = randomUUID();

    async function startAgent(): Promise<void> {
      const options = parseOptions(
        NodeAgentOptions,
        [
          '--node-name=node-a',
          `--root-dir=${base}`,
          `--cluster-name=${clusterName}`,
          '--address=127.0.0.1',
          '--port=0',
          `--process-isolation=${isolation}`,
          `--pod-cidr=10.214.${process.pid % 256}.0/24`,
        ],
        { program: 'test', description: '', version: '' },
      );
      const runtime = new ProcessRuntime({
        root: join(base, 'runtime'),
        podCidr: options.podCidr,
        owner: clusterName,
        isolation: options.processIsolation,
        clock: systemClock,
        logger,
      });
      agent = new NodeAgent({
        onFailed: (error) => expect.unreachable(String(error)),
        options,
        podCidr: options.podCidr,
        client,
        runtime,
        health: new HealthChecks(),
        metrics: new Metrics(),
        clock: systemClock,
        logger,
        random: Math.random,
      });
      await agent.start();
    }

    beforeEach(async () => {
      base = mkdtempSync(join(tmpdir(), 'orch-agent-'));
      api = new MemoryApiServer();
      client = new MemoryApiClient(api);
      await startAgent();
    });

    afterEach(async () => {
      await agent.stop({ teardown: true });
      await client.close();
      rmSync(base, { recursive: true, force: true });
    });

    const shell = (script: string, more: Partial<Container> = {}): Container => ({
      name: 'main',
      image: 'example/shell:1',
      command: ['sh', '-c', script],
      ...more,
    });

    function createPod(name: string, spec: Partial<PodSpec>): void {
      api.seed(resources.pods, {
        metadata: { name, namespace: 'default', labels: { app: name } },
        spec: { nodeName: 'node-a', restartPolicy: 'Never', containers: [], ...spec },
      });
    }

    function putConfigMap(name: string, data: Record<string, string>): void {
      api.seed(resources.configMaps, { metadata: { name, namespace: 'default' }, data });
    }

    const deletePod = (name: string, gracePeriodSeconds: number) =>
      client.resource(resources.pods, 'default').delete(name, { gracePeriodSeconds });

    const podNow = (name: string) => api.get(resources.pods, `default/${name}`);

    async function until(name: string, test: (pod: Pod) => unknown): Promise<Pod> {
      for (let turn = 0; turn < 1_500; turn += 1) {
        const pod = podNow(name);
        if (pod && test(pod)) return pod;
        await new Promise((resolve) => setTimeout(resolve, 10));
      }
      throw new Error(`never: ${JSON.stringify(podNow(name)?.status, null, 1)}`);
    }

    async function untilGone(name: string): Promise<void> {
      for (let turn = 0; turn < 1_500; turn += 1) {
        if (!podNow(name)) return;
        await new Promise((resolve) => setTimeout(resolve, 10));
      }
      throw new Error(`pod ${name} never went`);
    }

    const isReady = ({ status }: Pod) =>
      status?.conditions?.some(({ type, status: holds }) => type === 'Ready' && holds === 'True');

    const request = (path: string) =>
      new Promise<{ status: number; text: string }>((resolve, reject) => {
        const options = { rejectUnauthorized: false, agent: false };
        get(`https://127.0.0.1:${agent.port}${path}`, options, (response) => {
          let text = '';
          response.on('data', (chunk) => {
            text += chunk;
          });
          response.on('end', () => resolve({ status: response.statusCode ?? 0, text }));
        }).on('error', reject);
      });

    const eventReasons = () => api.list(resources.events, 'default').map(({ reason }) => reason);

    it('registers its node and renews its lease', async () => {
      const findNode = () => api.get(resources.nodes, 'node-a');
      const findLease = () => api.get(resources.leases, `${dialect().nodeLeaseNamespace}/node-a`);
      for (let turn = 0; turn < 500 && !(findNode() && findLease()); turn += 1) {
        await new Promise((resolve) => setTimeout(resolve, 10));
      }
      const node = findNode();
      const lease = findLease();
      expect(lease?.spec).toMatchObject({ holderIdentity: 'node-a', leaseDurationSeconds: 40 });
      expect(node?.metadata?.labels).toMatchObject({
        [dialect().key('hostname')]: 'node-a',
        [dialect().key('os')]: 'linux',
      });
      expect(node?.status).toMatchObject({
        addresses: [
          { type: 'InternalIP', address: '127.0.0.1' },
          { type: 'Hostname', address: 'node-a' },
        ],
        daemonEndpoints: { kubeletEndpoint: { Port: agent.port } },
        nodeInfo: { operatingSystem: 'linux' },
      });
      const ready = node?.status?.conditions?.find(({ type }) => type === 'Ready');
      expect(ready).toMatchObject({ status: 'True', reason: 'KubeletReady' });
      expect(node?.status?.capacity?.pods).toBe('110');
    });

    it('runs init containers sequentially, then the main containers, to completion', async () => {
      api.seed(resources.services, {
        metadata: { name: 'web', namespace: 'default' },
        spec: { clusterIP: '10.0.0.9', ports: [{ port: 80 }] },
      });
      putConfigMap('settings', { color: 'green' });
      createPod('job', {
        initContainers: [
          shell('sleep 0.2; echo first', { name: 'first' }),
          shell('echo second', { name: 'second' }),
        ],
        containers: [
          shell('echo "$COLOR $NAME $(POD_IP) $WEB_SERVICE_PORT"; exit 0', {
            env: [
              { name: 'POD_IP', valueFrom: { fieldRef: { fieldPath: 'status.podIP' } } },
              { name: 'COLOR', valueFrom: { configMapKeyRef: { name: 'settings', key: 'color' } } },
              { name: 'NAME', value: 'at-$(COLOR)-$$(x)' },
            ],
          }),
          shell('echo oops >&2; exit 3', {
            name: 'bad',
            terminationMessagePolicy: 'FallbackToLogsOnError',
          }),
        ],
      });
      const pod = await until('job', ({ status }) => status?.phase === 'Failed');
      const [main, bad] = pod.status!.containerStatuses!;
      expect(main?.state?.terminated).toMatchObject({ exitCode: 0, reason: 'Completed' });
      expect(main?.imageID).toBe('process://example/shell:1');
      expect(bad?.state?.terminated).toMatchObject({
        exitCode: 3,
        reason: 'Error',
        message: 'oops\n',
      });
      const [first, second] = pod.status!.initContainerStatuses!;
      expect(first?.ready && second?.ready).toBe(true);
      const finished = first!.state!.terminated!.finishedAt!;
      expect(second!.state!.terminated!.startedAt! >= finished).toBe(true);
      const log = await request('/containerLogs/default/job/main');
      const { podIP } = pod.status!;
      const localIp = isolation === 'plain' ? podIP?.replace('10.', '127.') : podIP;
      expect(log.text).toBe(`green at-green-$(x) ${localIp} 80\n`);
      expect((await request('/containerLogs/default/job/none')).status).toBe(404);
      expect(pod.status!.conditions?.find(({ type }) => type === 'Initialized')?.status).toBe(
        'True',
      );
    });

    it('applies readiness and liveness probes and ends containers gracefully', async () => {
      const flag = join(base, 'flag');
      createPod('web', {
        restartPolicy: 'Always',
        containers: [
          shell(
            `trap "echo bye; exit 0" TERM; echo run; touch ${flag}.up; while :; do sleep 0.05; done`,
            {
              readinessProbe: {
                exec: { command: ['test', '-e', flag] },
                periodSeconds: 1,
                failureThreshold: 1,
              },
              lifecycle: { preStop: { exec: { command: ['touch', `${flag}.stopping`] } } },
            },
          ),
        ],
      });
      const running = await until(
        'web',
        ({ status }) => status?.containerStatuses?.[0]?.state?.running,
      );
      expect(isReady(running)).toBe(false);
      expect(running.status?.phase).toBe('Running');
      const { writeFileSync } = await import('node:fs');
      writeFileSync(flag, '');
      await until('web', isReady);
      rmSync(flag);
      await until('web', (pod) => !isReady(pod));
      await deletePod('web', 30);
      await untilGone('web');
      expect(existsSync(`${flag}.stopping`)).toBe(true);
      expect(readdirSync(join(base, 'pods'))).toEqual([]);
      expect(eventReasons()).toEqual(expect.arrayContaining(['Started', 'Unhealthy', 'Killing']));
    });

    it('backs off from a container that keeps ending', async () => {
      createPod('crash', { restartPolicy: 'Always', containers: [shell('echo here; exit 1')] });
      const pod = await until(
        'crash',
        ({ status }) =>
          status?.containerStatuses?.[0]?.state?.waiting?.reason === 'CrashLoopBackOff',
      );
      const [status] = pod.status!.containerStatuses!;
      expect(status).toMatchObject({ ready: false, restartCount: 1 });
      expect(status?.state?.waiting?.message).toMatch(
        /^back-off 10s restarting failed container=main pod=crash_default\(server-uid-\d+\)$/,
      );
      expect(status?.lastState?.terminated).toMatchObject({ exitCode: 1, reason: 'Error' });
      expect(pod.status?.phase).toBe('Running');
      expect((await request('/containerLogs/default/crash/main?previous=true')).text).toBe(
        'here\n',
      );
    });

    it('reports why a container cannot run', async () => {
      createPod('imageless', { containers: [{ name: 'main', image: 'example/x' }] });
      createPod('keyless', {
        containers: [
          shell('true', {
            env: [{ name: 'A', valueFrom: { configMapKeyRef: { name: 'none', key: 'k' } } }],
          }),
        ],
      });
      createPod('programless', { containers: [shell('', { command: ['/no/such/program'] })] });
      const waiting = (pod: Pod) => pod.status?.containerStatuses?.[0]?.state?.waiting;
      const imageless = await until('imageless', (pod) => waiting(pod)?.message);
      expect(waiting(imageless)?.reason).toBe('ErrImagePull');
      expect(waiting(imageless)?.message).toContain('needs "command"');
      const keyless = await until('keyless', (pod) => waiting(pod)?.message);
      expect(waiting(keyless)).toEqual({
        reason: 'CreateContainerConfigError',
        message: 'configmap "none" not found',
      });
      const programless = await until('programless', ({ status }) => status?.phase === 'Failed');
      expect(programless.status?.containerStatuses?.[0]?.state?.terminated).toMatchObject({
        exitCode: 128,
        reason: 'StartError',
      });
    });

    it('recovers its pods after a restart, and ends deleted ones', async () => {
      const spec = { containers: [shell('echo run; exec sleep 60')] };
      createPod('stays', spec);
      createPod('goes', spec);
      const before = await until('stays', isReady);
      await until('goes', isReady);
      await agent.stop({ teardown: false });
      await deletePod('goes', 0);
      await startAgent();
      for (let turn = 0; turn < 1_000 && readdirSync(join(base, 'pods')).length > 1; turn += 1) {
        await new Promise((resolve) => setTimeout(resolve, 10));
      }
      expect(readdirSync(join(base, 'pods'))).toEqual([before.metadata!.uid]);
      const after = await until('stays', isReady);
      expect(after.status?.containerStatuses?.[0]).toEqual(before.status?.containerStatuses?.[0]);
      expect(after.status?.podIP).toBe(before.status?.podIP);
    });

    it('ends a pod that exceeds its active deadline', async () => {
      createPod('late', {
        activeDeadlineSeconds: 3,
        terminationGracePeriodSeconds: 1,
        containers: [shell('sleep 60')],
      });
      const pod = await until('late', ({ status }) => status?.phase === 'Failed');
      expect(pod.status?.reason).toBe('DeadlineExceeded');
      await until('late', ({ status }) => status?.containerStatuses?.[0]?.state?.terminated);
    });

    if (isolation === 'isolated') {
      it('creates volumes and updates them when config maps change', async () => {
        putConfigMap('files', { 'a.txt': 'one' });
        createPod('volumes', {
          volumes: [
            { name: 'files', configMap: { name: 'files' } },
            { name: 'shared', emptyDir: {} },
            {
              name: 'self',
              downwardAPI: {
                items: [{ path: 'labels', fieldRef: { fieldPath: 'metadata.labels' } }],
              },
            },
          ],
          containers: [
            shell(
              'cat /conf/a.txt /self/labels > /shared/seen; until grep -q two /conf/a.txt; do sleep 0.1; done; echo changed > /dev/termination-log',
              {
                volumeMounts: [
                  { name: 'files', mountPath: '/conf' },
                  { name: 'shared', mountPath: '/shared' },
                  { name: 'self', mountPath: '/self' },
                ],
              },
            ),
            shell('until [ -e /in/seen ]; do sleep 0.1; done; cat /in/seen', {
              name: 'reader',
              volumeMounts: [{ name: 'shared', mountPath: '/in', readOnly: true }],
            }),
          ],
        });
        await until('volumes', ({ status }) => status?.containerStatuses?.[1]?.state?.terminated);
        expect((await request('/containerLogs/default/volumes/reader')).text).toBe(
          'oneapp="volumes"\n',
        );
        putConfigMap('files', { 'a.txt': 'two' });
        const pod = await until('volumes', ({ status }) => status?.phase === 'Succeeded');
        expect(pod.status?.containerStatuses?.[0]?.state?.terminated?.message).toBe('changed\n');
      });

      it('starts a pod when its claim is bound, and retains the data of the volume', async () => {
        const hostPath = join(base, 'disk', 'v');
        const claimRef = { namespace: 'default', name: 'data', uid: 'uid-data' };
        api.seed(resources.persistentVolumes, {
          metadata: { name: 'v' },
          spec: { claimRef, hostPath: { path: hostPath, type: 'DirectoryOrCreate' } },
        });
        const claim = { metadata: { name: 'data', namespace: 'default', uid: 'uid-data' } };
        api.seed(resources.persistentVolumeClaims, claim);
        createPod('claiming', {
          volumes: [{ name: 'data', persistentVolumeClaim: { claimName: 'data' } }],
          containers: [
            shell('echo kept > /data/file', {
              volumeMounts: [{ name: 'data', mountPath: '/data' }],
            }),
          ],
        });
        await expect.poll(eventReasons).toContain('FailedMount');
        api.seed(resources.persistentVolumeClaims, {
          metadata: {
            ...claim.metadata,
            annotations: { [dialect().key('bind-completed', 'pv')]: 'yes' },
          },
          spec: { volumeName: 'v' },
          status: { phase: 'Bound' },
        });
        await until('claiming', ({ status }) => status?.phase === 'Succeeded');
        await deletePod('claiming', 0);
        await untilGone('claiming');
        expect(readFileSync(join(hostPath, 'file'), 'utf8')).toBe('kept\n');
      });
    }
  });
}
