import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '@orch/component';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ManagedProcess } from './managed-process.js';
import { identityOf, isAlive, signalProcess } from './process-identity.js';
import type { ComponentSpec } from './process-spec.js';
import { liveSupervisor, recordChildren, takeDirectory } from './run-state.js';
import { endProcess, stopLeftovers } from './stop-leftovers.js';

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'orch-managed-'));
  mkdirSync(join(directory, 'logs'));
  mkdirSync(join(directory, 'run'));
});
afterEach(() => rmSync(directory, { recursive: true }));

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setTimeout(resolve, 10));
}

function proxyWith(main: string): ComponentSpec {
  return {
    ...{ component: 'proxy', name: 'proxy', hasTeardown: false },
    ...{ main, args: [], probe: { port: 1, path: '/healthz' } },
  };
}

function managed(script: string) {
  const main = join(directory, 'main.mjs');
  writeFileSync(main, script);
  const reports: string[] = [];
  const child = new ManagedProcess(
    { name: 'proxy', main, args: [], components: [proxyWith(main)] },
    {
      dataDirectory: directory,
      clock: systemClock,
      random: () => 0,
      report: (text) => reports.push(text),
      changed: () => undefined,
    },
  );
  return { child, reports };
}

const sleeper = `process.on('SIGTERM', () => process.exit(0)); console.log('up'); setInterval(() => {}, 1e6);`;

describe('ManagedProcess', () => {
  it('restarts a killed process and reports it', async () => {
    const { child, reports } = managed(sleeper);
    child.start();
    child.startAgainFromNowOn();
    const first = child.identity!;
    signalProcess(first, 'SIGKILL');
    await until(() => child.identity !== undefined && child.identity.pid !== first.pid);
    expect(reports).toEqual([
      expect.stringMatching(/proxy ended by SIGKILL; starting it again in/),
    ]);
    await until(() => child.lastLines().includes('up'));
    const second = child.identity!;
    await child.stop();
    expect(isAlive(second)).toBe(false);
    expect(child.identity).toBeUndefined();
  });

  it('reports why a process did not start', async () => {
    const { child } = managed(`console.error('port 1 is in use'); process.exit(1);`);
    child.start();
    await until(() => child.startFailure !== undefined);
    expect(child.startFailure).toBe('ended with exit code 1');
    expect(child.lastLines()).toEqual(['port 1 is in use']);
    await child.stop();
  });
});

describe('processes after a killed supervisor', () => {
  const record = (main: string, ...args: string[]) => ({
    ...{ component: 'proxy' as const, hasTeardown: false, name: 'proxy', main, args },
  });
  const start = (main: string, ...args: string[]) => {
    writeFileSync(main, sleeper);
    const child = spawn(process.execPath, [main, ...args], { stdio: 'ignore' });
    return identityOf(child.pid!)!;
  };
  const program = (name: string) => join(directory, `${name}.mjs`);

  it('are stopped, except a process with a reused pid', async () => {
    const [own, other] = [start(program('ours')), start(program('foreign'))];
    recordChildren(directory, [
      { ...record(program('ours')), name: 'ours', identity: own },
      {
        ...{ ...record(program('reused')), name: 'reused' },
        identity: { ...other, startTicks: other.startTicks - 1 },
      },
    ]);
    expect(await stopLeftovers(directory, 'remove')).toEqual(['ours']);
    expect(isAlive(own)).toBe(false);
    expect(isAlive(other)).toBe(true);
    await endProcess(other, 5_000);
  });

  it('are stopped if they were started but not recorded', async () => {
    const main = program('main');
    const own = start(main, '--extra', '--port=1');
    const others = [start(main, '--port=1', '--other'), start(program('other'), '--port=1')];
    const titled = spawn(
      process.execPath,
      ['-e', `process.title = 'some title'; setInterval(() => {}, 1e6);`],
      { stdio: 'ignore' },
    );
    others.push(identityOf(titled.pid!)!);
    recordChildren(directory, [record(main, '--port=1'), record(program('none'))]);
    expect(await stopLeftovers(directory, 'remove')).toEqual(['proxy']);
    expect(isAlive(own)).toBe(false);
    expect(others.every(isAlive)).toBe(true);
    await Promise.all(others.map((other) => endProcess(other, 5_000)));
  });

  it('do not keep the directory locked', async () => {
    writeFileSync(
      join(directory, 'run/supervisor.json'),
      JSON.stringify({ ...identityOf(process.pid)!, startTicks: 1 }),
    );
    expect(liveSupervisor(directory)).toBeUndefined();
    takeDirectory(directory);
    expect(liveSupervisor(directory)?.pid).toBe(process.pid);
    expect(() => takeDirectory(directory)).toThrow(/is running already/);
  });
});
