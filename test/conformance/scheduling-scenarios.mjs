/**
 * Replays recorded scheduling decisions: `scheduling.mjs` creates each recorded world on a server,
 * starts the built scheduler with the configuration of the scenario, and compares its decisions.
 * The sample has all designed and configured scenarios in one dialect, and a share of the others.
 */
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { runTool, startServer } from './processes.mjs';

const folder = join(import.meta.dirname, 'scheduling');
const scheduler = resolve(import.meta.dirname, '../../dist/apps/scheduler/src/main.js');
const area = 'scheduling';
const token = 'admintoken';

/** The sample contains one of this many scenarios of a file. */
const sampleSteps = {
  orch: { 'designed.jsonl': 1, 'configured.jsonl': 1, 'random.jsonl': 10 },
  kubernetes: { 'designed.jsonl': 5, 'configured.jsonl': 2, 'random.jsonl': 20 },
};
const systemPrefix = { orch: 'orch', kubernetes: 'kube' };

/**
 * Replays the sample and the scenarios of `always`, named `scheduling/<name>`; with `filter` all
 * scenarios whose name matches.
 * @returns the result of each scenario and the output of the tool.
 */
export async function replayScheduling({ dialect, filter, always = [] }) {
  // The tool translates names of the dialect in the path of the kubeconfig too.
  const directory = mkdtempSync(join(tmpdir(), 'scheduling-'));
  const server = await startServer(directory, dialect);
  try {
    const kubeconfig = join(directory, 'scheduler.kubeconfig');
    const results = join(directory, 'results.json');
    const scenarios = join(directory, 'scenarios.jsonl');
    writeFileSync(kubeconfig, JSON.stringify(kubeconfigOf(server.url)));
    const lines = selected(dialect, filter, new Set(always));
    if (lines.length === 0) return { results: [], output: '' };
    writeFileSync(scenarios, `${lines.join('\n')}\n`);
    const output = await runTool('scheduling.mjs', [
      ...['--server', server.url, '--token', token, '--dialect', dialect],
      ...['--scheduler-command', schedulerCommand(dialect, kubeconfig), '--kubeconfig', kubeconfig],
      ...['--scheduler-log', join(directory, 'scheduler.log'), '--json', results, scenarios],
    ]);
    if (!existsSync(results)) throw new Error(`the replay wrote no results:\n${output}`);
    const outcomes = JSON.parse(readFileSync(results, 'utf8'));
    return {
      results: outcomes.map(({ name, wrong }) => ({ area, name, passed: wrong.length === 0 })),
      output,
    };
  } catch (error) {
    throw new Error(`${error.message}\n${server.log()}`, { cause: error });
  } finally {
    await server.stop();
    rmSync(directory, { recursive: true, force: true });
  }
}

function kubeconfigOf(server) {
  return {
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'replay',
    clusters: [{ name: 'replay', cluster: { server, 'insecure-skip-tls-verify': true } }],
    users: [{ name: 'replay', user: { token } }],
    contexts: [{ name: 'replay', context: { cluster: 'replay', user: 'replay' } }],
  };
}

function schedulerCommand(dialect, kubeconfig) {
  const prefix = systemPrefix[dialect];
  return [
    ...[process.execPath, scheduler, `--dialect=${dialect}`, `--kubeconfig=${kubeconfig}`],
    ...['--leader-elect=false', '--secure-port=0'],
    ...[`--${prefix}-api-qps=1000`, `--${prefix}-api-burst=1000`, '{config}'],
  ].join(' ');
}

/** Scenarios with the same configuration follow each other, so that they share a scheduler. */
function selected(dialect, filter, always) {
  const pattern = filter && new RegExp(filter);
  return Object.entries(sampleSteps[dialect]).flatMap(([file, step]) =>
    readFileSync(join(folder, file), 'utf8')
      .split('\n')
      .filter(Boolean)
      .filter((line, index) => {
        const name = `${area}/${JSON.parse(line).name}`;
        if (pattern) return pattern.test(name);
        return index % step === 0 || always.has(name);
      }),
  );
}
