/** The report of a scale test as Markdown, with a result for each objective. */

/** From the creation of a pod until it is ready, without pulling images. */
const startLimitSeconds = 5;

export const defaultSize = {
  ...{ nodes: 5_000, pods: 150_000, services: 1_000 },
  ...{ churn: 100, seconds: 60 },
};

const isMet = ({ p99Seconds, limitSeconds }) => p99Seconds <= limitSeconds;
const resultOf = (holds) => (holds ? 'met' : 'missed');

/** Returns a line for each verb and scope whose requests took too long. */
export function missedObjectives(rows) {
  return rows
    .filter((row) => !isMet(row))
    .map(({ verb, scope, p99Seconds, limitSeconds }) => {
      return `${verb} ${scope}: p99 up to ${p99Seconds} s, objective ${limitSeconds} s`;
    });
}

/** Returns a table with columns of equal width, as the formatter of the project wants it. */
function table(...rows) {
  const widths = rows[0].map((_, at) => Math.max(...rows.map((row) => String(row[at]).length)));
  const line = (row) => `| ${row.map((cell, at) => String(cell).padEnd(widths[at])).join(' | ')} |`;
  const [head, ...body] = rows;
  return [line(head), line(widths.map((width) => '-'.repeat(width))), ...body.map(line)].join('\n');
}

export function report(measured) {
  const sections = [conditionsSection, latencySection, startSection, usageSection, limitsSection];
  if (measured.kills.length > 0) sections.push(recoverySection);
  return `${[intro, ...sections.map((section) => section(measured))].join('\n\n')}\n`;
}

const intro = `# Scale

Written by \`npm run scale -- --report\`, which [hollow nodes](hollow-nodes.md) make possible: API servers, controller
manager, scheduler and hollow nodes are real processes on one machine. The default size is 5,000 nodes, 150,000 pods,
1,000 services and 100 replaced pods per second; the options \`--nodes\`, \`--pods\`, \`--services\`, \`--churn\`,
\`--seconds\` and \`--replicas\` set another one.`;

function conditionsSection({ date, conditions, options, created, churned }) {
  const { nodes, pods, services, replicas } = options;
  const replacedRate = (churned.count / churned.seconds).toFixed(0);
  return `## Conditions

${date}: ${nodes} nodes, ${pods} pods, ${services} services, ${replicas} API server(s). ${conditions}

Creating the pods until all were ready took ${created.seconds.toFixed(0)} s (${created.rate.toFixed(0)} pods/s). Then
${churned.count} pods were replaced in ${churned.seconds.toFixed(0)} s (${replacedRate} pods/s).`;
}

function latencySection({ rows }) {
  const cells = rows.map(({ verb, scope, count, p99Seconds, limitSeconds }) => {
    const holds = resultOf(isMet({ p99Seconds, limitSeconds }));
    return [verb, scope, count, `${p99Seconds} s`, `${limitSeconds} s`, holds];
  });
  return `## API latency

Requests before the kills, at the server that the script talks to, with its own lists of deployments every 0.5 s. The
figure is the upper bound of the histogram bucket. Objectives: 1 s for single objects, 5 s for lists of a namespace, 30 s
for lists of the cluster.

${table(['verb', 'scope', 'requests', 'p99 at most', 'objective', 'result'], ...cells)}`;
}

function startSection({ start }) {
  const cells = ({ p50, p99, most }) => [p50, p99, most].map((value) => `${value} s`);
  const replaced = resultOf(start.churned.p99 <= startLimitSeconds);
  return `## Pod start-up

From the creation of a pod until it is ready, including the start delay of 1 s of hollow nodes, to the second. Pods that
are created together wait for each other, so their time shows the length of the queue. Pods of the churn start in a
cluster at work: objective ${startLimitSeconds} s.

${table(
  ['pods', 'p50', 'p99', 'most', 'result'],
  ['all together', ...cells(start.all), ''],
  ['replaced', ...cells(start.churned), replaced],
)}`;
}

function usageSection({ usage }) {
  const cells = usage.map(({ name, bytes, seconds }) => {
    return [name, `${Math.round(bytes / 2 ** 20)} MiB`, `${seconds.toFixed(1)} s`];
  });
  return `## Memory and CPU

${table(['component', 'resident memory', 'CPU from the start to the kills'], ...cells)}`;
}

/** The default size, which is the goal, is projected from the cost of one pod at this size. */
function limitsSection({ options, cost, cores, memoryBytes }) {
  const { nodes, pods } = defaultSize;
  const { cpuMsPerPod, bytesPerPod, baseBytes } = cost;
  const minutes = (pods * cpuMsPerPod) / cores / 60_000;
  const gigabytes = (baseBytes + pods * bytesPerPod) / 1e9;
  const isDefault = options.nodes >= nodes && options.pods >= pods;
  const projected = `
By these figures, ${pods.toLocaleString('en')} pods need at least ${minutes.toFixed(0)} minutes on these ${cores} cores and about ${gigabytes.toFixed(1)} GB of the ${(memoryBytes / 1e9).toFixed(0)} GB of this
machine. That is a projection: it was not run.`;
  return `## Limits

A pod, from its deployment until it is ready, costs ${cpuMsPerPod.toFixed(1)} ms of CPU and ${(bytesPerPod / 1e3).toFixed(0)} KB of memory in all processes together.${isDefault ? '' : projected}`;
}

function recoverySection({ kills }) {
  const cells = kills.map(({ name, seconds }) => [name, seconds.toFixed(1)]);
  return `## Recovery

Each process is killed, and a deployment gets a pod more. The time ends when that pod is ready.

${table(['killed', 'seconds'], ...cells)}`;
}
