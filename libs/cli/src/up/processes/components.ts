/**
 * The table of the components of a cluster and their flags, in start order. They stop in reverse
 * order.
 */
import { join } from 'node:path';
import { dialect } from '@orch/component';
import { builtTree } from '../built-tree.js';
import { nodePodCidr } from '../cluster/address-block.js';
import { type ClusterConfig, clusterPaths } from '../cluster/cluster-directory.js';
import {
  componentKubeconfig,
  pkiFiles,
  serviceAccountKey,
} from '../credentials/credential-files.js';
import type { ComponentIdentity } from '../credentials/credentials.js';
import { apiServers } from './api-servers.js';
import {
  type ComponentFields,
  type ComponentName,
  type ComponentSpec,
  componentNames,
  type LocalCluster,
  type ProcessSpec,
} from './process-spec.js';

const withTeardown: readonly ComponentName[] = ['node-agent', 'proxy'];

const table: Readonly<Record<ComponentName, (cluster: LocalCluster) => ComponentFields[]>> = {
  apiserver: apiServers,
  'controller-manager': controllerManager,
  scheduler: scheduler,
  'node-agent': nodeAgents,
  proxy: proxy,
};

/** The process of several components, and its log. */
const sharedName = 'components';

/** The program that runs several components in one process. */
const sharedMain = mainOf('components');

/**
 * The supervisor runs one process of a component at a time. Without election there are 0.9 writes a
 * second less at rest, and a restarted process does not wait for the lease of its predecessor.
 */
const soleProcess = '--leader-elect=false';

/**
 * The processes of the chosen components: one for each API server, and one for all others together
 * or, if they are `separate`, for each.
 */
export function processSpecs(
  components: readonly ComponentSpec[],
  separate: boolean,
): ProcessSpec[] {
  const servers = components.filter(({ component }) => component === 'apiserver');
  const others = components.filter(({ component }) => component !== 'apiserver');
  if (separate || others.length < 2) return components.map(ownProcess);
  return [...servers.map(ownProcess), sharedProcess(others)];
}

function ownProcess(spec: ComponentSpec): ProcessSpec {
  const { name, main, args, startArgs } = spec;
  return { name, main, args, ...(startArgs && { startArgs }), components: [spec] };
}

function sharedProcess(components: readonly ComponentSpec[]): ProcessSpec {
  const sections = components.map(({ name, args }) => [name, ...args]);
  const args = sections.flatMap((words, index) => (index === 0 ? words : ['--', ...words]));
  return { name: sharedName, main: sharedMain, args, components };
}

/** The chosen components. The user's extra flags are last, so that they override. */
export function componentSpecs(
  cluster: LocalCluster,
  chosen: readonly ComponentName[],
  extraArgs: ReadonlyMap<ComponentName, readonly string[]>,
): ComponentSpec[] {
  return componentNames
    .filter((name) => chosen.includes(name))
    .flatMap((name) =>
      table[name](cluster).map((spec) => ({
        ...spec,
        main: mainOf(name),
        hasTeardown: withTeardown.includes(name),
        args: [
          ...spec.args,
          `--dialect=${cluster.settings.dialect}`,
          ...(extraArgs.get(name) ?? []),
        ],
      })),
    );
}

function mainOf(app: string): string {
  return join(builtTree, 'apps', app, 'src/main.js');
}

function controllerManager({ dataDirectory, settings }: LocalCluster): ComponentFields[] {
  const port = settings.addresses.ports.controllerManager;
  const authority = pkiFiles(dataDirectory, 'ca');
  return [
    {
      component: 'controller-manager',
      name: 'controller-manager',
      args: [
        ...clientAndServing(dataDirectory, 'controller-manager', port),
        soleProcess,
        '--use-service-account-credentials',
        '--controllers=*,bootstrapsigner,tokencleaner',
        `--cluster-signing-cert-file=${authority.certificate}`,
        `--cluster-signing-key-file=${authority.key}`,
        `--service-account-private-key-file=${serviceAccountKey(dataDirectory)}`,
      ],
      probe: { port, path: '/healthz' },
      identity: systemIdentity('controller-manager'),
    },
  ];
}

function scheduler({ dataDirectory, settings }: LocalCluster): ComponentFields[] {
  const port = settings.addresses.ports.scheduler;
  return [
    {
      component: 'scheduler',
      name: 'scheduler',
      args: [...clientAndServing(dataDirectory, 'scheduler', port), soleProcess],
      probe: { port, path: '/healthz' },
      identity: systemIdentity('scheduler'),
    },
  ];
}

function nodeAgents({ dataDirectory, settings }: LocalCluster): ComponentFields[] {
  const { authorityCertificate } = clusterPaths(dataDirectory);
  return Array.from({ length: settings.nodeCount }, (_, offset): ComponentFields => {
    const ordinal = offset + 1;
    const nodeName = `node-${ordinal}`;
    const name = `node-agent-${ordinal}`;
    const port = settings.addresses.ports.nodes + offset;
    const serving = pkiFiles(dataDirectory, 'component');
    return {
      component: 'node-agent',
      name,
      args: [
        `--kubeconfig=${componentKubeconfig(dataDirectory, name)}`,
        `--hostname-override=${nodeName}`,
        `--cluster-name=${clusterName(settings)}`,
        `--root-dir=${join(dataDirectory, 'nodes', nodeName)}`,
        '--rotate-certificates',
        `--pod-cidr=${nodePodCidr(settings.addresses, ordinal)}`,
        '--node-ip=127.0.0.1',
        '--address=127.0.0.1',
        `--port=${port}`,
        `--tls-cert-file=${serving.certificate}`,
        `--tls-private-key-file=${serving.key}`,
        `--client-ca-file=${authorityCertificate}`,
        '--anonymous-auth=false',
        '--authentication-token-webhook',
        '--authorization-mode=Webhook',
        '--teardown-on-stop',
      ],
      probe: { port, path: '/healthz' },
      identity: { name, user: `system:node:${nodeName}`, groups: ['system:nodes'] },
      nodeName,
    };
  });
}

function proxy({ dataDirectory, settings }: LocalCluster): ComponentFields[] {
  const port = settings.addresses.ports.proxy;
  return [
    {
      component: 'proxy',
      name: 'proxy',
      args: [
        ...clientAndServing(dataDirectory, 'proxy', port),
        `--cluster-name=${clusterName(settings)}`,
        '--node-port-address=127.0.0.1',
        '--teardown-on-stop',
      ],
      probe: { port, path: '/healthz' },
      identity: systemIdentity('proxy'),
    },
  ];
}

function clusterName(settings: ClusterConfig): string {
  return `cluster-${settings.addresses.index}`;
}

function clientAndServing(dataDirectory: string, name: string, port: number): string[] {
  const serving = pkiFiles(dataDirectory, 'component');
  return [
    `--kubeconfig=${componentKubeconfig(dataDirectory, name)}`,
    `--secure-port=${port}`,
    '--bind-address=127.0.0.1',
    `--tls-cert-file=${serving.certificate}`,
    `--tls-private-key-file=${serving.key}`,
    `--client-ca-file=${clusterPaths(dataDirectory).authorityCertificate}`,
  ];
}

function systemIdentity(name: string): ComponentIdentity {
  return { name, user: `system:${dialect().systemName(name)}`, groups: [] };
}
