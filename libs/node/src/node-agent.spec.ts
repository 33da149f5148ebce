/** The agent end to end: real processes through the process runtime, against an API in memory. */
import { randomUUID } from 'node:crypto';
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { get } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { RestClient } from '@orch/client';
import {
  createLogger,
  dialect,
  HealthChecks,
  Metrics,
  parseOptions,
  systemClock,
} from '@orch/component';
import type { Lease } from '@orch/types/coordination/v1';
import type { ConfigMap, Container, Event, Node, Pod, PodSpec, Service } from '@orch/types/core/v1';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { NodeAgent } from './node-agent.js';
import { NodeAgentOptions } from './node-agent-options.js';
import { ProcessRuntime } from './runtimes/process/process-runtime.js';
import { MemoryApi } from './testing/memory-api.js';

const logger = createLogger({ component: 'test', format: 'text', level: 'error' });
const isRoot = process.getuid?.() === 0;
const namespace = '/api/v1/namespaces/default';

for (const isolation of isRoot ? ['plain', 'isolated'] : ['plain']) {
  describe(`node agent, ${isolation} mode`, () => {
    let base: string;
    let api: MemoryApi;
    let client: RestClient;
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
      api = new MemoryApi();
      client = new RestClient({ servers: [await api.start()], qps: 0 });
      await startAgent();
    });

    afterEach(async () => {
      await agent.stop({ teardown: true });
      await client.close();
      await api.stop();
      rmSync(base, { recursive: true, force: true });
    });

    const shell = (script: string, more: Partial<Container> = {}): Container => ({
      name: 'main',
      image: 'example/shell:1',
      command: ['sh', '-c', script],
      ...more,
    });

    function createPod(name: string, spec: Partial<PodSpec>): void {
      api.put(`${namespace}/pods/${name}`, {
        apiVersion: 'v1',
        kind: 'Pod',
        metadata: { namespace: 'default', labels: { app: name } },
        spec: { nodeName: 'node-a', restartPolicy: 'Never', ...spec },
      } as Pod);
    }

    function deletePod(name: string, graceSeconds: number): void {
      const path = `${namespace}/pods/${name}`;
      const pod = api.get<Pod>(path)!;
      api.put(path, {
        ...pod,
        metadata: {
          ...pod.metadata,
          deletionTimestamp: new Date().toISOString(),
          deletionGracePeriodSeconds: graceSeconds,
        },
      });
    }

    const podNow = (name: string) => api.get<Pod>(`${namespace}/pods/${name}`);

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

    const events = () => api.list<Event>(`${namespace}/events`).map(({ reason }) => reason);

    it('registers its node and keeps its lease', async () => {
      let node: Node | undefined;
      let lease: Lease | undefined;
      for (let turn = 0; turn < 500 && !(node && lease); turn += 1) {
        await new Promise((resolve) => setTimeout(resolve, 10));
        node = api.get<Node>('/api/v1/nodes/node-a');
        const leases = `/apis/${dialect().apiVersion('coordination', 'v1')}`;
        lease = api.get(`${leases}/namespaces/${dialect().nodeLeaseNamespace}/leases/node-a`);
      }
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

    it('runs init containers in order, then the main ones, to the end', async () => {
      api.put(`${namespace}/services/web`, {
        metadata: { namespace: 'default' },
        spec: { clusterIP: '10.0.0.9', ports: [{ port: 80 }] },
      } as Service);
      api.put(`${namespace}/configmaps/settings`, {
        metadata: { namespace: 'default' },
        data: { color: 'green' },
      } as ConfigMap);
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

    it('is ready when the probe says so, restarts what fails, ends it gracefully', async () => {
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
      deletePod('web', 30);
      await untilGone('web');
      expect(existsSync(`${flag}.stopping`)).toBe(true);
      expect(readdirSync(join(base, 'pods'))).toEqual([]);
      expect(events()).toEqual(expect.arrayContaining(['Started', 'Unhealthy', 'Killing']));
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
        /^back-off 10s restarting failed container=main pod=crash_default\(uid-\d+\)$/,
      );
      expect(status?.lastState?.terminated).toMatchObject({ exitCode: 1, reason: 'Error' });
      expect(pod.status?.phase).toBe('Running');
      expect((await request('/containerLogs/default/crash/main?previous=true')).text).toBe(
        'here\n',
      );
    });

    it('says why a container cannot run', async () => {
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

    it('takes its pods over after a restart, and ends those that are gone', async () => {
      const spec = { containers: [shell('echo run; exec sleep 60')] };
      createPod('stays', spec);
      createPod('goes', spec);
      const before = await until('stays', isReady);
      await until('goes', isReady);
      await agent.stop({ teardown: false });
      api.delete(`${namespace}/pods/goes`);
      await startAgent();
      for (let turn = 0; turn < 1_000 && readdirSync(join(base, 'pods')).length > 1; turn += 1) {
        await new Promise((resolve) => setTimeout(resolve, 10));
      }
      expect(readdirSync(join(base, 'pods'))).toEqual([before.metadata!.uid]);
      const after = await until('stays', isReady);
      expect(after.status?.containerStatuses?.[0]).toEqual(before.status?.containerStatuses?.[0]);
      expect(after.status?.podIP).toBe(before.status?.podIP);
    });

    it('ends a pod that is past its deadline', async () => {
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
      it('fills volumes and follows changes of config maps', async () => {
        const put = (value: string) =>
          api.put(`${namespace}/configmaps/files`, {
            metadata: { namespace: 'default' },
            data: { 'a.txt': value },
          } as ConfigMap);
        put('one');
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
        put('two');
        const pod = await until('volumes', ({ status }) => status?.phase === 'Succeeded');
        expect(pod.status?.containerStatuses?.[0]?.state?.terminated?.message).toBe('changed\n');
      });
    }
  });
}
