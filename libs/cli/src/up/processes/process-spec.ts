/** The components of a cluster and the processes that run them. */
import type { ClusterConfig } from '../cluster/cluster-directory.js';
import type { ComponentIdentity } from '../credentials/credentials.js';

export const componentNames = [
  'apiserver',
  'controller-manager',
  'scheduler',
  'node-agent',
  'proxy',
] as const;
export type ComponentName = (typeof componentNames)[number];

/** One component: its command, its probe and its API identity. */
export interface ComponentSpec {
  readonly component: ComponentName;
  /** Its name in messages: the component, with a number if there are several. */
  readonly name: string;
  /** The script that runs it in a process of its own. */
  readonly main: string;
  readonly args: readonly string[];
  /** Flags that are computed at each start. They precede `args`. */
  readonly startArgs?: () => readonly string[];
  /** Its health endpoint, over HTTPS with the authority of the cluster. */
  readonly probe: { readonly port: number; readonly path: string };
  /** Absent for the API server, which is no client. */
  readonly identity?: ComponentIdentity;
  /** Name of the node that it reports as Ready. */
  readonly nodeName?: string;
  /**
   * Whether it leaves pods or addresses behind when killed, and supports `--teardown-only` to
   * remove them.
   */
  readonly hasTeardown: boolean;
}

/** The fields that differ between components. */
export type ComponentFields = Omit<ComponentSpec, 'main' | 'hasTeardown'>;

/** A process to run, of one component or of several. */
export interface ProcessSpec extends Pick<ComponentSpec, 'main' | 'args' | 'startArgs'> {
  /** Name of its log and in messages. */
  readonly name: string;
  readonly components: readonly ComponentSpec[];
}

export interface LocalCluster {
  readonly dataDirectory: string;
  readonly settings: ClusterConfig;
}
