/** Objects that break one rule of creation each, with the start of the expected error. */
import { dialect } from '@orch/component';

export interface CreateProbe {
  readonly rule: string;
  readonly path: string;
  readonly body: object;
  /** Part of the message: field and reason. */
  readonly expected: string;
}

const core = '/api/v1/namespaces/default';
const metadata = { name: 'probe' };
const labels = { a: 'b' };

function probesOf(path: string, bodyOf: (part: never) => object) {
  return (expected: string, part: object): CreateProbe => ({
    rule: `${path.split('/').at(-1)}: ${expected}`,
    path,
    body: bodyOf(part as never),
    expected,
  });
}

const container = { name: 'c', image: 'i' };
const pod = probesOf(`${core}/pods`, (spec: object) => ({
  metadata,
  spec: { containers: [container], ...spec },
}));
const inContainer = (expected: string, part: object) =>
  pod(`spec.containers[0].${expected}`, { containers: [{ ...container, ...part }] });
const inVolume = (expected: string, part: object) =>
  pod(`spec.volumes[0].${expected}`, { volumes: [{ name: 'v', ...part }] });
const environment = (expected: string, variable: object) =>
  inContainer(`env[0].${expected}`, { env: [{ name: 'A', ...variable }] });
const onWindows = (expected: string, options: object) =>
  inContainer(`securityContext.windowsOptions.${expected}`, {
    securityContext: { windowsOptions: options },
  });

const nodeTerm = (term: object) => ({
  affinity: {
    nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [term] } },
  },
});
const firstTerm =
  'spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[0]';
const podTerm = { topologyKey: 'a', labelSelector: { matchLabels: labels } };

const podProbes = [
  environment('valueFrom.configMapKeyRef.name: Invalid', {
    valueFrom: { configMapKeyRef: { key: 'k' } },
  }),
  environment('valueFrom.configMapKeyRef.key: Required', {
    valueFrom: { configMapKeyRef: { name: 'm' } },
  }),
  environment('valueFrom.configMapKeyRef.key: Invalid', {
    valueFrom: { configMapKeyRef: { name: 'm', key: 'a b' } },
  }),
  environment('valueFrom.secretKeyRef.key: Invalid', {
    valueFrom: { secretKeyRef: { name: 'm', key: '..' } },
  }),
  environment('valueFrom.fieldRef.fieldPath: Unsupported', {
    valueFrom: { fieldRef: { fieldPath: 'metadata.annotations' } },
  }),
  inContainer('envFrom: Invalid', { envFrom: [{ prefix: 'a' }] }),
  inContainer('envFrom[0].configMapRef.name: Invalid', {
    envFrom: [{ configMapRef: { name: 'A_b' } }],
  }),
  inContainer('envFrom[0].secretRef.name: Invalid', { envFrom: [{ secretRef: { name: 'A_b' } }] }),
  inContainer('securityContext.procMount: Unsupported', { securityContext: { procMount: 'No' } }),
  inContainer('securityContext: Invalid', {
    securityContext: { privileged: true, allowPrivilegeEscalation: false },
  }),
  inContainer('securityContext.seccompProfile.localhostProfile: Invalid', {
    securityContext: { seccompProfile: { type: 'Localhost', localhostProfile: '/a' } },
  }),
  inContainer('securityContext.seccompProfile.localhostProfile: Invalid', {
    securityContext: { seccompProfile: { type: 'Unconfined', localhostProfile: 'a' } },
  }),
  onWindows('gmsaCredentialSpec: Invalid', { gmsaCredentialSpec: '' }),
  onWindows('gmsaCredentialSpec: Invalid', { gmsaCredentialSpec: 'x'.repeat(65_537) }),
  onWindows('runAsUserName: Invalid', { runAsUserName: '' }),
  onWindows('runAsUserName: Invalid', { runAsUserName: 'a\\b\\c' }),
  onWindows('runAsUserName: Invalid', { runAsUserName: `${'d'.repeat(256)}\\u` }),
  onWindows('runAsUserName: Invalid', { runAsUserName: 'u'.repeat(105) }),
  inContainer('resources: Forbidden', { resources: { limits: { 'hugepages-2Mi': '2Mi' } } }),
  inContainer('livenessProbe.tcpSocket.port: Invalid', {
    livenessProbe: { tcpSocket: { port: 0 } },
  }),
  inContainer('livenessProbe: Required', { livenessProbe: {} }),
  inContainer('livenessProbe.httpGet: Forbidden', {
    livenessProbe: { exec: { command: ['a'] }, httpGet: { port: 1 } },
  }),
  inVolume('emptyDir.sizeLimit: Forbidden', { emptyDir: { sizeLimit: '-1' } }),
  inVolume('secret: Forbidden', { emptyDir: {}, secret: { secretName: 's' } }),
  inVolume('secret.defaultMode: Invalid', { secret: { secretName: 's', defaultMode: 512 } }),
  inVolume('configMap.items[0].mode: Invalid', {
    configMap: { name: 'm', items: [{ key: 'k', path: 'p', mode: -1 }] },
  }),
  inVolume('persistentDisk.partition: Invalid', {
    gcePersistentDisk: { pdName: 'd', partition: 256 },
  }),
  inVolume('iscsi.lun: Invalid', {
    iscsi: { targetPortal: 'p', iqn: 'iqn.2001-04.com.example:a', lun: 256 },
  }),
  inVolume('flocker: Invalid', { flocker: { datasetName: 'a', datasetUUID: 'b' } }),
  inVolume('downwardAPI.fieldRef.fieldPath: Unsupported', {
    downwardAPI: { items: [{ path: 'p', fieldRef: { fieldPath: 'spec.nodeName' } }] },
  }),
  pod('spec.securityContext.supplementalGroups[0]: Invalid', {
    securityContext: { supplementalGroups: [-1] },
  }),
  pod('spec.securityContext.sysctls[1].name: Duplicate', {
    securityContext: {
      sysctls: [
        { name: 'a.b', value: '1' },
        { name: 'a.b', value: '2' },
      ],
    },
  }),
  pod(`${firstTerm}.matchExpressions[0].values: Forbidden`, {
    ...nodeTerm({ matchExpressions: [{ key: 'a', operator: 'Exists', values: ['x'] }] }),
  }),
  pod(`${firstTerm}.matchFields[0].values: Required`, {
    ...nodeTerm({ matchFields: [{ key: 'metadata.name', operator: 'In', values: ['a', 'b'] }] }),
  }),
  pod(`${firstTerm}.matchFields[0].values[0]: Invalid`, {
    ...nodeTerm({ matchFields: [{ key: 'metadata.name', operator: 'In', values: ['A_b'] }] }),
  }),
  pod(
    'spec.affinity.podAffinity.preferredDuringSchedulingIgnoredDuringExecution[0].weight: Invalid',
    {
      affinity: {
        podAffinity: {
          preferredDuringSchedulingIgnoredDuringExecution: [
            { weight: 101, podAffinityTerm: podTerm },
          ],
        },
      },
    },
  ),
  pod('spec.dnsConfig: Required', { dnsPolicy: 'None' }),
  pod('spec.dnsConfig.nameservers: Invalid', {
    dnsConfig: { nameservers: ['1.1.1.1', '1.1.1.2', '1.1.1.3', '1.1.1.4'] },
  }),
  pod('spec.dnsConfig.searches: Invalid', {
    dnsConfig: { searches: ['a', 'b', 'c', 'd', 'e', 'f', 'g'] },
  }),
  pod('spec.dnsConfig.searches: Invalid', {
    dnsConfig: { searches: [1, 2, 3, 4, 5].map((index) => `${'x'.repeat(55)}.a${index}`) },
  }),
  pod('spec.ephemeralContainers: Forbidden', {
    ephemeralContainers: [{ ...container, name: 'e' }],
  }),
];

const annotatedPod = probesOf(`${core}/pods`, (annotations: object) => ({
  metadata: { ...metadata, annotations },
  spec: { containers: [container] },
}));
const key = (name: string, subdomain?: string) => dialect().key(name, subdomain);
const annotationProbes = [
  annotatedPod('config.mirror', { [key('config.mirror')]: 'x' }),
  annotatedPod('metadata.annotations', { [key('tolerations', 'scheduler.alpha')]: '[' }),
  annotatedPod('pod-deletion-cost', { [key('pod-deletion-cost', 'controller')]: '01' }),
  annotatedPod('metadata.annotations', { [key('pod', 'seccomp.security.alpha')]: 'x' }),
  annotatedPod('metadata.annotations', {
    [key('d', 'container.apparmor.security.beta')]: 'unconfined',
  }),
  annotatedPod('metadata.annotations', {
    [key('c', 'container.apparmor.security.beta')]: 'strange',
  }),
];

const service = probesOf(`${core}/services`, (spec: object) => ({
  metadata,
  spec: { ports: [{ port: 80 }], ...spec },
}));
const serviceProbes = [
  service('spec.ports[0]: Invalid', { type: 'LoadBalancer', ports: [{ port: 10_250 }] }),
  service('spec.sessionAffinityConfig.clientIP.timeoutSeconds: Invalid', {
    sessionAffinity: 'ClientIP',
    sessionAffinityConfig: { clientIP: { timeoutSeconds: 86_401 } },
  }),
  service('spec.topologyKeys: Forbidden', {
    type: 'NodePort',
    externalTrafficPolicy: 'Local',
    topologyKeys: ['a'],
  }),
  service('spec.topologyKeys: Too many', {
    topologyKeys: Array.from({ length: 17 }, (_, index) => `a${index}`),
  }),
  service('spec.topologyKeys[1]: Duplicate', { topologyKeys: ['a', 'a'] }),
  service('spec.topologyKeys[0]: Invalid', { topologyKeys: ['*', 'a'] }),
  service('spec.topologyKeys[0]: Invalid', { topologyKeys: ['a b'] }),
  service('spec.allocateLoadBalancerNodePorts: Forbidden', {
    allocateLoadBalancerNodePorts: true,
  }),
  service('spec.loadBalancerClass: Forbidden', { loadBalancerClass: 'a.b/c' }),
  service('spec.loadBalancerClass: Invalid', { type: 'LoadBalancer', loadBalancerClass: 'a b' }),
  service('spec.internalTrafficPolicy: Unsupported', { internalTrafficPolicy: 'Far' }),
];

const networking = `/apis/${dialect().group('networking')}/v1`;
const networkPolicy = probesOf(
  `${networking}/namespaces/default/networkpolicies`,
  (rule: object) => ({ metadata, spec: { podSelector: {}, ingress: [rule] } }),
);
const ingressClass = probesOf(`${networking}/ingressclasses`, (parameters: object) => ({
  metadata,
  spec: { controller: 'a.b/c', parameters: { kind: 'K', name: 'n', ...parameters } },
}));
const networkingProbes = [
  networkPolicy('spec.ingress[0].ports[0].endPort: Invalid', {
    ports: [{ port: 80, endPort: 79 }],
  }),
  networkPolicy('spec.ingress[0].ports[0].endPort: Invalid', {
    ports: [{ port: 80, endPort: 65_536 }],
  }),
  networkPolicy('spec.ingress[0].ports[0].endPort: Invalid', { ports: [{ endPort: 80 }] }),
  networkPolicy('spec.ingress[0].ports[0].endPort: Invalid', {
    ports: [{ port: 'http', endPort: 80 }],
  }),
  networkPolicy('spec.ingress[0].from[0]: Required', { from: [{}] }),
  networkPolicy('spec.ingress[0].from[0]: Forbidden', {
    from: [{ podSelector: {}, ipBlock: { cidr: '10.0.0.0/8' } }],
  }),
  ingressClass('spec.parameters.scope: Unsupported', { scope: 'Far' }),
  ingressClass('spec.parameters.namespace: Required', { scope: 'Namespace' }),
  ingressClass('spec.parameters.namespace: Invalid', { scope: 'Namespace', namespace: 'A_b' }),
  ingressClass('spec.parameters.namespace: Forbidden', { scope: 'Cluster', namespace: 'a' }),
];

const scaler = probesOf(
  '/apis/autoscaling/v2beta2/namespaces/default/horizontalpodautoscalers',
  (metric: object) => ({
    metadata,
    spec: {
      maxReplicas: 3,
      scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'd' },
      metrics: [metric],
    },
  }),
);
const containerMetric = (source: object) => ({
  type: 'ContainerResource',
  containerResource: {
    name: 'cpu',
    container: 'c',
    target: { type: 'Utilization', averageUtilization: 50 },
    ...source,
  },
});
const scalerProbes = [
  scaler('spec.metrics[0].containerResource.name: Required', containerMetric({ name: '' })),
  scaler('spec.metrics[0].containerResource.container: Required', {
    ...containerMetric({ container: '' }),
  }),
  scaler('spec.metrics[0].containerResource.container: Invalid', {
    ...containerMetric({ container: 'A_b' }),
  }),
  scaler('spec.metrics[0].containerResource.target.averageUtilization: Required', {
    ...containerMetric({ target: { type: 'Utilization' } }),
  }),
  scaler('spec.metrics[0].containerResource.target.averageValue: Forbidden', {
    ...containerMetric({
      target: { type: 'Utilization', averageUtilization: 1, averageValue: '1' },
    }),
  }),
];

const slice = probesOf(
  `/apis/${dialect().group('discovery')}/v1/namespaces/default/endpointslices`,
  (part: object) => ({ metadata, addressType: 'IPv4', endpoints: [], ports: [], ...part }),
);
const address = (index: number) => `10.0.${Math.floor(index / 250)}.${(index % 250) + 1}`;
const sliceProbes = [
  slice('endpoints: Too many', {
    endpoints: Array.from({ length: 1_001 }, (_, index) => ({ addresses: [address(index)] })),
  }),
  slice('endpoints[0].addresses: Too many', {
    endpoints: [{ addresses: Array.from({ length: 101 }, (_, index) => address(index)) }],
  }),
  slice('endpoints[0].hints.forZones: Too many', {
    endpoints: [
      {
        addresses: ['10.0.0.1'],
        hints: { forZones: [1, 2, 3, 4, 5, 6, 7, 8, 9].map((index) => ({ name: `z${index}` })) },
      },
    ],
  }),
  slice('endpoints[0].hints.forZones[1].name: Duplicate', {
    endpoints: [{ addresses: ['10.0.0.1'], hints: { forZones: [{ name: 'z' }, { name: 'z' }] } }],
  }),
  slice('endpoints[0].hints.forZones[0].name: Invalid', {
    endpoints: [{ addresses: ['10.0.0.1'], hints: { forZones: [{ name: 'a b' }] } }],
  }),
];

export const createProbes: readonly CreateProbe[] = [
  ...podProbes,
  ...annotationProbes,
  ...serviceProbes,
  ...networkingProbes,
  ...scalerProbes,
  ...sliceProbes,
];
