/**
 * A user of one kubectl: a shell with it on the path, a directory and a namespace of their own, and
 * command lines with their expected output.
 */
import { mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import type { Cluster } from './cluster.js';
import type { KubectlRelease } from './kubectl.js';
import { must, type Outcome, run } from './process.js';

/** A command line and its expected result. */
export interface Step {
  /** Title of the test. */
  readonly does: string;
  /**
   * The script for bash. Its environment has `NAMESPACE` (the current one), `NODE` (a node that no
   * other session cordons) and `MINOR` (of kubectl's release). It ends at the first command that
   * fails.
   */
  readonly run: string;
  /** Each occurs in the combined outputs. */
  readonly says?: string | RegExp | readonly (string | RegExp)[];
  /** Does not occur in the outputs. */
  readonly saysNot?: RegExp;
  /** Exit code; 0 if undefined. */
  readonly exits?: number;
  /** First minor release with this step; all if undefined. */
  readonly since?: number;
  /** Last minor release with this step. */
  readonly until?: number;
}

/** Steps that build on each other, in a namespace of their own. */
export interface Topic {
  readonly name: string;
  readonly steps: readonly Step[];
}

const stepTimeoutSeconds = 90;

export function minorOf({ release }: KubectlRelease): number {
  return Number(release.split('.')[1]);
}

export class KubectlSession {
  private constructor(
    private readonly directory: string,
    private readonly environment: Record<string, string>,
  ) {}

  static async open(
    cluster: Cluster,
    release: KubectlRelease,
    { name, node }: { name: string; node: string },
  ): Promise<KubectlSession> {
    const namespace = `${name}-${minorOf(release)}`;
    const directory = join(cluster.dataDirectory, 'sessions', namespace);
    const home = join(directory, 'home');
    mkdirSync(home, { recursive: true });
    const kubectl = join(directory, 'kubectl');
    symlinkSync(await release.binary(), kubectl);
    const kubeconfig = join(home, 'kubeconfig');
    const first = ['--kubeconfig', cluster.kubeconfig];
    await must('cp', [cluster.kubeconfig, kubeconfig]);
    await must(kubectl, [...first, 'create', 'namespace', namespace]);
    const session = new KubectlSession(directory, {
      HOME: home,
      KUBECONFIG: kubeconfig,
      PATH: `${directory}:${process.env.PATH}`,
      NAMESPACE: namespace,
      NODE: node,
      MINOR: String(minorOf(release)),
    });
    await session.type('kubectl config set-context --current --namespace="$NAMESPACE"');
    return session;
  }

  /** Runs the line with a time limit for its process group. Both outputs are in `stdout`. */
  type(line: string): Promise<Outcome> {
    const script = `exec 2>&1; cd '${this.directory}'; set -euo pipefail; ${line}`;
    const limit = ['--kill-after=5', String(stepTimeoutSeconds)];
    return run('timeout', [...limit, 'bash', '-c', script], { env: this.environment });
  }
}
