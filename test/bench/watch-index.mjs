/**
 * The cost of one event of a pod while node agents watch their own pods by `spec.nodeName=`: with
 * the index of the store, and without it, where each watch examines each event. In this process;
 * nothing is sent. The two alternate.
 */
import { definitions } from '../../dist/libs/api/src/index.js';
import { parseSelection, ResourceTable } from '../../dist/libs/registry/src/index.js';
import { Watch, WatchHub } from '../../dist/libs/store/src/core/watch-hub.js';
import { median, printRow } from './row.mjs';

const isShort = process.argv.includes('--short');
const agentCounts = isShort ? [100] : [1, 1_000, 5_000];
const eventCount = isShort ? 20 : 500;
const roundCount = isShort ? 1 : 7;
const pods = new ResourceTable(definitions).find('', 'v1', 'pods');

for (const agentCount of agentCounts) {
  const without = [];
  const indexed = [];
  for (let round = 0; round < roundCount; round += 1) {
    without.push(microsecondsPerEvent(agentCount, false));
    indexed.push(microsecondsPerEvent(agentCount, true));
  }
  const detail = `without the index ${spread(without)}; range with it ${spread(indexed)}`;
  printRow(`event, ${agentCount} agents`, `${median(indexed).toFixed(1)} us`, detail);
}

function microsecondsPerEvent(agentCount, usesIndex) {
  const hub = new WatchHub();
  let deliveredCount = 0;
  for (let agent = 0; agent < agentCount; agent += 1) {
    const selection = parseSelection(pods, '', `spec.nodeName=node-${agent}`);
    const selects = usesIndex ? selection.watchIndex() : undefined;
    const onEvents = (events) => {
      for (const { entry, previous } of events) {
        if (selection.matches(entry) || selection.matches(previous)) deliveredCount += 1;
      }
    };
    const options = { prefix: pods.resource.prefix(''), afterRevision: 0, onEvents, onEnd };
    hub.join(new Watch({ ...options, ...(selects && { selects }) }, () => undefined));
  }
  const events = Array.from({ length: eventCount }, (_, at) => podEvent(at + 1, at % agentCount));
  const startedMs = performance.now();
  for (const event of events) {
    hub.collect([event]);
    hub.flush(event.revision, (_watch, error) => onEnd(error));
  }
  const elapsedMs = performance.now() - startedMs;
  if (deliveredCount !== eventCount)
    throw new Error(`delivered ${deliveredCount} of ${eventCount}`);
  return (elapsedMs * 1_000) / eventCount;
}

function podEvent(revision, node) {
  const key = pods.resource.key('default', `pod-${revision}`);
  const entryOf = (phase) => {
    const metadata = { name: `pod-${revision}`, namespace: 'default' };
    const pod = { metadata, spec: { nodeName: `node-${node}` }, status: { phase } };
    return { key, revision, bytes: Buffer.from(JSON.stringify(pod)), derived: undefined };
  };
  const [previous, entry] = [entryOf('Pending'), entryOf('Running')];
  return { revision, kind: 'put', key, previous, entry, derived: undefined };
}

function onEnd(error) {
  throw error;
}

function spread(values) {
  return `${median(values).toFixed(1)} (${Math.min(...values).toFixed(1)} to ${Math.max(...values).toFixed(1)}) us`;
}
