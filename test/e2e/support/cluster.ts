/**
 * A cluster of real processes in a directory of its own, started and stopped by the user's
 * commands.
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stablePort } from '../../chaos/support/ports.js';
import { encryptionFlags } from '../../conformance/encryption.mjs';
import { must, type Outcome, repositoryRoot, run } from './process.js';

export type DialectName = 'orch' | 'kubernetes';

export interface ClusterOptions {
  readonly dialect: DialectName;
  readonly nodes?: number;
  /** Number of API servers; the default of `up` if undefined. */
  readonly replicas?: number;
  readonly components?: string;
  readonly extraArgs?: readonly string[];
}

export class Cluster {
  readonly dataDirectory = mkdtempSync(join(tmpdir(), 'orch-e2e-'));
  readonly kubeconfig = join(this.dataDirectory, 'kubeconfig');
  private port = 0;

  constructor(private readonly options: ClusterOptions) {}

  get url(): string {
    return `https://127.0.0.1:${this.port}`;
  }

  get token(): string {
    return readFileSync(join(this.dataDirectory, 'admin.token'), 'utf8').trim();
  }

  /** Runs `npm run up -- --detach` and returns its output. */
  async up(): Promise<string> {
    this.port ||= await stablePort();
    const { dialect, nodes, replicas, components, extraArgs = [] } = this.options;
    const args = ['scripts/up.mjs', '--detach', '--data-dir', this.dataDirectory];
    args.push('--port', String(this.port), '--dialect', dialect);
    if (nodes) args.push('--nodes', String(nodes));
    if (replicas) args.push('--replicas', String(replicas));
    if (components) args.push('--components', components);
    const encryption = encryptionFlags(dialect).map((flag) => `--component-arg=apiserver=${flag}`);
    return must('node', [...args, ...encryption, ...extraArgs], { timeoutMs: 180_000 });
  }

  async down(): Promise<string> {
    return must('node', ['scripts/down.mjs', '--data-dir', this.dataDirectory]);
  }

  /** Stops the cluster and removes its directory. */
  async destroy(): Promise<void> {
    await this.down();
    rmSync(this.dataDirectory, { recursive: true, force: true });
  }

  orchctl(args: readonly string[], input?: string): Promise<Outcome> {
    const all = ['dist/apps/orchctl/src/main.js', ...args, '--kubeconfig', this.kubeconfig];
    return run('node', all, input === undefined ? {} : { input });
  }

  log(component: string): string {
    return readFileSync(join(this.dataDirectory, 'logs', `${component}.log`), 'utf8');
  }
}

export const helloManifest = join(repositoryRoot, 'examples/hello.yaml');
