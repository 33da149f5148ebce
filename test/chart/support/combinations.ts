/** Typical combinations of values, each with its host. */
import type { RenderOptions, Values } from './helm.js';

export interface Combination extends RenderOptions {
  readonly name: string;
  readonly values: Values;
  /** Secrets and claims of the user. */
  readonly provided?: readonly string[];
}

export const monitoring = [
  'monitoring.coreos.com/v1/ServiceMonitor',
  'monitoring.coreos.com/v1/PrometheusRule',
];

const providedCertificates = {
  mode: 'provided',
  provided: { servingSecret: 'serving', peerSecret: 'peer' },
};

export const combinations: readonly Combination[] = [
  { name: 'nothing set', values: {} },
  { name: 'oldest host', values: {}, kubeVersion: '1.21.0' },
  { name: 'newest host', values: {}, kubeVersion: '1.33.0' },
  {
    name: 'one replica on one node',
    values: {
      apiserver: {
        replicas: 1,
        antiAffinity: 'soft',
        topologySpread: { topologyKey: '' },
        podDisruptionBudget: { enabled: false },
      },
      controllerManager: { replicas: 1 },
      scheduler: { replicas: 1 },
    },
  },
  {
    name: 'five replicas, placed',
    values: {
      apiserver: {
        replicas: 5,
        initialReplicas: 3,
        clusterToken: 'fixed',
        antiAffinity: 'none',
        nodeSelector: { pool: 'control' },
        tolerations: [{ key: 'control', operator: 'Exists', effect: 'NoSchedule' }],
        priorityClassName: 'system-cluster-critical',
        topologySpread: { topologyKey: 'rack', whenUnsatisfiable: 'DoNotSchedule' },
        persistence: {
          storageClass: 'fast',
          size: '100Gi',
          annotations: { note: 'x' },
          whenDeleted: 'Delete',
        },
      },
    },
    isUpgrade: true,
  },
  {
    name: 'existing clients',
    values: { dialect: 'kubernetes', fullnameOverride: 'plane', commonLabels: { team: 'a' } },
  },
  {
    name: 'cert-manager, own authority',
    values: { certificates: { mode: 'cert-manager' } },
    apiVersions: monitoring,
  },
  {
    name: 'cert-manager, an issuer of the host',
    values: {
      certificates: {
        mode: 'cert-manager',
        certManager: { issuerRef: { name: 'company', kind: 'ClusterIssuer' } },
      },
      apiserver: { service: { externalHosts: ['api.example', '192.0.2.10'] } },
    },
  },
  {
    name: 'provided certificates, the least',
    values: { certificates: providedCertificates },
    provided: ['serving', 'peer'],
    apiVersions: monitoring,
  },
  {
    name: 'provided everything',
    values: {
      certificates: {
        mode: 'provided',
        provided: {
          servingSecret: 'serving',
          peerSecret: 'peer',
          componentSecret: 'component',
          clientAuthoritySecret: 'clients',
          nodeClientSecret: 'nodes',
          frontProxySecret: 'front-proxy',
          signingSecret: 'client-authority',
        },
      },
      credentials: { existingSecret: 'tokens', serviceAccountKey: { existingSecret: 'signing' } },
      apiserver: { clusterToken: 'fixed', initialReplicas: 3 },
    },
    provided: [
      'serving',
      'peer',
      'component',
      'clients',
      'nodes',
      'front-proxy',
      'client-authority',
      'tokens',
      'signing',
    ],
    apiVersions: monitoring,
  },
  {
    name: 'load balancer',
    values: {
      apiserver: {
        service: {
          type: 'LoadBalancer',
          port: 443,
          nodePort: 30443,
          loadBalancerIP: '192.0.2.1',
          loadBalancerSourceRanges: ['198.51.100.0/24'],
          annotations: { balancer: 'internal' },
          externalHosts: ['api.example'],
        },
      },
    },
  },
  {
    name: 'IPv6',
    values: {
      apiserver: {
        bindAddress: '::',
        serviceClusterIpRange: 'fd00:10:96::/108,10.96.0.0/16',
        service: { externalHosts: ['2001:db8::1'] },
      },
    },
  },
  {
    name: 'backups and monitoring',
    values: {
      backup: { enabled: true, timeZone: 'Etc/UTC', persistence: { storageClass: 'slow' } },
      metrics: {
        serviceMonitor: { labels: { release: 'prometheus' } },
        prometheusRule: {
          labels: { release: 'prometheus' },
          additionalRules: [{ alert: 'Mine', expr: 'up == 0' }],
        },
      },
    },
    apiVersions: monitoring,
  },
  {
    name: 'backups to a claim that exists',
    values: { backup: { enabled: true, persistence: { existingClaim: 'vault' } } },
    provided: ['vault'],
    kubeVersion: '1.25.0',
  },
  {
    name: 'restore',
    values: {
      apiserver: { replicas: 1 },
      restore: { enabled: true, existingClaim: 'vault', file: 'orch-20260131T061700Z.snapshot' },
    },
    provided: ['vault'],
  },
  {
    name: 'upgrade',
    values: {},
    isUpgrade: true,
  },
  {
    name: 'upgrade, learners stay learners',
    values: { apiserver: { membership: { promote: false } } },
    isUpgrade: true,
  },
  {
    name: 'API servers alone, closed in',
    values: {
      controllerManager: { enabled: false },
      scheduler: { enabled: false },
      networkPolicy: {
        clients: [{ ipBlock: { cidr: '10.0.0.0/8' } }],
        scrapers: [{ namespaceSelector: { matchLabels: { name: 'monitoring' } } }],
      },
      test: { enabled: false },
      serviceAccount: { create: false },
    },
  },
  {
    name: 'without policies and budgets',
    values: {
      networkPolicy: { enabled: false },
      metrics: { serviceMonitor: { enabled: false }, prometheusRule: { enabled: false } },
      apiserver: { podDisruptionBudget: { enabled: false }, membership: { enabled: false } },
      controllerManager: { podDisruptionBudget: { enabled: false } },
      scheduler: { podDisruptionBudget: { enabled: false } },
    },
    isUpgrade: true,
    apiVersions: monitoring,
  },
  {
    name: 'pinned image, further flags, variables and labels',
    release: 'a-release-with-a-rather-long-name-of-its-own',
    values: {
      image: {
        repository: 'registry.example/orch',
        digest: `sha256:${'ab'.repeat(32)}`,
        pullPolicy: 'Always',
      },
      imagePullSecrets: [{ name: 'registry' }],
      serviceAccount: { name: 'own', annotations: { a: 'b' } },
      apiserver: {
        extraArgs: ['--log-level=debug'],
        extraEnv: [{ name: 'NODE_OPTIONS', value: '--max-old-space-size=3000' }],
        podLabels: { a: 'b' },
        podAnnotations: { c: 'd' },
        affinity: {
          nodeAffinity: {
            requiredDuringSchedulingIgnoredDuringExecution: {
              nodeSelectorTerms: [{ matchExpressions: [{ key: 'disk', operator: 'Exists' }] }],
            },
          },
        },
      },
      controllerManager: { extraArgs: ['--concurrent-gc-syncs=5'], podLabels: { a: 'b' } },
      scheduler: { extraEnv: [{ name: 'A', value: 'b' }], podAnnotations: { c: 'd' } },
    },
    provided: ['registry'],
  },
];
