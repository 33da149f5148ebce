/** Every command by name, with what loads it. */
import type { Configure } from '../lib/context.js';

export interface CommandEntry {
  readonly name: string;
  readonly description: string;
  readonly aliases?: readonly string[];
  readonly load: () => Promise<Configure>;
}

export const commands: readonly CommandEntry[] = [
  {
    name: 'get',
    description: 'show one or many resources',
    load: async () => (await import('./get.js')).configureGet,
  },
  {
    name: 'describe',
    description: 'show details of resources and the events about them',
    load: async () => (await import('./describe.js')).configureDescribe,
  },
  {
    name: 'apply',
    description: 'create or change resources to match files',
    load: async () => (await import('./apply.js')).configureApply,
  },
  {
    name: 'create',
    description: 'create resources from files',
    load: async () => (await import('./create.js')).configureCreate,
  },
  {
    name: 'delete',
    description: 'delete resources by file, name or selector',
    load: async () => (await import('./delete.js')).configureDelete,
  },
  {
    name: 'logs',
    description: 'print the log of a container',
    aliases: ['log'],
    load: async () => (await import('./logs.js')).configureLogs,
  },
  {
    name: 'exec',
    description: 'run a command in a container',
    load: async () => (await import('./exec.js')).configureExec,
  },
  {
    name: 'attach',
    description: 'join a running container',
    load: async () => (await import('./attach.js')).configureAttach,
  },
  {
    name: 'port-forward',
    description: 'lead ports of this machine to a pod',
    load: async () => (await import('./port-forward.js')).configurePortForward,
  },
  {
    name: 'cp',
    description: 'copy files into and out of containers',
    load: async () => (await import('./cp.js')).configureCp,
  },
  {
    name: 'proxy',
    description: 'offer the API on a port of this machine',
    load: async () => (await import('./proxy.js')).configureProxy,
  },
  {
    name: 'scale',
    description: 'set the number of replicas',
    load: async () => (await import('./scale.js')).configureScale,
  },
  {
    name: 'rollout',
    description: 'follow, undo, pause, resume and restart rollouts',
    load: async () => (await import('./rollout.js')).configureRollout,
  },
  {
    name: 'wait',
    description: 'wait for a condition, a value or a deletion',
    load: async () => (await import('./wait.js')).configureWait,
  },
  {
    name: 'label',
    description: 'set and remove labels',
    load: async () => (await import('./label.js')).configureLabel,
  },
  {
    name: 'annotate',
    description: 'set and remove annotations',
    load: async () => (await import('./annotate.js')).configureAnnotate,
  },
  {
    name: 'api-resources',
    description: 'list the resource types that the server knows',
    load: async () => (await import('./api-resources.js')).configureApiResources,
  },
  {
    name: 'api-versions',
    description: 'list the API versions that the server knows',
    load: async () => (await import('./api-versions.js')).configureApiVersions,
  },
  {
    name: 'cluster',
    description: 'show and change the replicas of the API server; back up and restore',
    load: async () => (await import('./cluster/cluster.js')).configureCluster,
  },
  {
    name: 'cluster-info',
    description: 'show where the cluster is',
    load: async () => (await import('./cluster-info.js')).configureClusterInfo,
  },
  {
    name: 'config',
    description: 'show the kubeconfig',
    load: async () => (await import('./config.js')).configureConfig,
  },
  {
    name: 'version',
    description: 'print the versions of this program and the server',
    load: async () => (await import('./version.js')).configureVersion,
  },
];
