/**
 * A user of one kubectl: a shell with it on the path, a directory and a namespace of their own, and lines
 * that are typed into it with what they are to say.
 */
import { mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import type { Cluster } from './cluster.js';
import type { KubectlRelease } from './kubectl.js';
import { must, type Outcome, run } from './process.js';

/** A line and what a user may expect of it. */
export interface Step {
  /** Title of the test: what is tried. */
  readonly does: string;
  /**
   * Typed into bash. In its environment are `NAMESPACE` (the current one), `NODE` (a node that no other
   * session closes) and `MINOR` (of kubectl's release). It ends at the first command that fails.
   */
  readonly run: string;
  /** Each is in what is printed, on either output. */
  readonly says?: string | RegExp | readonly (string | RegExp)[];
  /** Is not in it. */
  readonly saysNot?: RegExp;
  /** Exit code; 0 if left out. */
  readonly exits?: number;
  /** First minor release that has it; all if left out. */
  readonly since?: number;
  /** Last one. */
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

  /** Ends the whole process group when it takes too long. Both outputs are in `stdout`. */
  type(line: string): Promise<Outcome> {
    const script = `exec 2>&1; cd '${this.directory}'; set -euo pipefail; ${line}`;
    const limit = ['--kill-after=5', String(stepTimeoutSeconds)];
    return run('timeout', [...limit, 'bash', '-c', script], { env: this.environment });
  }
}
