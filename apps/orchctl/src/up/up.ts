/**
 * `orchctl up`: creates or takes up the cluster of a data directory, starts its processes and keeps them
 * running until a signal, in the foreground or, with `--detach`, in a background process of its own.
 */
import { existsSync } from 'node:fs';
import { relative } from 'node:path';
import { exitCodes, selectDialect, systemClock } from '@orch/component';
import { replicaPorts } from './address-block.js';
import { apiUrls } from './api-servers.js';
import {
  type ClusterSettings,
  checkDialect,
  checkDirectory,
  checkReplicas,
  clusterPaths,
  defaultPort,
  noteFounded,
  readSettings,
  settle,
} from './cluster-directory.js';
import { processSpecs } from './components.js';
import { ensureCredentials } from './credentials.js';
import { runDetached, tellStarter } from './detach.js';
import { repeatedSignalMs } from './limits.js';
import { portProblem } from './port-problem.js';
import {
  alreadyRunning,
  forgetChildren,
  liveSupervisor,
  releaseDirectory,
  takeDirectory,
} from './run-state.js';
import { stopLeftovers } from './stop-leftovers.js';
import { Supervisor } from './supervisor.js';
import type { UpOptions } from './up-options.js';
import { UserError } from './user-error.js';

/** Runs until the cluster is stopped, or with `--detach` until it is ready. Gives the exit code. */
export async function up(options: UpOptions, argv: readonly string[]): Promise<number> {
  const { dataDirectory } = options;
  checkDirectory(dataDirectory);
  const kept = readSettings(dataDirectory);
  const wanted = {
    dialect: options.dialect,
    port: options.port,
    nodeCount: options.nodes,
    replicaCount: options.replicas,
  };
  checkDialect(dataDirectory, kept, wanted);
  checkReplicas(dataDirectory, kept, wanted);
  const holder = kept && liveSupervisor(dataDirectory);
  if (holder) throw alreadyRunning(dataDirectory, holder);
  if (kept && (await stopLeftovers(dataDirectory, 'keep')).length > 0) {
    say(options, 'ended processes that an earlier supervisor had left behind');
  }
  const withApi = options.chosenComponents().includes('apiserver');
  if (withApi) await checkPort(wanted.port ?? kept?.port ?? defaultPort);
  selectDialect(kept?.dialect ?? options.dialect ?? 'orch');
  const settings = await settle(dataDirectory, kept, wanted);
  if (withApi) await checkReplicaPorts(settings);
  if (options.detach && !options.asDetachedSupervisor) return runDetached(dataDirectory, argv);
  takeDirectory(dataDirectory);
  try {
    return await supervise(options, settings);
  } finally {
    releaseDirectory(dataDirectory);
  }
}

async function supervise(options: UpOptions, settings: ClusterSettings): Promise<number> {
  const { dataDirectory } = options;
  const startedMs = systemClock.monotonicMs();
  const specs = processSpecs(
    { dataDirectory, settings },
    options.chosenComponents(),
    options.extraArgs(),
  );
  const { adminToken, authorityPem } = await ensureCredentials(
    dataDirectory,
    settings,
    specs.flatMap(({ identity }) => identity ?? []),
  );
  const supervisor = new Supervisor({
    dataDirectory,
    specs,
    apiPort: settings.port,
    authorityPem,
    adminToken,
    clock: systemClock,
    random: Math.random,
    report: (text) => say(options, text),
  });
  const ended = untilSignal(supervisor, (text) => say(options, text));
  say(options, `starting ${specs.map(({ name }) => name).join(', ')} in ${dataDirectory}`);
  const started = supervisor.start().then(
    () => undefined,
    (error: unknown) => ({ error }),
  );
  const outcome = await Promise.race([started, ended.then(() => 'signal' as const)]);
  if (outcome !== undefined && outcome !== 'signal') {
    await supervisor.stop().catch((error: unknown) => say(options, `while stopping: ${error}`));
    throw outcome.error;
  }
  if (outcome === undefined) {
    if (specs.some(({ component }) => component === 'apiserver')) noteFounded(dataDirectory);
    const seconds = ((systemClock.monotonicMs() - startedMs) / 1000).toFixed(1);
    tellReady(options, welcome(options, settings, seconds));
  }
  const exitCode = await ended;
  if (exitCode === exitCodes.ok) forgetChildren(dataDirectory);
  return exitCode;
}

/** Resolves with the exit code when a signal has come and everything has been stopped. */
function untilSignal(supervisor: Supervisor, report: (text: string) => void): Promise<number> {
  return new Promise((resolve) => {
    let stoppingSinceMs: number | undefined;
    const onSignal = (signal: NodeJS.Signals) => {
      const nowMs = systemClock.monotonicMs();
      if (stoppingSinceMs !== undefined) {
        // The terminal and npm both pass on one Ctrl-C: only a later one is meant as a second.
        if (nowMs - stoppingSinceMs < repeatedSignalMs) return;
        report(`second ${signal}: killing everything`);
        supervisor.killNow();
        process.exit(exitCodes.shutdownTimeout);
      }
      stoppingSinceMs = nowMs;
      report(`stopping (${signal}) ...`);
      supervisor.stop().then(
        () => {
          report('stopped');
          resolve(0);
        },
        (error: unknown) => {
          report(`could not stop in order: ${error instanceof Error ? error.message : error}`);
          supervisor.killNow();
          resolve(1);
        },
      );
    };
    process.on('SIGINT', onSignal);
    process.on('SIGTERM', onSignal);
    process.on('SIGHUP', onSignal);
  });
}

/** Throws `UserError` when something listens on the port already. */
async function checkPort(port: number): Promise<void> {
  for (const host of ['127.0.0.1', '0.0.0.0']) {
    const problem = await portProblem(port, host);
    if (problem === undefined) continue;
    throw new UserError(`port ${port} ${problem}; choose another with --port`);
  }
}

/** As `checkPort`, for ports that the cluster has from its block. */
async function checkReplicaPorts({ addresses, replicaCount }: ClusterSettings): Promise<void> {
  for (const port of replicaPorts(addresses, replicaCount)) {
    const problem = await portProblem(port, '127.0.0.1');
    if (problem === undefined) continue;
    throw new UserError(
      `port ${port}, one of those this cluster has for its API servers, ${problem}; end that process`,
    );
  }
}

function welcome(options: UpOptions, settings: ClusterSettings, seconds: string): string {
  const { kubeconfig } = clusterPaths(options.dataDirectory);
  const flag = options.isDefaultDirectory ? '' : ` --kubeconfig ${kubeconfig}`;
  const stop = options.isDefaultDirectory ? '' : ` -- --data-dir ${options.dataDirectory}`;
  const example = 'examples/hello.yaml';
  const [url, ...otherUrls] = apiUrls(settings);
  return [
    '',
    `Ready after ${seconds} s.`,
    '',
    `  URL         ${url}`,
    ...otherUrls.map((other) => `              ${other}`),
    `  kubeconfig  ${kubeconfig}`,
    '',
    'Try:',
    `  npx orchctl get nodes${flag}`,
    `  npx orchctl apply -f ${existsSync(example) ? relative('.', example) : example}${flag}`,
    `  npx orchctl get pods -w${flag}`,
    '',
    options.detach || options.asDetachedSupervisor
      ? `It runs in the background; stop it with: npm run down${stop}`
      : `Stop with Ctrl-C, or from elsewhere with: npm run down${stop}`,
    '',
  ].join('\n');
}

function say(options: UpOptions, text: string): void {
  const time = new Date().toISOString().slice(11, 19);
  process.stdout.write(`${time} ${text}\n`);
  if (options.asDetachedSupervisor) void tellStarter({ kind: 'progress', text });
}

function tellReady(options: UpOptions, text: string): void {
  process.stdout.write(`${text}\n`);
  if (options.asDetachedSupervisor) void tellStarter({ kind: 'ready', text });
}
