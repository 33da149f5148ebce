/** The command line tool, as an operator runs it: with a kubeconfig that names all servers. */
import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ChaosCluster } from './chaos-cluster.js';
import { orchctlMain, repositoryRoot } from './repository.js';
import { adminToken } from './server-client.js';

const timeoutMs = 90_000;

export interface OrchctlOutcome {
  readonly code: number;
  readonly output: string;
}

/** Resolves whatever the exit code. */
export function tryOrchctl(
  cluster: ChaosCluster,
  args: readonly string[],
): Promise<OrchctlOutcome> {
  return new Promise((done, fail) => {
    const child = spawn(
      process.execPath,
      [orchctlMain, ...args, '--kubeconfig', kubeconfig(cluster)],
      {
        cwd: repositoryRoot,
        timeout: timeoutMs,
        killSignal: 'SIGKILL',
      },
    );
    let output = '';
    const take = (chunk: Buffer) => {
      output += chunk.toString();
    };
    child.stdout.on('data', take);
    child.stderr.on('data', take);
    child.on('error', fail);
    child.on('close', (code, signal) => done({ code: code ?? 1, output: output + (signal ?? '') }));
    child.stdin.end();
  });
}

/** Throws with the output unless it ends with 0. Commands on files alone need no server. */
export async function orchctl(cluster: ChaosCluster, ...args: string[]): Promise<string> {
  const { code, output } = await tryOrchctl(cluster, args);
  if (code !== 0) throw new Error(`orchctl ${args.join(' ')} ended with ${code}: ${output}`);
  return output;
}

/** Written for each call, because members change. JSON is valid YAML. */
function kubeconfig(of: ChaosCluster): string {
  const path = join(of.directory, 'kubeconfig');
  const name = 'chaos';
  const servers = of.responsive().map(({ url }) => url);
  const cluster = {
    server: servers[0],
    'certificate-authority': of.certificates.authorityFile,
    extensions: [{ name: 'endpoints', extension: { servers } }],
  };
  writeFileSync(
    path,
    JSON.stringify({
      apiVersion: 'v1',
      kind: 'Config',
      clusters: [{ name, cluster }],
      users: [{ name, user: { token: adminToken } }],
      contexts: [{ name, context: { cluster: name, user: name } }],
      'current-context': name,
    }),
  );
  return path;
}
