/**
 * Exec, attach, logs, port forwarding and copies of pods: with our own command line, and with stock
 * kubectl over WebSocket and over SPDY.
 */
import { createHash, randomBytes } from 'node:crypto';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { type IncomingMessage, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import { Exec, KubeConfig, type V1Status } from '@kubernetes/client-node';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { Cluster } from './support/cluster.js';
import { type Background, StreamTool } from './support/stream-tool.js';
import { eventually } from './support/wait.js';

const megabyte = randomBytes(1024 * 1024);
const digest = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex');

/** A program that echoes connections and logs its input. */
const program = `
const { createServer } = require('node:http');
const answer = (request, response) => {
  if (request.url === '/page') {
    response.setHeader('content-type', 'text/html');
    return response.end('<a href="/other">other</a>');
  }
  if (request.url === '/moved') return response.writeHead(302, { location: '/there' }).end();
  if (request.url === '/about') {
    return response.end(JSON.stringify({ method: request.method, headers: request.headers }));
  }
  request.pipe(response);
};
createServer(answer).listen(8080, process.env.POD_IP);
console.log('ready');
process.stdin.on('data', (text) => console.log('read ' + text));
`;

const manifest = JSON.stringify({
  apiVersion: 'v1',
  kind: 'List',
  items: [
    {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'echo', labels: { app: 'echo' } },
      spec: {
        containers: [
          {
            name: 'main',
            image: 'test/echo',
            stdin: true,
            command: ['node', '-e', program],
            env: [{ name: 'POD_IP', valueFrom: { fieldRef: { fieldPath: 'status.podIP' } } }],
            ports: [{ name: 'http', containerPort: 8080 }],
          },
          { name: 'side', image: 'test/side', command: ['sleep', '100000'] },
        ],
      },
    },
    {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'shell' },
      spec: {
        containers: [
          {
            name: 'main',
            image: 'test/shell',
            stdin: true,
            tty: true,
            command: ['bash', '--norc'],
          },
        ],
      },
    },
    {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name: 'echo' },
      spec: { selector: { app: 'echo' }, ports: [{ port: 80, targetPort: 'http' }] },
    },
    {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name: 'nobody' },
      spec: { selector: { app: 'nobody' }, ports: [{ port: 80 }] },
    },
  ],
});

/** The bytes that the program returns for these. */
function echoed(port: number, bytes: Buffer): Promise<Buffer> {
  return new Promise((done, fail) => {
    const asked = request({ host: '127.0.0.1', port, method: 'POST', agent: false }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk) => chunks.push(chunk));
      response.on('end', () => done(Buffer.concat(chunks)));
    });
    asked.on('error', fail);
    asked.end(bytes);
  });
}

for (const dialect of ['kubernetes', 'orch'] as const) {
  const cluster = new Cluster({ dialect, replicas: 1 });
  const tools: Record<string, () => StreamTool> = { orchctl: () => StreamTool.orchctl(cluster) };
  if (dialect === 'kubernetes') {
    tools['kubectl over WebSocket'] = () => StreamTool.kubectl(cluster, true);
    tools['kubectl over SPDY'] = () => StreamTool.kubectl(cluster, false);
  }

  describe(`streams in the ${dialect} dialect`, () => {
    let directory: string;

    beforeAll(async () => {
      directory = mkdtempSync(join(tmpdir(), 'orch-streams-'));
      await cluster.up();
      const tool = tools.orchctl!();
      await tool.must(['apply', '-f', '-'], manifest);
      await tool.must(['wait', '--for=condition=Ready', 'pod/echo', 'pod/shell', '--timeout=90s']);
    });

    afterAll(async () => {
      await cluster.destroy();
      rmSync(directory, { recursive: true, force: true });
    });

    describe.each(Object.keys(tools))('with %s', (name) => {
      let tool: StreamTool;

      beforeAll(() => {
        tool = tools[name]!();
      });

      it('runs commands with input, both outputs and an exit code', async () => {
        const script = 'read -r line; echo "out $line"; echo aside >&2; exit 3';
        const args = ['exec', '-i', 'echo', '-c', 'main', '--', 'sh', '-c', script];
        const { code, stdout, stderr } = await tool.run(args, 'word\n');
        expect({ code, stdout }).toEqual({ code: 3, stdout: 'out word\n' });
        expect(stderr).toContain('aside');
        expect(stderr).toContain('exit code 3');
      });

      it('sends a megabyte to a command that reads all its input', async () => {
        const args = ['exec', '-i', 'echo', '-c', 'main', '--', 'sha256sum'];
        const { stdout } = await tool.run(args, megabyte);
        expect(stdout.split(' ')[0]).toBe(digest(megabyte));
      });

      it('gives a command a terminal of the size of its own', async () => {
        const inside = 'sleep 0.5; stty size; test -t 0 && exit 4';
        const args = ['exec', '-it', 'echo', '-c', 'main', '--', 'bash', '-c', inside];
        const { code, stdout } = await tool.inTerminal(args, { rows: 33, columns: 91 });
        expect(stdout).toContain('33 91');
        expect(code).toBe(4);
      });

      it('attaches to the terminal of a container', async () => {
        const args = ['attach', '-it', 'shell'];
        const joined = tool.startInTerminal(args, { rows: 31, columns: 97 });
        await eventually('the prompt', () => {
          joined.type('\n');
          return /[#$] /.test(joined.output);
        });
        joined.type('until stty size | grep 97; do sleep 0.1; done\n');
        await joined.said(/^31 97\r$/m);
        await joined.stop();
      });

      it('reports the reason of a failure', async () => {
        const absent = await tool.run(['exec', 'echo', '-c', 'absent', '--', 'true']);
        expect(absent.code).not.toBe(0);
        expect(absent.stderr).toContain('container absent is not valid for pod echo');
        const noPod = await tool.run(['exec', 'nobody', '--', 'true']);
        expect(noPod.stderr).toContain('pods "nobody" not found');
        const noProgram = await tool.run(['exec', 'echo', '-c', 'main', '--', 'no-such-program']);
        expect(noProgram.code).toBe(127);
      });

      it('attaches to a container and follows its log', async () => {
        const word = `word-${randomBytes(4).toString('hex')}`;
        const log = tool.start(['logs', '-f', 'echo', '-c', 'main']);
        const joined = tool.start(['attach', '-i', 'echo', '-c', 'main']);
        await log.said('ready');
        // An attached client receives later output only.
        await eventually('the word to be read', () => {
          joined.type(`${word}\n`);
          return joined.output.includes(`read ${word}`);
        });
        await log.said(`read ${word}`);
        await Promise.all([log.stop(), joined.stop()]);
      });

      it('forwards a port to the pod, a megabyte each way', async () => {
        for (const [target, remote] of [
          ['pod/echo', '8080'],
          ['service/echo', '80'],
        ] as const) {
          const forwarding = tool.start(['port-forward', target, `:${remote}`]);
          const [, port] = await forwarding.said(/Forwarding from 127\.0\.0\.1:(\d+)/);
          const answers = await Promise.all(
            Array.from({ length: 4 }, () => echoed(Number(port), megabyte)),
          );
          for (const answer of answers) expect(digest(answer)).toBe(digest(megabyte));
          await forwarding.stop();
        }
      });

      it('reports a port without a listener', async () => {
        const forwarding = tool.start(['port-forward', 'pod/echo', ':81']);
        const [, port] = await forwarding.said(/Forwarding from 127\.0\.0\.1:(\d+)/);
        await expect(echoed(Number(port), megabyte)).rejects.toThrow();
        await forwarding.said('connection refused');
        await forwarding.stop();
      });

      it('copies files and directories both ways', async () => {
        const here = join(directory, name.replaceAll(' ', '-'));
        const tree = join(here, 'tree');
        mkdirSync(join(tree, 'a b'), { recursive: true });
        writeFileSync(join(tree, 'a b', 'megabyte'), megabyte);
        writeFileSync(join(tree, 'x,y&z'), 'text');
        await tool.must(['cp', '-c', 'main', tree, `echo:${here}/sent`]);
        await tool.must(['cp', '-c', 'main', `echo:${here}/sent`, join(here, 'returned')]);
        const returned = (path: string) => readFileSync(join(here, 'returned', path));
        expect(digest(returned('a b/megabyte'))).toBe(digest(megabyte));
        expect(returned('x,y&z').toString()).toBe('text');
        const file = join(tree, 'x,y&z');
        await tool.must(['cp', '-c', 'main', file, `echo:${here}/renamed`]);
        expect(readFileSync(join(here, 'renamed'), 'utf8')).toBe('text');
      });

      it('proxies the API, and pods, services and nodes through it', async () => {
        const proxy: Background = tool.start(['proxy', '--port=0']);
        const [, port] = await proxy.said(/Starting to serve on 127\.0\.0\.1:(\d+)/);
        const ask = (path: string, init?: RequestInit) =>
          fetch(`http://127.0.0.1:${port}${path}`, { redirect: 'manual', ...init });
        const pod = '/api/v1/namespaces/default/pods/echo/proxy';
        const service = '/api/v1/namespaces/default/services/http:echo:80/proxy';
        for (const method of ['GET', 'PUT', 'POST', 'PATCH', 'DELETE', 'OPTIONS']) {
          const answer = await ask(`${service}/about`, { method });
          const { method: seen, headers } = (await answer.json()) as {
            method: string;
            headers: Record<string, string>;
          };
          expect(seen).toBe(method);
          expect(headers.authorization).toBeUndefined();
          expect(headers['x-forwarded-uri']).toBe(`${service}/about`);
        }
        const echo = await ask(`${pod}/`, { method: 'POST', body: megabyte });
        expect(digest(Buffer.from(await echo.arrayBuffer()))).toBe(digest(megabyte));
        expect(await (await ask(`${pod}/page`)).text()).toBe(`<a href="${pod}/other">other</a>`);
        expect((await ask(`${pod}/moved`)).headers.get('location')).toBe(`${pod}/there`);
        expect((await ask(`${pod}?a=1`)).headers.get('location')).toBe(`${pod}/?a=1`);
        const none = await ask('/api/v1/namespaces/default/services/nobody/proxy/');
        expect(none.status).toBe(503);
        expect(((await none.json()) as { message: string }).message).toBe(
          'no endpoints available for service "nobody"',
        );
        expect(await (await ask('/api/v1/nodes/node-1/proxy/healthz')).text()).toBe('ok');
        await proxy.stop();
      });
    });

    it.runIf(dialect === 'kubernetes')('serves the JavaScript client', async () => {
      const config = new KubeConfig();
      config.loadFromFile(cluster.kubeconfig);
      const outputs = [new PassThrough(), new PassThrough()] as const;
      const said = outputs.map((output) => text(output));
      const input = new PassThrough();
      const status = await new Promise<V1Status>((done, fail) => {
        const script = 'read -r line; echo "out $line"; echo aside >&2; exit 6';
        const command = ['sh', '-c', script];
        new Exec(config)
          .exec('default', 'echo', 'main', command, ...outputs, input, false, done)
          .then(() => input.write('word\n'), fail);
      });
      for (const output of outputs) output.end();
      expect(await Promise.all(said)).toEqual(['out word\n', 'aside\n']);
      expect(status.reason).toBe('NonZeroExitCode');
      expect(status.details?.causes).toEqual([{ reason: 'ExitCode', message: '6' }]);
    });

    it('sends a log and a watch over WebSocket', async () => {
      const headers = { authorization: `Bearer ${cluster.token}` };
      const open = (path: string) =>
        new WebSocket(`${cluster.url}/api/v1/namespaces/default/${path}`.replace('https', 'wss'), {
          rejectUnauthorized: false,
          headers,
        });
      const said = async (socket: WebSocket, what: string) => {
        let heard = '';
        socket.on('message', (data) => {
          heard += data;
        });
        await eventually(`"${what}" over WebSocket`, () => heard.includes(what));
        socket.close();
      };
      await said(open('pods/echo/log?container=main&follow=1'), 'ready');
      await said(open('pods?watch=1&fieldSelector=metadata.name%3Decho'), '"type":"ADDED"');
    });

    it('refuses an anonymous client before an upgrade', async () => {
      const url = `${cluster.url}/api/v1/namespaces/default/pods/echo/exec?command=true&stdout=1`;
      const socket = new WebSocket(url.replace('https', 'wss'), { rejectUnauthorized: false });
      const answer = await new Promise<IncomingMessage>((done, fail) => {
        socket.once('unexpected-response', (_request, response) => done(response));
        socket.once('open', () => fail(new Error('it was opened')));
      });
      expect(answer.statusCode).toBe(403);
      expect(JSON.parse(await text(answer)).kind).toBe('Status');
    });

    it('closes the streams of clients when the server ends', async () => {
      const held = tools.orchctl!().start(['exec', '-i', 'echo', '-c', 'main', '--', 'cat']);
      held.type('here\n');
      await held.said('here');
      await cluster.down();
      expect(await held.ended).not.toBe(0);
      await cluster.up();
    });
  });
}
