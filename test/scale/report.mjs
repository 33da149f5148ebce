/** The report of a scale test as Markdown, with a result for each objective. */
/** From the creation of a pod until it is ready, without pulling images. */
const startLimitSeconds = 5;

export const defaultSize = {
  ...{ nodes: 5_000, pods: 150_000, services: 1_000 },
  ...{ churn: 100, seconds: 60 },
};

const isMet = ({ p99Seconds, limitSeconds }) => p99Seconds <= limitSeconds;

/** Returns a line for each verb and scope whose requests took too long. */
export function missedObjectives(rows) {
  return rows
    .filter((row) => !isMet(row))
    .map(({ verb, scope, p99Seconds, limitSeconds }) => {
      return `${verb} ${scope}: p99 up to ${p99Seconds} s, objective ${limitSeconds} s`;
    });
}

export function report(measured) {
  const { date, conditions, options, rows, start, created, churned, usage, kills } = measured;
  const { nodes, pods, services, replicas } = options;
  return `# Scale

Written by \`npm run scale -- --report\`, which [hollow nodes](hollow-nodes.md) make possible: API servers, controller
manager, scheduler and hollow nodes are real processes on one machine. The default size is 5,000 nodes, 150,000 pods,
1,000 services and 100 replaced pods per second; the options \`--nodes\`, \`--pods\`, \`--services\`, \`--churn\`,
\`--seconds\` and \`--replicas\` set another one.

## Conditions

${date}: ${nodes} nodes, ${pods} pods, ${services} services, ${replicas} API server(s). ${conditions}

Creating the pods until all were ready took ${created.seconds.toFixed(0)} s (${created.rate.toFixed(0)} pods/s). Then
${churned.count} pods were replaced in ${churned.seconds.toFixed(0)} s (${(churned.count / churned.seconds).toFixed(0)} pods/s).

## API latency

Requests before the kills, at the server that the script talks to, with its own lists of deployments every 0.5 s. The
figure is the upper bound of the histogram bucket. Objectives: 1 s for single objects, 5 s for lists of a namespace, 30 s for lists of the cluster.

| verb | scope | requests | p99 at most | objective | result |
| ---- | ----- | -------- | ----------- | --------- | ------ |
${rows
  .map(({ verb, scope, count, p99Seconds, limitSeconds }) => {
    const holds = isMet({ p99Seconds, limitSeconds }) ? 'met' : 'missed';
    return `| ${verb} | ${scope} | ${count} | ${p99Seconds} s | ${limitSeconds} s | ${holds} |`;
  })
  .join('\n')}

## Pod start-up

From the creation of a pod until it is ready, including the start delay of 1 s of hollow nodes, to the second. Pods that
are created together wait for each other, so their time shows the length of the queue. Pods of the churn start in a
cluster at work: objective ${startLimitSeconds} s.

| pods | p50 | p99 | most | result |
| ---- | --- | --- | ---- | ------ |
| all together | ${cells(start.all)} | |
| replaced | ${cells(start.churned)} | ${start.churned.p99 <= startLimitSeconds ? 'met' : 'missed'} |

## Memory and CPU

| component | resident memory | CPU from the start to the kills |
| --------- | --------------- | -------------------- |
${usage.map(({ name, bytes, seconds }) => `| ${name} | ${Math.round(bytes / 2 ** 20)} MiB | ${seconds.toFixed(1)} s |`).join('\n')}

${limitsSection(measured)}
${kills.length === 0 ? '' : recoverySection(kills)}`;
}

const cells = ({ p50, p99, most }) => [p50, p99, most].map((value) => `${value} s`).join(' | ');

/** The default size, which is the goal, is projected from what one pod costs at this size. */
function limitsSection({ options, cost, cores, memoryBytes }) {
  const { nodes, pods } = defaultSize;
  const minutes = (pods * cost.cpuMsPerPod) / cores / 60_000;
  const gigabytes = (cost.baseBytes + pods * cost.bytesPerPod) / 1e9;
  const isDefault = options.nodes >= nodes && options.pods >= pods;
  const projected = `By these figures, ${pods.toLocaleString('en')} pods need at least ${minutes.toFixed(0)} minutes on these ${cores} cores
and about ${gigabytes.toFixed(1)} GB of the ${(memoryBytes / 1e9).toFixed(0)} GB of this machine. That is a projection: it was not run.`;
  return `
## Limits

A pod, from its deployment until it is ready, costs ${cost.cpuMsPerPod.toFixed(1)} ms of CPU and ${(cost.bytesPerPod / 1e3).toFixed(0)} KB of memory in all processes together.
${isDefault ? '' : projected}
`;
}

const recoverySection = (kills) => `
## Recovery

Each process is killed, and a deployment gets a pod more. The time ends when that pod is ready.

| killed | seconds |
| ------ | ------ |
${kills.map(({ name, seconds }) => `| ${name} | ${seconds.toFixed(1)} |`).join('\n')}
`;
