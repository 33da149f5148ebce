/** Compares defaults with the recorded fixtures in `test/conformance/facts`. */
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { codecFor } from '@orch/apimachinery';
import { FeatureGates } from '@orch/component';
import { describe, expect, it } from 'vitest';
import type { ApiObject } from './definition.js';
import { definitions } from './definitions.js';

interface Fact {
  readonly value: unknown;
  /** Off by default, enabled in this test. */
  readonly gate?: string;
}

const file = resolve(import.meta.dirname, '../../../test/conformance/facts/defaults.json');
const { defaulting } = JSON.parse(readFileSync(file, 'utf8')) as {
  defaulting: Record<string, Record<string, Fact>>;
};

/** `apps/v1 DeploymentSpec.replicas` and its recorded default. */
const facts = Object.entries(defaulting).flatMap(([groupVersion, fields]) => {
  const at = groupVersion.lastIndexOf('.');
  const head = groupVersion.slice(0, at).replace(/\.orch\.io$/, '');
  const schemaPackage = `${head}/${groupVersion.slice(at + 1)}`;
  return Object.entries(fields).map(([field, fact]) => [schemaPackage, field, fact] as const);
});

/** For a default that depends on other fields: an object of a kind, and the paths to check. */
interface Example {
  readonly kind: string;
  readonly object: object;
  readonly at: readonly (string | number)[];
  /** The recorded value if omitted. */
  readonly value?: unknown;
  readonly isAbsent?: boolean;
  /** Checks the response instead of the stored object. */
  readonly isShown?: boolean;
}

const labels = { a: 'b' };
const templated = { spec: { template: { metadata: { labels } } } };
const container = (fields: object) => ({ spec: { containers: [{ name: 'a', ...fields }] } });
const inContainer = (...at: (string | number)[]) => ['spec', 'containers', 0, ...at];
const rolling = (field: string) => ({ spec: { [field]: { type: 'RollingUpdate' } } });
const names = {
  kind: 'CustomResourceDefinition',
  object: { spec: { names: { kind: 'Thing', plural: 'things' } } },
};
const listKind: Example = { ...names, at: ['spec', 'names', 'listKind'], value: 'ThingList' };
const singular: Example = { ...names, at: ['spec', 'names', 'singular'], value: 'thing' };
const version = { name: 'v2', served: true, storage: true };
const storedVersions: Example = {
  kind: 'CustomResourceDefinition',
  object: { spec: { versions: [version] } },
  at: ['status', 'storedVersions'],
  value: ['v2'],
};
const subject = (field: string): Example => ({
  kind: 'RoleBinding',
  object: { subjects: [{ kind: 'User', name: 'a' }] },
  at: ['subjects', 0, field],
});
const imagePullPolicy = { name: 'a', image: 'a:1' };
const ofMaximum = { spec: { limits: [{ type: 'Container', max: { cpu: '2' } }] } };

const examples: Readonly<Record<string, Example>> = {
  'apiextensions/v1 CustomResourceDefinitionNames.listKind': listKind,
  'apiextensions/v1 CustomResourceDefinitionNames.singular': singular,
  'apiextensions/v1 CustomResourceDefinitionStatus.storedVersions': storedVersions,
  'apiextensions/v1beta1 CustomResourceDefinitionNames.listKind': listKind,
  'apiextensions/v1beta1 CustomResourceDefinitionNames.singular': singular,
  'apiextensions/v1beta1 CustomResourceDefinitionStatus.storedVersions': storedVersions,
  'apiextensions/v1beta1 CustomResourceConversion.conversionReviewVersions': {
    kind: 'CustomResourceDefinition',
    object: { spec: { conversion: { strategy: 'Webhook' } } },
    at: ['spec', 'conversion', 'conversionReviewVersions'],
  },
  'apiextensions/v1beta1 CustomResourceDefinitionSpec.version': {
    kind: 'CustomResourceDefinition',
    object: { spec: { versions: [version] } },
    at: ['spec', 'version'],
    value: 'v2',
  },
  'apiextensions/v1beta1 CustomResourceDefinitionSpec.versions': {
    kind: 'CustomResourceDefinition',
    object: { spec: { version: 'v2' } },
    at: ['spec', 'versions'],
    value: [version],
  },
  'apps/v1 DaemonSetUpdateStrategy.rollingUpdate': {
    kind: 'DaemonSet',
    object: rolling('updateStrategy'),
    at: ['spec', 'updateStrategy', 'rollingUpdate'],
  },
  'apps/v1 RollingUpdateDaemonSet.maxSurge': {
    kind: 'DaemonSet',
    object: rolling('updateStrategy'),
    at: ['spec', 'updateStrategy', 'rollingUpdate', 'maxSurge'],
  },
  'apps/v1 RollingUpdateDaemonSet.maxUnavailable': {
    kind: 'DaemonSet',
    object: rolling('updateStrategy'),
    at: ['spec', 'updateStrategy', 'rollingUpdate', 'maxUnavailable'],
  },
  'apps/v1 DeploymentStrategy.rollingUpdate': {
    kind: 'Deployment',
    object: rolling('strategy'),
    at: ['spec', 'strategy', 'rollingUpdate'],
  },
  'apps/v1 RollingUpdateDeployment.maxSurge': {
    kind: 'Deployment',
    object: { spec: { strategy: { rollingUpdate: { maxUnavailable: 1 } } } },
    at: ['spec', 'strategy', 'rollingUpdate', 'maxSurge'],
  },
  'apps/v1 RollingUpdateDeployment.maxUnavailable': {
    kind: 'Deployment',
    object: { spec: { strategy: { rollingUpdate: { maxSurge: 1 } } } },
    at: ['spec', 'strategy', 'rollingUpdate', 'maxUnavailable'],
  },
  'apps/v1 RollingUpdateStatefulSetStrategy.partition': {
    kind: 'StatefulSet',
    object: { spec: { updateStrategy: { type: 'RollingUpdate', rollingUpdate: {} } } },
    at: ['spec', 'updateStrategy', 'rollingUpdate', 'partition'],
  },
  'apps/v1 StatefulSetUpdateStrategy.rollingUpdate': {
    kind: 'StatefulSet',
    object: { spec: {} },
    at: ['spec', 'updateStrategy', 'rollingUpdate'],
  },
  'apps/v1 StatefulSetUpdateStrategy.type': {
    kind: 'StatefulSet',
    object: { spec: {} },
    at: ['spec', 'updateStrategy', 'type'],
  },
  'autoscaling/v1 HorizontalPodAutoscalerSpec.targetCPUUtilizationPercentage': {
    kind: 'HorizontalPodAutoscaler',
    object: { spec: { maxReplicas: 1, scaleTargetRef: { kind: 'Deployment', name: 'a' } } },
    at: ['spec', 'targetCPUUtilizationPercentage'],
    isShown: true,
  },
  'autoscaling/v2beta2 HorizontalPodAutoscalerBehavior.scaleDown': {
    kind: 'HorizontalPodAutoscaler',
    object: { spec: { behavior: {} } },
    at: ['spec', 'behavior', 'scaleDown'],
  },
  'autoscaling/v2beta2 HorizontalPodAutoscalerBehavior.scaleUp': {
    kind: 'HorizontalPodAutoscaler',
    object: { spec: { behavior: {} } },
    at: ['spec', 'behavior', 'scaleUp'],
  },
  'batch/v1 Job.metadata.labels': {
    kind: 'Job',
    object: templated,
    at: ['metadata', 'labels'],
    value: labels,
  },
  ...Object.fromEntries(
    ['backoffLimit', 'completions', 'parallelism', 'completionMode', 'suspend'].map((field) => [
      `batch/v1 JobSpec.${field}`,
      { kind: 'Job', object: { spec: {} }, at: ['spec', field] },
    ]),
  ),
  'core/v1 ServiceSpec.internalTrafficPolicy': {
    kind: 'Service',
    object: { spec: {} },
    at: ['spec', 'internalTrafficPolicy'],
  },
  'networking/v1 IngressClassParametersReference.scope': {
    kind: 'IngressClass',
    object: { spec: { parameters: { kind: 'a', name: 'b' } } },
    at: ['spec', 'parameters', 'scope'],
  },
  'certificates/v1beta1 CertificateSigningRequestSpec.signerName': {
    kind: 'CertificateSigningRequest',
    object: { spec: { request: '' } },
    at: ['spec', 'signerName'],
  },
  'core/v1 ConfigMap.data': { kind: 'ConfigMap', object: {}, at: ['data'], isAbsent: true },
  'core/v1 Container.imagePullPolicy': {
    kind: 'Pod',
    object: container({ image: 'a:1' }),
    at: inContainer('imagePullPolicy'),
  },
  'core/v1 ContainerPort.hostPort': {
    kind: 'Pod',
    object: {
      spec: { hostNetwork: true, containers: [{ name: 'a', ports: [{ containerPort: 80 }] }] },
    },
    at: inContainer('ports', 0, 'hostPort'),
    value: 80,
  },
  'core/v1 EphemeralContainerCommon.imagePullPolicy': {
    kind: 'Pod',
    object: { spec: { ephemeralContainers: [imagePullPolicy] } },
    at: ['spec', 'ephemeralContainers', 0, 'imagePullPolicy'],
  },
  'core/v1 LimitRangeItem.default': {
    kind: 'LimitRange',
    object: ofMaximum,
    at: ['spec', 'limits', 0, 'default'],
    value: { cpu: '2' },
  },
  'core/v1 LimitRangeItem.defaultRequest': {
    kind: 'LimitRange',
    object: ofMaximum,
    at: ['spec', 'limits', 0, 'defaultRequest'],
    value: { cpu: '2' },
  },
  'core/v1 Namespace.metadata.labels[orch.io/metadata.name]': {
    kind: 'Namespace',
    object: { metadata: { name: 'a' } },
    at: ['metadata', 'labels', 'orch.io/metadata.name'],
    value: 'a',
  },
  'core/v1 NodeStatus.allocatable': {
    kind: 'Node',
    object: { status: { capacity: { cpu: '1' } } },
    at: ['status', 'allocatable'],
    value: { cpu: '1' },
  },
  'core/v1 PodSpec.enableServiceLinks': {
    kind: 'Pod',
    object: { spec: {} },
    at: ['spec', 'enableServiceLinks'],
  },
  'core/v1 ReplicationController.metadata.labels': {
    kind: 'ReplicationController',
    object: templated,
    at: ['metadata', 'labels'],
    value: labels,
  },
  'core/v1 ReplicationControllerSpec.selector': {
    kind: 'ReplicationController',
    object: templated,
    at: ['spec', 'selector'],
    value: labels,
  },
  'core/v1 ResourceList.*': {
    kind: 'Pod',
    object: container({ resources: { limits: { cpu: '1u' } } }),
    at: inContainer('resources', 'limits', 'cpu'),
    value: '1m',
  },
  'core/v1 ResourceRequirements.requests': {
    kind: 'Pod',
    object: container({ resources: { limits: { cpu: '1' } } }),
    at: inContainer('resources', 'requests'),
    value: { cpu: '1' },
  },
  'core/v1 ServicePort.targetPort': {
    kind: 'Service',
    object: { spec: { ports: [{ port: 80 }] } },
    at: ['spec', 'ports', 0, 'targetPort'],
    value: 80,
  },
  'core/v1 ServiceSpec.allocateLoadBalancerNodePorts': {
    kind: 'Service',
    object: { spec: { type: 'LoadBalancer' } },
    at: ['spec', 'allocateLoadBalancerNodePorts'],
  },
  'core/v1 ServiceSpec.externalTrafficPolicy': {
    kind: 'Service',
    object: { spec: { type: 'NodePort' } },
    at: ['spec', 'externalTrafficPolicy'],
  },
  'core/v1 ServiceSpec.sessionAffinityConfig': {
    kind: 'Service',
    object: { spec: { sessionAffinity: 'ClientIP' } },
    at: ['spec', 'sessionAffinityConfig'],
  },
  'core/v1 ServiceSpec.sessionAffinityConfig#cleared': {
    kind: 'Service',
    object: { spec: { sessionAffinityConfig: { clientIP: { timeoutSeconds: 5 } } } },
    at: ['spec', 'sessionAffinityConfig'],
    isAbsent: true,
  },
  'core/v1 VolumeSource.emptyDir': {
    kind: 'Pod',
    object: { spec: { volumes: [{ name: 'a' }] } },
    at: ['spec', 'volumes', 0, 'emptyDir'],
  },
  'networking/v1 NetworkPolicySpec.policyTypes': {
    kind: 'NetworkPolicy',
    object: { spec: { podSelector: {} } },
    at: ['spec', 'policyTypes'],
  },
  'rbac.authorization/v1 Subject.apiGroup': subject('apiGroup'),
  'rbac.authorization/v1beta1 Subject.apiGroup': subject('apiGroup'),
  'rbac.authorization/v1alpha1 Subject.apiVersion': subject('apiVersion'),
};

/** Decodes the object with defaults, in a version of its kind. */
function defaulted(schemaPackage: string, { kind, object, isShown }: Example, gate?: string) {
  const definition = definitions.find((candidate) => candidate.kind === kind)!;
  const served = definition.versions.find(
    (version) => `${version.group}/${version.version}` === schemaPackage,
  )!;
  const features = new FeatureGates('apiserver');
  if (gate) features.set({ [gate]: 'true' });
  const codec = codecFor<ApiObject>(`${schemaPackage}.${kind}`);
  const filled = codec.fromJson(object);
  codec.setDefaults(filled);
  served.setDefaults?.(filled, features);
  return isShown ? served.fromStored!(served.toStored!(filled)) : filled;
}

function valueAt(object: unknown, at: readonly (string | number)[]): unknown {
  return at.reduce<unknown>((value, key) => (value as Record<string, unknown>)?.[key], object);
}

it('has no example without a fixture', () => {
  const known = new Set(facts.map(([schemaPackage, field]) => `${schemaPackage} ${field}`));
  expect(Object.keys(examples).filter((name) => !known.has(name))).toEqual([]);
});

describe.each(facts)('%s %s', (schemaPackage, field, { value, gate }) => {
  const example = examples[`${schemaPackage} ${field}`];

  it('matches the fixture', () => {
    if (example) {
      const found = valueAt(defaulted(schemaPackage, example, gate), example.at);
      expect(found).toEqual(example.isAbsent ? undefined : (example.value ?? value));
    } else {
      const [type = '', ...at] = field.split('.');
      const codec = codecFor<object>(`${schemaPackage}.${type}`);
      const filled = codec.fromJson({});
      codec.setDefaults(filled);
      expect(valueAt(filled, at)).toEqual(value);
    }
  });
});
