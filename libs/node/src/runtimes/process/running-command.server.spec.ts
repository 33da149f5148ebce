/** Commands connected to a client, in both modes; the isolated one needs root. */
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { createLogger, systemClock } from '@orch/component';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ContainerId, RunningCommand, SandboxId } from '../container-runtime.js';
import type { IsolationMode } from './isolation.js';
import { ProcessRuntime } from './process-runtime.js';

const isRoot = process.getuid?.() === 0;
const logger = createLogger({ component: 'test', format: 'text', level: 'error' });

const modes: { mode: IsolationMode; skip: boolean }[] = [
  { mode: 'plain', skip: false },
  { mode: 'isolated', skip: !isRoot },
];

/** Resolves when the text has been received; consumes it from the stream. */
async function until(stream: Readable, wanted: string | RegExp): Promise<string> {
  let said = '';
  for (;;) {
    const chunk = stream.read();
    if (chunk) said += chunk;
    else await once(stream, 'readable');
    if (said.match(wanted)) return said;
  }
}

async function outcome(command: RunningCommand): Promise<[string, string, number]> {
  const { stdout, stderr, exited } = command;
  return Promise.all([text(stdout), stderr ? text(stderr) : '', exited]);
}

for (const { mode, skip } of modes) {
  const title = `commands, ${mode} mode${skip ? ' (skipped: namespaces need root)' : ''}`;
  describe.skipIf(skip)(title, () => {
    let base: string;
    let runtime: ProcessRuntime;
    let sandbox: SandboxId;
    let container: ContainerId;

    const start = async (name: string, script: string, stdin: boolean, tty = false) => {
      const id = await runtime.createContainer(sandbox, {
        name,
        attempt: 0,
        image: 'test',
        command: ['bash', '-c', script],
        args: [],
        environment: [{ name: 'GREETING', value: 'hello' }],
        mounts: [],
        logPath: `${name}.log`,
        stdin,
        tty,
        annotations: {},
      });
      await runtime.startContainer(id);
      return id;
    };

    beforeAll(async () => {
      base = mkdtempSync(join(tmpdir(), 'orch-command-'));
      runtime = new ProcessRuntime({
        root: join(base, 'runtime'),
        podCidr: `10.214.${process.pid % 256}.0/24`,
        owner: `test/${randomUUID()}`,
        isolation: mode,
        clock: systemClock,
        logger,
      });
      await runtime.start();
      sandbox = await runtime.runSandbox({
        pod: { uid: 'u', namespace: 'default', name: 'p' },
        attempt: 0,
        hostname: 'p',
        logDirectory: join(base, 'logs'),
        hostNetwork: false,
        hostPid: false,
      });
      container = await start('main', 'exec sleep 1000', false);
    });

    afterAll(async () => {
      await runtime.stop({ teardown: true });
      rmSync(base, { recursive: true, force: true });
    });

    it('read input and return output and an exit code', async () => {
      const script = 'read -r line; echo "$GREETING $line"; echo aside >&2; exit 3';
      const command = await runtime.exec(container, ['bash', '-c', script], {
        stdin: true,
        tty: false,
      });
      command.stdin?.end('world\n');
      expect(await outcome(command)).toEqual(['hello world\n', 'aside\n', 3]);
    });

    it('see the end of the input, and no input unless requested', async () => {
      const cat = { stdin: true, tty: false };
      const command = await runtime.exec(container, ['cat'], cat);
      command.stdin?.end(Buffer.alloc(300_000, 'x'));
      const [said] = await outcome(command);
      expect(said.length).toBe(300_000);
      const deaf = await runtime.exec(container, ['cat'], { stdin: false, tty: false });
      expect(await outcome(deaf)).toEqual(['', '', 0]);
    });

    it('have a terminal with a size', async () => {
      const command = await runtime.exec(container, ['bash', '--norc'], { stdin: true, tty: true });
      command.resize({ columns: 91, rows: 33 });
      await until(command.stdout, /[#$] /);
      command.stdin?.write('until stty size | grep 91; do sleep 0.1; done\n');
      await until(command.stdout, /33 91\r\n/);
      command.stdin?.write('test -t 0 && test -t 1 && exit 5\n');
      command.stdout.resume();
      expect(await command.exited).toBe(5);
    });

    it('end when the client disconnects', async () => {
      for (const tty of [false, true]) {
        const command = await runtime.exec(container, ['sleep', '1000'], { stdin: true, tty });
        command.stdout.resume();
        command.disconnect();
        expect(await command.exited).toBe(137);
      }
    });

    it('have an exit code for a missing program', async () => {
      const command = await runtime.exec(container, ['no-such-program'], {
        stdin: false,
        tty: false,
      });
      expect((await outcome(command))[2]).toBe(127);
    });

    it('of the container itself can be attached and detached', async () => {
      const script = 'while read -r line; do echo "got $line"; done; echo over';
      const id = await start('reader', script, true);
      const first = await runtime.attach(id, { stdin: true, endsInput: false });
      first.stdin?.write('one\n');
      await until(first.stdout, 'got one\n');
      first.stdin?.end();
      first.disconnect();
      const second = await runtime.attach(id, { stdin: true, endsInput: true });
      second.stdin?.write('two\n');
      await until(second.stdout, 'got two\n');
      second.stdin?.end();
      expect(await second.exited).toBe(0);
      expect(await text(second.stdout)).toContain('over');
      expect((await runtime.containerStatus(id)).exitCode).toBe(0);
    });

    it('of the container itself report their exit code when they end with their input', async () => {
      const codes = [];
      for (let run = 0; run < 20; run += 1) {
        const id = await start(`once-${run}`, 'read -r line; exit 7', true);
        const joined = await runtime.attach(id, { stdin: true, endsInput: true });
        joined.stdin?.end('word\n');
        await joined.exited;
        codes.push((await runtime.containerStatus(id)).exitCode);
      }
      expect(codes).toEqual(Array(20).fill(7));
    });

    it('of a container with a terminal transfer partial lines', async () => {
      const id = await start('shell', 'exec bash --norc', true, true);
      const joined = await runtime.attach(id, { stdin: true, endsInput: false });
      joined.resize({ columns: 97, rows: 31 });
      joined.stdin?.write('\n');
      await until(joined.stdout, /[#$] $/);
      joined.stdin?.write('until stty size | grep 97; do sleep 0.1; done\n');
      await until(joined.stdout, /31 97\r\n/);
      expect(joined.stderr).toBeUndefined();
      joined.stdin?.write('exit 7\n');
      joined.stdout.resume();
      expect(await joined.exited).toBe(0);
      expect((await runtime.containerStatus(id)).exitCode).toBe(7);
    });

    it('with a terminal end on TERM', async () => {
      const script = 'trap "exit 5" TERM; read -r _; echo ready; while :; do sleep 0.1; done';
      const id = await start('trapper', script, true, true);
      const joined = await runtime.attach(id, { stdin: true, endsInput: false });
      joined.stdin?.write('\n');
      await until(joined.stdout, 'ready');
      joined.disconnect();
      await runtime.stopContainer(id, 10_000);
      expect((await runtime.containerStatus(id)).exitCode).toBe(5);
    });

    it('are reachable at their ports', async () => {
      const { localIp = '127.0.0.1' } = await runtime.sandboxStatus(sandbox);
      const host = mode === 'plain' ? localIp : '127.0.0.1';
      const listen = `require('net').createServer({ allowHalfOpen: true }, (c) => { let n = 0;
        c.write('hi '); c.on('data', (d) => { n += d.length }); c.on('end', () => c.end(String(n))) })
        .listen(7999, '${host}', () => console.log('ready'))`;
      const server = await runtime.exec(container, [process.execPath, '-e', listen], {
        stdin: false,
        tty: false,
      });
      await until(server.stdout, 'ready');
      for (let turn = 0; turn < 3; turn += 1) {
        const socket = await runtime.dial(sandbox, 7999);
        socket.end(Buffer.alloc(1_000_000));
        expect(await text(socket)).toBe('hi 1000000');
      }
      await expect(runtime.dial(sandbox, 7998)).rejects.toThrow('connection refused');
      server.disconnect();
    });
  });
}
