/**
 * Figures of the API server over TLS with a plain client on the same machine: creates, gets, lists and
 * watch fan-out, each with the server's own CPU time. Run `npm run build` first, then `npm run bench`
 * (`-- get list` runs some of them). `ORCH_BENCH_OBJECTS` sets how many objects a list has.
 */
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { performance } from 'node:perf_hooks';
import { connect } from 'node:tls';
import { Agent, request } from 'undici';

const objectCount = Number(process.env.ORCH_BENCH_OBJECTS ?? 20_000);
const connectionCount = 32;
const runMs = 4_000;
const watcherCount = 1_000;
const eventCount = 200;
const clockTicksPerSecond = 100;
const root = resolve(import.meta.dirname, '../..');
const token = 'bench';

const agent = new Agent({
  connections: connectionCount,
  pipelining: 1,
  connect: { rejectUnauthorized: false },
  bodyTimeout: 120_000,
  headersTimeout: 120_000,
});

function freePort() {
  return new Promise((done) => {
    const probe = createServer();
    probe.listen(0, '127.0.0.1', () => {
      const { port } = probe.address();
      probe.close(() => done(port));
    });
  });
}

class Server {
  async start() {
    this.directory = mkdtempSync(join(tmpdir(), 'orch-api-bench-'));
    const tokenFile = join(this.directory, 'tokens.csv');
    writeFileSync(tokenFile, `${token},bench,bench\n`);
    this.port = await freePort();
    const startedMs = performance.now();
    this.child = spawn(
      process.execPath,
      [
        join(root, 'dist/apps/apiserver/src/main.js'),
        `--data-dir=${join(this.directory, 'data')}`,
        `--secure-port=${this.port}`,
        '--bind-address=127.0.0.1',
        `--token-auth-file=${tokenFile}`,
        '--log-level=warn',
      ],
      { stdio: ['ignore', 'inherit', 'inherit'] },
    );
    this.url = `https://127.0.0.1:${this.port}`;
    for (;;) {
      try {
        const { statusCode, body } = await request(`${this.url}/readyz`, { dispatcher: agent });
        await body.dump();
        if (statusCode === 200) break;
      } catch {
        if (this.child.exitCode !== null) throw new Error('the server did not start');
      }
      await new Promise((done) => setTimeout(done, 20));
    }
    return performance.now() - startedMs;
  }

  /** CPU time so far, milliseconds. */
  cpuMs() {
    const fields = readFileSync(`/proc/${this.child.pid}/stat`, 'utf8').split(') ')[1].split(' ');
    return ((Number(fields[11]) + Number(fields[12])) * 1_000) / clockTicksPerSecond;
  }

  residentBytes() {
    const status = readFileSync(`/proc/${this.child.pid}/status`, 'utf8');
    return Number(/VmRSS:\s+(\d+)/.exec(status)[1]) * 1_024;
  }

  async call(method, path, body) {
    const answer = await request(this.url + path, {
      dispatcher: agent,
      method,
      headers: {
        authorization: `Bearer ${token}`,
        ...(body !== undefined && { 'content-type': 'application/json' }),
      },
      body,
    });
    const bytes = (await answer.body.arrayBuffer()).byteLength;
    if (answer.statusCode >= 300) throw new Error(`${method} ${path}: ${answer.statusCode}`);
    return bytes;
  }

  async stop() {
    await agent.close();
    this.child.kill('SIGTERM');
    await new Promise((done) => this.child.once('exit', done));
    rmSync(this.directory, { recursive: true, force: true });
  }
}

function print(name, figure, detail) {
  console.log(`${name.padEnd(36)} ${figure.padStart(16)}   ${detail}`);
}

function percentile(sorted, share) {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))];
}

/** Runs `call` on every connection for a while. */
async function load(server, name, call, durationMs = runMs) {
  const latencies = [];
  const cpuBefore = server.cpuMs();
  const startedMs = performance.now();
  const worker = async () => {
    while (performance.now() - startedMs < durationMs) {
      const beforeMs = performance.now();
      await call();
      latencies.push(performance.now() - beforeMs);
    }
  };
  await Promise.all(Array.from({ length: connectionCount }, worker));
  const seconds = (performance.now() - startedMs) / 1_000;
  latencies.sort((a, b) => a - b);
  const cpuUs = ((server.cpuMs() - cpuBefore) * 1_000) / latencies.length;
  print(
    name,
    `${Math.round(latencies.length / seconds)}/s`,
    `server ${cpuUs.toFixed(0)} us/request, p50 ${percentile(latencies, 0.5).toFixed(1)} ms, p99 ${percentile(latencies, 0.99).toFixed(1)} ms`,
  );
}

let sequence = 0;
const payload = 'x'.repeat(900);

function configMap(namespace) {
  sequence += 1;
  return JSON.stringify({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: `object-${sequence}`, namespace, labels: { app: 'bench' } },
    data: { payload },
  });
}

async function namespace(server, name) {
  await server.call(
    'POST',
    '/api/v1/namespaces',
    JSON.stringify({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } }),
  );
  return `/api/v1/namespaces/${name}/configmaps`;
}

const benches = {
  async create(server) {
    const path = await namespace(server, 'creates');
    await load(server, 'create 1 KB', () => server.call('POST', path, configMap('creates')));
  },

  async get(server) {
    const path = await namespace(server, 'gets');
    await server.call(
      'POST',
      path,
      JSON.stringify({ metadata: { name: 'one' }, data: { payload } }),
    );
    await load(server, 'get 1.2 KB, quorum', () => server.call('GET', `${path}/one`));
    await load(server, 'get 1.2 KB, version 0', () =>
      server.call('GET', `${path}/one?resourceVersion=0`),
    );
  },

  async list(server) {
    const path = await namespace(server, 'lists');
    let left = objectCount;
    const fill = async () => {
      while (left-- > 0) await server.call('POST', path, configMap('lists'));
    };
    await Promise.all(Array.from({ length: connectionCount }, fill));
    for (const [name, query] of [
      ['unset', ''],
      ['version 0', '?resourceVersion=0'],
    ]) {
      const times = [];
      let bytes = 0;
      const cpuBefore = server.cpuMs();
      for (let round = 0; round < 5; round += 1) {
        const startedMs = performance.now();
        bytes = await server.call('GET', path + query);
        times.push(performance.now() - startedMs);
      }
      times.sort((a, b) => a - b);
      print(
        `list ${objectCount}, ${name}`,
        `${times[2].toFixed(0)} ms`,
        `${(bytes / 1e6).toFixed(1)} MB, best ${times[0].toFixed(0)} ms, server ${((server.cpuMs() - cpuBefore) / 5).toFixed(0)} ms each`,
      );
    }
  },

  async watch(server) {
    const path = await namespace(server, 'watches');
    const watchers = await openWatchers(server, `${path}?watch=1`);
    const cpuBefore = server.cpuMs();
    const startedMs = performance.now();
    let left = eventCount;
    const write = async () => {
      while (left-- > 0) await server.call('POST', path, configMap('watches'));
    };
    await Promise.all(Array.from({ length: 8 }, write));
    await watchers.received(eventCount * watcherCount);
    const seconds = (performance.now() - startedMs) / 1_000;
    print(
      `watch, ${watcherCount} watchers, ${eventCount} events`,
      `${Math.round((eventCount * watcherCount) / seconds)}/s`,
      `server ${((server.cpuMs() - cpuBefore) / seconds / 1_000).toFixed(2)} cores`,
    );
    watchers.close();
  },
};

/** Counts events by their line ends. */
async function openWatchers(server, path) {
  let count = 0;
  let wake = () => undefined;
  let goal = Number.POSITIVE_INFINITY;
  const sockets = [];
  const open = () =>
    new Promise((done, fail) => {
      const socket = connect({ host: '127.0.0.1', port: server.port, rejectUnauthorized: false });
      sockets.push(socket);
      socket.once('error', fail);
      let inBody = false;
      socket.once('secureConnect', () => {
        socket.write(
          `GET ${path} HTTP/1.1\r\nHost: bench\r\nAuthorization: Bearer ${token}\r\n\r\n`,
        );
      });
      socket.on('data', (chunk) => {
        let at = 0;
        if (!inBody) {
          at = chunk.indexOf('\r\n\r\n') + 4;
          inBody = true;
          done();
        }
        for (at = chunk.indexOf('}\n', at); at >= 0; at = chunk.indexOf('}\n', at + 2)) count += 1;
        if (count >= goal) wake();
      });
    });
  for (let opened = 0; opened < watcherCount; opened += 50) {
    await Promise.all(Array.from({ length: 50 }, open));
  }
  return {
    received(wanted) {
      goal = wanted;
      return new Promise((done) => {
        wake = done;
        if (count >= goal) done();
      });
    },
    close() {
      for (const socket of sockets) socket.destroy();
    },
  };
}

const chosen = process.argv.slice(2);
const unknown = chosen.filter((name) => !benches[name]);
if (unknown.length > 0) {
  console.error(`no bench ${unknown.join(', ')}; there are ${Object.keys(benches).join(', ')}`);
  process.exit(2);
}
const server = new Server();
print('ready after start, empty', `${(await server.start()).toFixed(0)} ms`, '');
try {
  for (const [name, run] of Object.entries(benches)) {
    if (chosen.length === 0 || chosen.includes(name)) await run(server);
  }
  print('resident memory at the end', `${(server.residentBytes() / 1e6).toFixed(0)} MB`, '');
} finally {
  await server.stop();
}
