/** values.schema.json, the checks of the templates, and README.md. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { must } from '../e2e/support/process.js';
import { chart, repository, template } from './support/helm.js';

interface Schema {
  readonly $ref?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: boolean | Schema;
}

const bad: readonly (readonly [string, object, RegExp])[] = [
  ['a value nobody knows', { apiservers: {} }, /apiservers/],
  ['a nested value nobody knows', { apiserver: { replica: 3 } }, /replica /],
  ['an even number of replicas', { apiserver: { replicas: 4 } }, /replicas/],
  ['no replicas', { apiserver: { replicas: 0 } }, /replicas/],
  ['a number as text', { scheduler: { replicas: 'two' } }, /scheduler\.replicas/],
  ['an unknown dialect', { dialect: 'swarm' }, /dialect/],
  ['an unknown mode of certificates', { certificates: { mode: 'none' } }, /mode/],
  [
    'provided certificates without Secrets',
    { certificates: { mode: 'provided' } },
    /servingSecret/,
  ],
  ['a time without a unit', { apiserver: { electionTimeout: '1000' } }, /electionTimeout/],
  ['a size that is none', { apiserver: { persistence: { size: 'big' } } }, /size/],
  ['a range that is no CIDR', { apiserver: { serviceClusterIpRange: '10.96.0.0' } }, /serviceCl/],
  ['a digest that is none', { image: { digest: 'sha256:12' } }, /digest/],
  ['a flag without dashes', { apiserver: { extraArgs: ['v=5'] } }, /extraArgs/],
  ['an unknown Service type', { apiserver: { service: { type: 'External' } } }, /type/],
  ['a port out of range', { apiserver: { service: { port: 70_000 } } }, /port/],
  ['a schedule that is none', { backup: { enabled: true, schedule: 'daily' } }, /schedule/],
  ['no backups kept', { backup: { keep: 0 } }, /keep/],
  ['a restore of nothing', { restore: { enabled: true } }, /existingClaim/],
  [
    'a path out of the claim',
    { restore: { enabled: true, existingClaim: 'a', file: '/etc/passwd' } },
    /file/,
  ],
  ['an unknown anti-affinity', { apiserver: { antiAffinity: 'firm' } }, /antiAffinity/],
  [
    'a grace period that is too short for the delay',
    { apiserver: { shutdownDelaySeconds: 50 } },
    /terminationGracePeriodSeconds must be at least 75/,
  ],
  [
    'an issuer in another mode',
    { certificates: { certManager: { issuerRef: { name: 'a' } } } },
    /issuerRef is given but/,
  ],
  [
    'provided Secrets in another mode',
    { certificates: { provided: { servingSecret: 'a' } } },
    /provided is given but/,
  ],
  [
    'a node port nobody serves',
    { apiserver: { service: { nodePort: 30_000 } } },
    /needs apiserver/,
  ],
  [
    'an address without a load balancer',
    { apiserver: { service: { loadBalancerIP: '192.0.2.1' } } },
    /need apiserver\.service\.type LoadBalancer/,
  ],
];

describe('values', () => {
  it.each(bad)('rejects %s', async (_name, values, message) => {
    const { code, stderr } = await template(values as Record<string, unknown>);
    expect(stderr).toMatch(message);
    expect(code).not.toBe(0);
  });

  it('are exactly those of the schema', () => {
    const schema = JSON.parse(readFileSync(join(chart, 'values.schema.json'), 'utf8')) as Schema & {
      $defs: Record<string, Schema>;
    };
    const resolved = (part: Schema) => {
      const name = part.$ref?.split('/').at(-1);
      return name ? schema.$defs[name]! : part;
    };
    const problems: string[] = [];
    const compare = (values: Record<string, unknown>, part: Schema, path: string) => {
      const { properties } = resolved(part);
      if (!properties) return;
      if (resolved(part).additionalProperties !== false) problems.push(`${path} is open`);
      const known = new Set(Object.keys(properties));
      for (const [name, value] of Object.entries(values)) {
        if (!known.delete(name)) problems.push(`${path}${name} is not in the schema`);
        else if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
          compare(value as Record<string, unknown>, properties[name]!, `${path}${name}.`);
        }
      }
      if (Object.keys(values).length === 0) return;
      for (const name of known) problems.push(`${path}${name} is not in values.yaml`);
    };
    compare(parse(readFileSync(join(chart, 'values.yaml'), 'utf8')), schema, '');
    // Helm gives every chart a map of global values.
    expect(problems).toEqual(['global is not in values.yaml']);
  });

  it('are described in README.md', async () => {
    await must('node', [join(repository, 'scripts/chart/readme.mjs'), '--check']);
  });
});
