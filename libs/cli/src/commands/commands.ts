/** The table of commands. Each entry imports the file of its command on demand. */
import type { Configure } from '../session/command-context.js';

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
    name: 'explain-scheduling',
    description: 'show why a pod has its node, or what would have to change for it to get one',
    load: async () => (await import('./explain-scheduling.js')).configureExplainScheduling,
  },
  {
    name: 'apply',
    description: 'create or patch resources to match files',
    load: async () => (await import('./apply.js')).configureApply,
  },
  {
    name: 'create',
    description: 'create resources from files, roles, bindings, service accounts and tokens',
    load: async () => (await import('./create.js')).configureCreate,
  },
  {
    name: 'delete',
    description: 'delete resources by file, name or selector',
    load: async () => (await import('./delete.js')).configureDelete,
  },
  {
    name: 'logs',
    description: 'print the logs of containers',
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
    description: 'attach to a running container',
    load: async () => (await import('./attach.js')).configureAttach,
  },
  {
    name: 'port-forward',
    description: 'forward local ports to a pod',
    load: async () => (await import('./port-forward.js')).configurePortForward,
  },
  {
    name: 'cp',
    description: 'copy files into and out of containers',
    load: async () => (await import('./cp.js')).configureCp,
  },
  {
    name: 'proxy',
    description: 'serve the API on a local port',
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
    name: 'top',
    description: 'show the CPU and memory usage of nodes and pods',
    load: async () => (await import('./top.js')).configureTop,
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
    name: 'auth',
    description: 'check permissions, reconcile roles, show the user',
    load: async () => (await import('./auth.js')).configureAuth,
  },
  {
    name: 'certificate',
    description: 'approve and deny certificate signing requests',
    load: async () => (await import('./certificate.js')).configureCertificate,
  },
  {
    name: 'api-resources',
    description: 'list the resource types of the server',
    load: async () => (await import('./api-resources.js')).configureApiResources,
  },
  {
    name: 'api-versions',
    description: 'list the API versions of the server',
    load: async () => (await import('./api-versions.js')).configureApiVersions,
  },
  {
    name: 'cluster',
    description: 'show and change the replicas of the API server; back up and restore',
    load: async () => (await import('./cluster.js')).configureCluster,
  },
  {
    name: 'cluster-info',
    description: 'show the address and readiness of the cluster',
    load: async () => (await import('./cluster-info.js')).configureClusterInfo,
  },
  {
    name: 'config',
    description: 'show and change the kubeconfig',
    load: async () => (await import('./config.js')).configureConfig,
  },
  {
    name: 'version',
    description: 'print the versions of this program and the server',
    load: async () => (await import('./version.js')).configureVersion,
  },
];
