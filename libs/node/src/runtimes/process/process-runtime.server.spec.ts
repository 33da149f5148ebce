/**
 * Real processes, in both modes; the isolated one needs root and is skipped with a reason
 * otherwise.
 */
import { execFileSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createLogger, systemClock } from '@orch/component';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ContainerConfig, ContainerId, SandboxId } from '../container-runtime.js';
import type { IsolationMode } from './isolation.js';
import { ProcessRuntime } from './process-runtime.js';

const isRoot = process.getuid?.() === 0;
const logger = createLogger({ component: 'test', format: 'text', level: 'error' });

async function eventually<T>(probe: () => T | undefined | false, what: string): Promise<T> {
  for (let turn = 0; turn < 1_000; turn += 1) {
    const value = probe();
    if (value) return value;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  throw new Error(`never happened: ${what}`);
}

const modes: { mode: IsolationMode; skip: boolean }[] = [
  { mode: 'plain', skip: false },
  { mode: 'isolated', skip: !isRoot },
];

for (const { mode, skip } of modes) {
  const title = `process runtime, ${mode} mode${skip ? ' (skipped: namespaces need root)' : ''}`;
  describe.skipIf(skip)(title, () => {
    let base: string;
    let runtime: ProcessRuntime;
    let sandbox: SandboxId;
    const owner = `test/${randomUUID()}`;

    const makeRuntime = () =>
      new ProcessRuntime({
        root: join(base, 'runtime'),
        podCidr: `10.213.${process.pid % 256}.0/24`,
        owner,
        isolation: mode,
        clock: systemClock,
        logger,
      });

    const runSandbox = (uid: string) =>
      runtime.runSandbox({
        pod: { uid, namespace: 'default', name: `pod-${uid}` },
        attempt: 0,
        hostname: `pod-${uid}`,
        logDirectory: join(base, 'logs', uid),
        hostNetwork: false,
        hostPid: false,
      });

    const configOf = (script: string, more: Partial<ContainerConfig> = {}): ContainerConfig => ({
      name: 'main',
      attempt: 0,
      image: 'example/image:1',
      command: ['sh', '-c', script],
      args: [],
      environment: [],
      mounts: [],
      logPath: 'main/0.log',
      annotations: {},
      ...more,
    });

    const launch = async (script: string, more: Partial<ContainerConfig> = {}) => {
      const id = await runtime.createContainer(sandbox, configOf(script, more));
      await runtime.startContainer(id);
      return id;
    };

    const whenExited = async (id: ContainerId) => {
      for (let turn = 0; turn < 1_000; turn += 1) {
        const status = await runtime.containerStatus(id);
        if (status.state === 'exited') return status;
        await new Promise((resolve) => setTimeout(resolve, 10));
      }
      throw new Error('the container never exited');
    };

    const logOf = async (id: ContainerId) => {
      const { logPath } = await runtime.containerStatus(id);
      if (!existsSync(logPath)) return [];
      return readFileSync(logPath, 'utf8')
        .split('\n')
        .filter(Boolean)
        .map((line) => line.slice(line.indexOf(' ') + 1));
    };

    beforeEach(async () => {
      base = mkdtempSync(join(tmpdir(), 'orch-runtime-'));
      runtime = makeRuntime();
      await runtime.start();
      sandbox = await runSandbox('a');
    });

    afterEach(async () => {
      await runtime.stop({ teardown: true });
      rmSync(base, { recursive: true, force: true });
    });

    it('runs a command, logs both streams and reports the exit code', async () => {
      const id = await launch('echo "one $GREETING"; echo two >&2; exit 7', {
        environment: [{ name: 'GREETING', value: 'a  b"\'c' }],
      });
      const status = await whenExited(id);
      expect(status).toMatchObject({
        exitCode: 7,
        reason: 'Error',
        imageRef: 'process://example/image:1',
      });
      expect(status.finishedAtMs).toBeGreaterThanOrEqual(status.startedAtMs!);
      const lines = await logOf(id);
      expect(lines.sort()).toEqual([`stderr F two`, `stdout F one a  b"'c`]);
      expect(readFileSync(status.logPath, 'utf8')).toMatch(/^\d{4}-\d\d-\d\dT[\d:]{8}\.\d{9}Z /);
    });

    it('rejects commands that cannot be run', async () => {
      const noCommand = runtime.createContainer(sandbox, configOf('', { command: [] }));
      await expect(noCommand).rejects.toMatchObject({ code: 'InvalidImage' });
      const id = await runtime.createContainer(
        sandbox,
        configOf('', { command: ['no-such-program'] }),
      );
      await expect(runtime.startContainer(id)).rejects.toMatchObject({
        code: 'StartFailed',
        message: 'exec: "no-such-program": executable file not found in $PATH',
      });
      expect(await runtime.containerStatus(id)).toMatchObject({ state: 'exited', exitCode: 128 });
    });

    it('finds node even if it is not in PATH', async () => {
      const id = await launch('', {
        command: ['node', '-e', 'console.log("from node")'],
        environment: [{ name: 'PATH', value: '/usr/bin:/bin' }],
      });
      await whenExited(id);
      expect(await logOf(id)).toEqual(['stdout F from node']);
    });

    it('sends TERM, then KILL', async () => {
      const polite = await launch('trap "echo bye; exit 3" TERM; echo up; sleep 60 & wait');
      const stubborn = await launch('trap "" TERM; echo up; while :; do sleep 1; done', {
        name: 'stubborn',
        logPath: 'stubborn/0.log',
      });
      for (const id of [polite, stubborn]) {
        while ((await logOf(id)).length === 0) await new Promise((r) => setTimeout(r, 10));
      }
      await Promise.all([
        runtime.stopContainer(polite, 10_000),
        runtime.stopContainer(stubborn, 200),
      ]);
      expect((await runtime.containerStatus(polite)).exitCode).toBe(3);
      expect(await logOf(polite)).toEqual(['stdout F up', 'stdout F bye']);
      expect((await runtime.containerStatus(stubborn)).exitCode).toBe(137);
    });

    it('keeps containers running while the agent is down, and recovers them', async () => {
      const gate = join(base, 'gate');
      const running = await launch(
        `echo before; until [ -e ${gate} ]; do sleep 0.05; done; echo after; exit 5`,
      );
      const short = await launch(`sleep 0.2; echo done; exit 4`, {
        name: 'short',
        logPath: 'short/0.log',
      });
      await runtime.stop({ teardown: false });
      await eventually(() => existsSync(join(base, 'runtime/exits', short)), 'exit on record');
      runtime = makeRuntime();
      await runtime.start();
      expect((await whenExited(short)).exitCode).toBe(4);
      expect((await runtime.containerStatus(running)).state).toBe('running');
      expect((await runtime.sandboxStatus(sandbox)).state).toBe('ready');
      const changed = new Promise((resolve) => runtime.onContainerChanged(resolve));
      writeFileSync(gate, '');
      expect(await changed).toBe(running);
      expect((await whenExited(running)).exitCode).toBe(5);
      expect(await logOf(running)).toEqual(['stdout F before', 'stdout F after']);
    });

    it('ends a container whose supervisor was killed, with all its processes', async () => {
      const marker = `9${Date.now() % 1e8}`;
      const id = await launch(`echo up; sleep ${marker}`);
      while ((await logOf(id)).length === 0) await new Promise((r) => setTimeout(r, 10));
      execFileSync('pkill', ['-KILL', '-f', `shim.sh run .*${id}`]);
      const status = await whenExited(id);
      expect(status).toMatchObject({ exitCode: 137, reason: 'Error' });
      await eventually(() => {
        try {
          execFileSync('pgrep', ['-fx', `sleep ${marker}`]);
          return false;
        } catch {
          return true;
        }
      }, 'the command is gone');
    });

    it('runs commands inside and kills them at their deadline', async () => {
      const id = await launch('sleep 60', { environment: [{ name: 'WORD', value: 'inner' }] });
      const result = await runtime.execSync(id, ['sh', '-c', 'echo $WORD; exit 3'], 5_000);
      expect(result).toMatchObject({ exitCode: 3 });
      expect(result.stdout.toString()).toBe('inner\n');
      await expect(runtime.execSync(id, ['sleep', '60'], 100)).rejects.toMatchObject({
        code: 'DeadlineExceeded',
      });
      const stats = await runtime.listContainerStats();
      expect(stats).toHaveLength(1);
      expect(stats[0]?.memoryBytes).toBeGreaterThan(0);
    });

    it('measures all processes of a container, and none of its supervisor', async () => {
      const burn = 'i=0; while [ $i -lt 200000 ]; do i=$((i + 1)); done';
      const detached = `sleep ${6_000 + (process.pid % 1_000)}.25`;
      const busy = await launch(`(${burn}); echo done; setsid ${detached} & exec sleep 60`);
      const idle = await launch('exec sleep 60', { name: 'idle', logPath: 'idle/0.log' });
      while (!(await logOf(busy)).some((line) => line.endsWith('done'))) {
        await new Promise((resolve) => setTimeout(resolve, 10));
      }
      const countOf = async (id: ContainerId) =>
        (await runtime.listContainerStats()).find((stats) => stats.id === id)?.processCount;
      while ((await countOf(busy)) !== 2) await new Promise((resolve) => setTimeout(resolve, 10));
      const stats = await runtime.listContainerStats();
      const of = (id: ContainerId) => stats.find((entry) => entry.id === id)!;
      expect(of(idle).processCount).toBe(1);
      // The time of the subshell, which has ended, remains.
      expect(of(busy).cpuNanoseconds).toBeGreaterThan(of(idle).cpuNanoseconds + 1e8);
      await runtime.stopContainer(busy, 0);
      expect((await runtime.listContainerStats()).map(({ id }) => id)).toEqual([idle]);
      execFileSync('sh', ['-c', `pkill -KILL -fx "${detached}" || true`]);
    });

    it('gives each pod an address that the host can reach', async () => {
      const other = await runSandbox('b');
      const script = `require("net").createServer(s=>s.end(process.env.IP)).listen(8080,process.env.IP,()=>console.log("up"))`;
      const first = (await runtime.sandboxStatus(sandbox)).localIp!;
      const second = (await runtime.sandboxStatus(other)).localIp!;
      expect(first).not.toBe(second);
      const servers: ContainerId[] = [];
      for (const [id, ip] of [
        [sandbox, first],
        [other, second],
      ] as const) {
        const container = await runtime.createContainer(
          id,
          configOf('', {
            command: ['node', '-e', script],
            environment: [{ name: 'IP', value: ip }],
          }),
        );
        await runtime.startContainer(container);
        servers.push(container);
      }
      for (const server of servers) {
        while ((await logOf(server)).length === 0) await new Promise((r) => setTimeout(r, 10));
      }
      for (const ip of [first, second]) {
        const answer = await new Promise((resolve, reject) => {
          const socket = connect(8080, ip).on('error', reject);
          socket.on('data', (data) => resolve(String(data)));
        });
        expect(answer).toBe(ip);
      }
    });

    if (mode === 'plain') {
      it('rejects a volume that cannot be mounted, unless it is optional', async () => {
        const mount = { hostPath: base, containerPath: '/data', readOnly: false };
        await expect(
          runtime.createContainer(sandbox, configOf('true', { mounts: [mount] })),
        ).rejects.toMatchObject({ code: 'InvalidConfig' });
        const id = await launch('test ! -e /data', { mounts: [{ ...mount, optional: true }] });
        expect((await whenExited(id)).exitCode).toBe(0);
      });
    } else {
      it('mounts volumes at any path without changing the host', async () => {
        const volume = join(base, 'volume');
        mkdirSync(volume);
        writeFileSync(join(volume, 'file'), 'content\n');
        const mount = (containerPath: string, readOnly = false, hostPath = volume) => ({
          hostPath,
          containerPath,
          readOnly,
        });
        const id = await launch(
          'cat /data-x/file /etc/conf-x/file /var/run/secrets-x/y/file /etc/single-x; echo w > /data-x/out; ' +
            'echo w 2>&1 > /etc/conf-x/out; test -s /etc/hosts && echo bye > /dev/termination-log; hostname; ps ax | wc -l',
          {
            mounts: [
              mount('/data-x'),
              mount('/etc/conf-x', true),
              mount('/var/run/secrets-x/y'),
              mount('/etc/single-x', true, join(volume, 'file')),
              mount('/dev/termination-log', false, join(base, 'message')),
            ].map((entry) => {
              if (entry.containerPath === '/dev/termination-log') writeFileSync(entry.hostPath, '');
              return entry;
            }),
          },
        );
        await whenExited(id);
        const lines = await logOf(id);
        expect(lines.filter((line) => line === 'stdout F content')).toHaveLength(4);
        expect(lines.join('\n')).toContain('Read-only file system');
        expect(lines).toContain('stdout F pod-a');
        expect(Number(lines.at(-1)?.split(' ').at(-1))).toBeLessThan(12);
        expect(readFileSync(join(volume, 'out'), 'utf8')).toBe('w\n');
        expect(readFileSync(join(base, 'message'), 'utf8')).toBe('bye\n');
        for (const path of ['/data-x', '/etc/conf-x', '/run/secrets-x', '/etc/single-x']) {
          expect(existsSync(path)).toBe(false);
        }
      });

      it('removes its bridge, interfaces and namespaces on teardown', async () => {
        await launch('sleep 60');
        const gateway = `10.213.${process.pid % 256}.1/24`;
        const ip = (...args: string[]) => execFileSync('ip', args).toString();
        const line = ip('-o', '-4', 'addr')
          .split('\n')
          .find((one) => one.includes(` ${gateway} `));
        const bridge = line?.split(/\s+/)[1] ?? 'missing';
        expect(ip('netns')).toContain(bridge);
        await runtime.stop({ teardown: true });
        expect(ip('-o', 'link')).not.toContain(bridge);
        expect(ip('netns')).not.toContain(bridge);
      });
    }
  });
}
