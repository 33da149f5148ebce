/**
 * The processes of a cluster and their flags: the one table that knows which they are, in the order in
 * which they start. They end in reverse order.
 */
import { join, resolve } from 'node:path';
import { dialect } from '@orch/component';
import { nodePodCidr } from './address-block.js';
import { apiServers } from './api-servers.js';
import { type ClusterSettings, clusterPaths } from './cluster-directory.js';
import { componentKubeconfig, pkiFiles } from './credential-files.js';
import type { ComponentIdentity } from './credentials.js';

export const componentNames = [
  'apiserver',
  'controller-manager',
  'scheduler',
  'node-agent',
  'proxy',
] as const;
export type ComponentName = (typeof componentNames)[number];

/** One process to run. */
export interface ProcessSpec {
  readonly component: ComponentName;
  /** Of its log and in messages: the component's name, with a number where there are several. */
  readonly name: string;
  /** The script to run. */
  readonly main: string;
  readonly args: readonly string[];
  /** Flags that are settled at each start anew, before the others. */
  readonly startArgs?: () => readonly string[];
  /** Where it says that it is healthy, over HTTPS with the cluster's authority. */
  readonly probe: { readonly port: number; readonly path: string };
  /** Absent for the API server, which is nobody's client. */
  readonly identity?: ComponentIdentity;
  /** Name of the node it makes Ready. */
  readonly nodeName?: string;
  /** Leaves things behind when killed, and takes `--teardown-only` to remove them. */
  readonly hasTeardown: boolean;
}

export interface Place {
  readonly dataDirectory: string;
  readonly settings: ClusterSettings;
}

/** What each component says for itself; the rest is the same for all. */
export type OwnSpec = Omit<ProcessSpec, 'main' | 'hasTeardown'>;

const withTeardown: readonly ComponentName[] = ['node-agent', 'proxy'];

const table: Readonly<Record<ComponentName, (place: Place) => OwnSpec[]>> = {
  apiserver: apiServers,
  'controller-manager': controllerManager,
  scheduler: scheduler,
  'node-agent': nodeAgents,
  proxy: proxy,
};

/** dist/apps/orchctl/src/up: the apps are three levels up. */
const appsDirectory = resolve(import.meta.dirname, '../../..');

/** The processes of the chosen components, with the user's extra flags last so that they win. */
export function processSpecs(
  place: Place,
  chosen: readonly ComponentName[],
  extraArgs: ReadonlyMap<ComponentName, readonly string[]>,
): ProcessSpec[] {
  return componentNames
    .filter((name) => chosen.includes(name))
    .flatMap((name) =>
      table[name](place).map((spec) => ({
        ...spec,
        main: resolve(appsDirectory, name, 'src/main.js'),
        hasTeardown: withTeardown.includes(name),
        args: [...spec.args, `--dialect=${place.settings.dialect}`, ...(extraArgs.get(name) ?? [])],
      })),
    );
}

function controllerManager({ dataDirectory, settings }: Place): OwnSpec[] {
  const port = settings.addresses.ports.controllerManager;
  return [
    {
      component: 'controller-manager',
      name: 'controller-manager',
      args: clientAndServing(dataDirectory, 'controller-manager', port),
      probe: { port, path: '/healthz' },
      identity: systemIdentity('controller-manager'),
    },
  ];
}

function scheduler({ dataDirectory, settings }: Place): OwnSpec[] {
  const port = settings.addresses.ports.scheduler;
  return [
    {
      component: 'scheduler',
      name: 'scheduler',
      args: clientAndServing(dataDirectory, 'scheduler', port),
      probe: { port, path: '/healthz' },
      identity: systemIdentity('scheduler'),
    },
  ];
}

function nodeAgents({ dataDirectory, settings }: Place): OwnSpec[] {
  const { authorityCertificate } = clusterPaths(dataDirectory);
  return Array.from({ length: settings.nodeCount }, (_, offset): OwnSpec => {
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
        `--pod-cidr=${nodePodCidr(settings.addresses, ordinal)}`,
        '--node-ip=127.0.0.1',
        '--address=127.0.0.1',
        `--port=${port}`,
        `--tls-cert-file=${serving.certificate}`,
        `--tls-private-key-file=${serving.key}`,
        `--client-ca-file=${authorityCertificate}`,
        '--anonymous-auth=false',
        '--authentication-token-webhook',
        '--teardown-on-stop',
      ],
      probe: { port, path: '/healthz' },
      identity: { name, user: `system:node:${nodeName}`, groups: ['system:nodes'] },
      nodeName,
    };
  });
}

function proxy({ dataDirectory, settings }: Place): OwnSpec[] {
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

function clusterName(settings: ClusterSettings): string {
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
