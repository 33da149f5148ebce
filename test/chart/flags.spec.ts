/**
 * Checks that the programs have every flag that the chart sets, and export every metric that it
 * uses.
 */
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { must, run } from '../e2e/support/process.js';
import { combinations, monitoring } from './support/combinations.js';
import { find, type Rendered, render } from './support/helm.js';
import { containersOf, podsOf } from './support/pods.js';
import { HostServer } from './support/server.js';

interface Call {
  /** `orch-scheduler`, or a script of the image such as `prepare.mjs`. */
  readonly program: string;
  readonly dialect: string;
  readonly args: readonly string[];
}

const components = ['orch-apiserver', 'orch-controller-manager', 'orch-scheduler'];
const scripts = ['prepare.mjs', 'remove.mjs', 'promote.mjs', 'backup.mjs'];

let rendered: Rendered[][];
let calls: Call[];
beforeAll(async () => {
  rendered = await Promise.all(combinations.map(({ values, ...rest }) => render(values, rest)));
  calls = rendered.flatMap((objects, i) => {
    const { dialect = 'orch' } = combinations[i]!.values as { dialect?: string };
    return podsOf(objects).flatMap((pod) =>
      containersOf(pod).map(({ command = [], args = [] }) => {
        const script = command[1]?.split('/').at(-1);
        const program = script === 'start.mjs' ? 'orch-apiserver' : (script ?? command[0]!);
        return { program, dialect, args };
      }),
    );
  });
});

describe('flags', () => {
  it('are set only for programs with a check', () => {
    const programs = new Set(calls.map(({ program }) => program));
    expect([...programs].sort()).toEqual([...components, ...scripts, 'write-and-watch.mjs'].sort());
  });

  it.each(components)('of %s exist', async (program) => {
    const main = `dist/apps/${program.slice('orch-'.length)}/src/main.js`;
    for (const dialect of ['orch', 'kubernetes']) {
      const help = await must('node', [main, '--help'], { env: { ORCH_DIALECT: dialect } });
      const known = new Set([...help.matchAll(/^ {2}--([\w-]+)/gm)].map(([, name]) => name));
      expect(known.size).toBeGreaterThan(20);
      const given = new Set(
        calls
          .filter((call) => call.program === program && call.dialect === dialect)
          .flatMap(({ args }) => args)
          .map((arg) => /^--([\w-]+)/.exec(arg)?.[1]),
      );
      expect(given.size).toBeGreaterThan(10);
      expect([...given].filter((name) => !known.has(name))).toEqual([]);
    }
  });

  it.each([
    ['orch-apiserver', '--enable-admission-plugins=NodeRestriction'],
    ['orch-controller-manager', '--use-service-account-credentials'],
  ])('of %s include %s', (program, flag) => {
    const all = calls.filter((call) => call.program === program);
    expect(all.length).toBeGreaterThan(10);
    expect(all.filter(({ args }) => !args.includes(flag))).toEqual([]);
  });

  it.each(scripts)('of %s exist', async (script) => {
    const all = calls.filter(({ program }) => program === script);
    expect(all.length).toBeGreaterThan(0);
    for (const args of new Set(all.map((call) => call.args.join('\n')))) {
      // The error names the first unknown flag.
      const { code, stderr } = await run('node', [
        join('scripts/image/cluster', script),
        ...args.split('\n'),
        '--no-such-flag=1',
      ]);
      expect(stderr).toContain("'--no-such-flag'");
      expect(code).toBe(1);
    }
  });
});

describe('metrics', () => {
  const host = new HostServer();
  beforeAll(() => host.start());
  afterAll(() => host.stop());

  it('of the alert rules exist', async () => {
    const objects = await render({ backup: { enabled: true } }, { apiVersions: monitoring });
    const { groups } = find(objects, 'PrometheusRule', 'orch').spec as {
      groups: { rules: { alert: string; expr: string }[] }[];
    };
    const text = groups.flatMap(({ rules }) => rules.map(({ expr }) => expr)).join('\n');
    const wanted = new Set(
      [...text.matchAll(/\b(?:apiserver|raft|orch)_\w+/g)].map(([name]) => name),
    );
    expect(wanted.size).toBeGreaterThan(3);
    const served = await host.read('/metrics');
    const known = [...served.matchAll(/^# TYPE (\S+) (\w+)$/gm)].flatMap(([, name, type]) =>
      type === 'histogram' ? [`${name}_bucket`, `${name}_sum`, `${name}_count`] : [name],
    );
    expect([...wanted].filter((name) => !known.includes(name))).toEqual([]);
  });

  it('are scraped from existing Services, whose names the certificates include', async () => {
    const objects = await render({}, { apiVersions: monitoring });
    const monitors = objects.filter(({ kind }) => kind === 'ServiceMonitor');
    expect(monitors).toHaveLength(3);
    for (const { spec, metadata } of monitors) {
      const { selector, endpoints } = spec as {
        selector: { matchLabels: Record<string, string> };
        endpoints: { port: string }[];
      };
      const services = objects.filter(
        ({ kind, metadata: { labels = {} } }) =>
          kind === 'Service' &&
          Object.entries(selector.matchLabels).every(([key, value]) => labels[key] === value),
      );
      expect(services, metadata.name).toHaveLength(1);
      const { ports } = services[0]!.spec as { ports: { name: string }[] };
      expect(ports.map(({ name }) => name)).toContain(endpoints[0]!.port);
    }
  });
});
