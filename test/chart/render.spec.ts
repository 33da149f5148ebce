/** Checks the rendered objects for many combinations of values, one by one and together. */
import { codecFor, kindNamed, parseLabelSelector } from '@orch/apimachinery';
import { selectDialect } from '@orch/component';
import { beforeAll, describe, expect, it } from 'vitest';
import { unknownFields } from '../../libs/registry/src/codec/unknown-fields.js';
import { combinations } from './support/combinations.js';
import { chart, find, helm, type Rendered, render } from './support/helm.js';
import { containersOf, podsOf, type Reference, referencesOf } from './support/pods.js';

// The host is a stock cluster.
beforeAll(() => selectDialect('kubernetes'));

/** Custom kinds, which the schema of the API lacks. */
const foreignKinds = ['Certificate', 'Issuer', 'ServiceMonitor', 'PrometheusRule'];
/** Fields newer than the schema, rendered for hosts that have them. */
const newerFields = [
  'StatefulSet: spec.persistentVolumeClaimRetentionPolicy',
  'StatefulSet: spec.minReadySeconds',
  'CronJob: spec.timeZone',
];

describe('helm lint', () => {
  it('reports only the missing icon', async () => {
    const { code, stdout } = await helm(['lint', '--strict', chart]);
    expect(stdout.match(/\[(?:WARNING|ERROR)\].*/g)).toBeNull();
    expect(code).toBe(0);
  });
});

describe.each(combinations)('$name', ({ values, provided = [], ...options }) => {
  let objects: Rendered[];
  beforeAll(async () => {
    objects = await render(values, options);
  });

  it('renders objects that the API accepts', () => {
    expect(objects.length).toBeGreaterThan(10);
    for (const object of objects) {
      const { kind, apiVersion } = object;
      const known = kindNamed(apiVersion, kind);
      if (!known) {
        expect(foreignKinds, `${apiVersion} ${kind}`).toContain(kind);
        continue;
      }
      const unknown = unknownFields(known.type, object).map((path) => `${kind}: ${path}`);
      expect(unknown.filter((field) => !newerFields.includes(field))).toEqual([]);
      // Throws for a value of the wrong type.
      codecFor(known.type).fromJson(object);
    }
  });

  it('names each object once, in its namespace, with labels', () => {
    const names = objects.map(({ kind, metadata }) => `${kind}/${metadata.name}`);
    expect(new Set(names).size).toBe(names.length);
    for (const { kind, metadata } of objects) {
      expect(metadata.namespace, kind).toBe('control');
      expect(metadata.name.length).toBeLessThanOrEqual(63);
      expect(metadata.labels).toMatchObject({
        'app.kubernetes.io/instance': options.release ?? 'orch',
        'app.kubernetes.io/managed-by': 'Helm',
      });
      for (const value of Object.values(metadata.labels ?? {})) {
        expect(value).toMatch(/^(?:[\w.-]{0,61}[A-Za-z0-9])?$/);
      }
    }
  });

  it('refers only to existing objects', () => {
    const has = ({ kind, name, keys = [] }: Reference) => {
      if (provided.includes(name)) return true;
      if (kind === 'ServiceAccount' && name === 'default') return true;
      const certificate = objects.some(
        (object) =>
          object.kind === 'Certificate' &&
          (object.spec as { secretName: string }).secretName === name,
      );
      if (kind === 'Secret' && certificate) return true;
      const object = objects.find((it) => it.kind === kind && it.metadata.name === name);
      const { data = {}, stringData = {} } = (object ?? {}) as Record<string, object | undefined>;
      return object !== undefined && keys.every((key) => key in data || key in stringData);
    };
    const pods = podsOf(objects);
    const missing = pods.flatMap((pod) =>
      referencesOf(pod)
        .filter((reference) => !has(reference))
        .map(({ kind, name, keys }) => `${pod.of}: ${kind}/${name} ${keys ?? ''}`),
    );
    expect(missing).toEqual([]);
    for (const pod of pods) {
      const volumes = (pod.spec.volumes ?? []).map(({ name }) => name);
      const claims = pod.of.startsWith('StatefulSet/') ? ['data'] : [];
      for (const { volumeMounts = [] } of containersOf(pod)) {
        for (const { name } of volumeMounts) expect([...volumes, ...claims]).toContain(name);
      }
    }
  });

  it('renders pods that run in a namespace with restricted pod security', () => {
    for (const pod of podsOf(objects)) {
      const { spec, of } = pod;
      expect(spec.securityContext, of).toMatchObject({
        runAsNonRoot: true,
        runAsUser: 65_532,
        seccompProfile: { type: 'RuntimeDefault' },
      });
      expect(spec.automountServiceAccountToken, of).toBe(false);
      expect(spec.hostNetwork ?? spec.hostPID ?? spec.hostIPC, of).toBeUndefined();
      for (const { securityContext, name, resources } of containersOf(pod)) {
        expect(securityContext, `${of} ${name}`).toEqual({
          allowPrivilegeEscalation: false,
          readOnlyRootFilesystem: true,
          capabilities: { drop: ['ALL'] },
        });
        expect(resources?.requests?.memory, `${of} ${name}`).toBeDefined();
      }
      const kinds = new Set(
        (spec.volumes ?? []).flatMap((volume) => Object.keys(volume).filter((it) => it !== 'name')),
      );
      expect([...kinds].filter((kind) => !allowedVolumes.includes(kind))).toEqual([]);
    }
  });

  it('gives the key of the client authority to the controller manager only', () => {
    const pods = podsOf(objects);
    const holders = pods.filter(({ spec }) =>
      (spec.volumes ?? []).some(
        ({ secret }) =>
          /-ca$|^client-authority$/.test(secret?.secretName ?? '') && secret?.items === undefined,
      ),
    );
    const signers = pods.filter(({ spec }) => JSON.stringify(spec).includes('--cluster-signing-'));
    expect(holders.map(({ of }) => of)).toEqual(signers.map(({ of }) => of));
    for (const { of } of signers) expect(of).toMatch(/^Deployment\/.*-controller-manager$/);
  });

  it('selects the intended pods', () => {
    const pods = podsOf(objects);
    for (const { kind, metadata, spec } of objects) {
      const selector = selectorOf(kind, spec as Selecting);
      if (!selector) continue;
      const text = Object.entries(selector).map(([key, value]) => `${key}=${value}`);
      const matches = parseLabelSelector(text.join(','));
      const selected = pods.filter(({ labels }) => matches.matches(labels)).map(({ of }) => of);
      const component = metadata.labels?.['app.kubernetes.io/component'];
      expect(selected, `${kind}/${metadata.name}`).toEqual([
        expect.stringMatching(new RegExp(`^(?:StatefulSet|Deployment)/.*-${component}$`)),
      ]);
    }
  });

  it('gives each replica its own node, name and volume', () => {
    const set = objects.find(({ kind }) => kind === 'StatefulSet')!;
    const spec = set.spec as {
      serviceName: string;
      podManagementPolicy: string;
      volumeClaimTemplates: unknown[];
    };
    expect(spec.podManagementPolicy).toBe('Parallel');
    expect(spec.volumeClaimTemplates).toHaveLength(1);
    expect(find(objects, 'Service', spec.serviceName).spec).toMatchObject({
      clusterIP: 'None',
      publishNotReadyAddresses: true,
    });
  });
});

const allowedVolumes = ['secret', 'projected', 'emptyDir', 'persistentVolumeClaim', 'configMap'];

interface Selecting {
  readonly selector?: { readonly matchLabels?: Record<string, string> } & Record<string, string>;
  readonly podSelector?: { readonly matchLabels?: Record<string, string> };
}

/** Objects that select the pods of one component. The policy of all Jobs selects several. */
function selectorOf(kind: string, spec: Selecting): Record<string, string> | undefined {
  switch (kind) {
    case 'Service':
      return spec.selector;
    case 'PodDisruptionBudget':
    case 'Deployment':
    case 'StatefulSet':
      return spec.selector?.matchLabels;
    default:
      return undefined;
  }
}
