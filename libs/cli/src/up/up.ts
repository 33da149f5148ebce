/**
 * `orchctl up`: creates or reuses the cluster of a data directory, starts its processes and
 * restarts them until a signal arrives, in the foreground or, with `--detach`, in a background
 * process.
 */
import { existsSync } from 'node:fs';
import { relative } from 'node:path';
import {
  CertificatePoll,
  collectStartGarbage,
  errorMessage,
  exitCodes,
  selectDialect,
  systemClock,
} from '@orch/component';
import { replicaPorts } from './cluster/address-block.js';
import { apiUrls } from './cluster/api-server-addresses.js';
import {
  type ClusterConfig,
  checkDialect,
  checkDirectory,
  checkReplicas,
  clusterPaths,
  defaultPort,
  noteFounded,
  readSettings,
  settle,
} from './cluster/cluster-directory.js';
import { ensureStorageClass } from './cluster/default-storage-class.js';
import { renewalPeriodMs, repeatedSignalMs } from './cluster/limits.js';
import { portProblem } from './cluster/port-problem.js';
import { UserError } from './cluster/user-error.js';
import { ensureComponentBindings } from './credentials/component-bindings.js';
import { ensureCredentials } from './credentials/credentials.js';
import { runDetached, tellStarter } from './detach.js';
import { componentSpecs, processSpecs } from './processes/components.js';
import {
  alreadyRunning,
  forgetChildren,
  liveSupervisor,
  releaseDirectory,
  takeDirectory,
} from './processes/run-state.js';
import { stopLeftovers } from './processes/stop-leftovers.js';
import { Supervisor } from './processes/supervisor.js';
import type { UpOptions } from './up-options.js';

/**
 * Resolves with the exit code when the cluster has stopped, or with `--detach` when it is ready.
 */
export async function up(options: UpOptions, argv: readonly string[]): Promise<number> {
  const { dataDirectory } = options;
  checkDirectory(dataDirectory);
  const stored = readSettings(dataDirectory);
  const requested = {
    dialect: options.dialect,
    port: options.port,
    nodeCount: options.nodes,
    replicaCount: options.replicas,
  };
  checkDialect(dataDirectory, stored, requested);
  checkReplicas(dataDirectory, stored, requested);
  const holder = stored && liveSupervisor(dataDirectory);
  if (holder) throw alreadyRunning(dataDirectory, holder);
  if (stored && (await stopLeftovers(dataDirectory, 'keep')).length > 0) {
    say(options, 'stopped processes that an earlier supervisor left behind');
  }
  const withApi = options.chosenComponents().includes('apiserver');
  if (withApi) await checkPort(requested.port ?? stored?.port ?? defaultPort);
  selectDialect(stored?.dialect ?? options.dialect ?? 'orch');
  const settings = await settle(dataDirectory, stored, requested);
  if (withApi) await checkReplicaPorts(settings);
  if (options.detach && !options.asDetachedSupervisor) return runDetached(dataDirectory, argv);
  takeDirectory(dataDirectory);
  try {
    return await supervise(options, settings);
  } finally {
    releaseDirectory(dataDirectory);
  }
}

async function supervise(options: UpOptions, settings: ClusterConfig): Promise<number> {
  const { dataDirectory } = options;
  const startedMs = systemClock.monotonicMs();
  const components = componentSpecs(
    { dataDirectory, settings },
    options.chosenComponents(),
    options.extraArgs(),
  );
  const specs = processSpecs(components, options.separateProcesses);
  const identities = components.flatMap(({ identity }) => identity ?? []);
  const renew = () => ensureCredentials(dataDirectory, settings, identities);
  const { adminToken, authorityPem } = await renew();
  const supervisor = new Supervisor({
    dataDirectory,
    specs,
    apiPort: settings.port,
    authorityPem,
    adminToken,
    clock: systemClock,
    random: Math.random,
    report: (text) => say(options, text),
    onApiServersReady: async () => {
      const access = { port: settings.port, authorityPem, token: adminToken };
      await ensureComponentBindings(access);
      // Later starts leave the class as the user has changed it.
      const hasNodes = components.some(({ component }) => component === 'node-agent');
      if (hasNodes && !settings.isFounded) await ensureStorageClass(access, dataDirectory);
    },
  });
  const ended = untilSignal(supervisor, (text) => say(options, text));
  say(options, `starting ${components.map(({ name }) => name).join(', ')} in ${dataDirectory}`);
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
    if (components.some(({ component }) => component === 'apiserver')) noteFounded(dataDirectory);
    const seconds = ((systemClock.monotonicMs() - startedMs) / 1000).toFixed(1);
    tellReady(options, welcome(options, settings, seconds));
    collectStartGarbage(systemClock);
  }
  const renewal = new CertificatePoll({
    clock: systemClock,
    periodMs: renewalPeriodMs,
    // The processes reload the files.
    reload: async () => void (await renew()),
    onError: (reason) => say(options, `certificates were not renewed: ${reason}`),
  });
  renewal.start();
  const exitCode = await ended;
  renewal.stop();
  if (exitCode === exitCodes.ok) forgetChildren(dataDirectory);
  return exitCode;
}

/** Resolves with the exit code when everything has stopped after a signal. */
function untilSignal(supervisor: Supervisor, report: (text: string) => void): Promise<number> {
  return new Promise((resolve) => {
    let stoppingSinceMs: number | undefined;
    const onSignal = (signal: NodeJS.Signals) => {
      const nowMs = systemClock.monotonicMs();
      if (stoppingSinceMs !== undefined) {
        // The terminal and npm both forward one Ctrl-C, so only a later signal counts as a second
        // one.
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
          report(`could not stop everything: ${errorMessage(error)}`);
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

/** Throws `UserError` if a process already listens on the port. */
async function checkPort(port: number): Promise<void> {
  for (const host of ['127.0.0.1', '0.0.0.0']) {
    const problem = await portProblem(port, host);
    if (problem === undefined) continue;
    throw new UserError(`port ${port} ${problem}; choose another with --port`);
  }
}

/** As `checkPort`, for the ports from the block of the cluster. */
async function checkReplicaPorts({ addresses, replicaCount }: ClusterConfig): Promise<void> {
  for (const port of replicaPorts(addresses, replicaCount)) {
    const problem = await portProblem(port, '127.0.0.1');
    if (problem === undefined) continue;
    throw new UserError(
      `port ${port}, which this cluster uses for its API servers, ${problem}; stop that process`,
    );
  }
}

function welcome(options: UpOptions, settings: ClusterConfig, seconds: string): string {
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
      : `Stop it with Ctrl-C, or from another terminal with: npm run down${stop}`,
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
