/** Disks that are slow, fail, or return other data than was written. */
import type { FaultContext } from './fault-context.js';
import type { SimNode } from './sim-node.js';

export const diskFaults = {
  slowDisk,
  slowRead,
  syncError: (context: FaultContext) => briefly(context, 'syncErrorRate'),
  readError: (context: FaultContext) => briefly(context, 'readErrorRate'),
  fullDisk,
  damageState,
  damageLog: (context: FaultContext) => destroy(context, 'damage'),
  staleLog: (context: FaultContext) => destroy(context, 'stale'),
  wipe: (context: FaultContext) => destroy(context, 'wipe'),
};

/** `e`, then the index in eight bytes: an entry of a log in its database. */
const entryPrefix = 0x65;

function slowDisk(context: FaultContext): boolean {
  const node = context.running();
  if (!node) return false;
  const { faults } = node.disk;
  faults.slowSyncRate = context.random.pick([0.1, 0.5, 1]);
  faults.slowSyncMs = [10, context.random.magnitude(20, 5_000)];
  faults.writeMs = [0.1, context.random.magnitude(1, 500)];
  context.after(context.lasts(500, 20_000), () => {
    faults.slowSyncRate = 0;
    faults.writeMs = context.world.tuning.writeMs;
  });
  return true;
}

function slowRead(context: FaultContext): boolean {
  const node = context.running();
  if (!node) return false;
  const { faults } = node.disk;
  faults.readMs = [0.1, context.random.magnitude(1, 2_000)];
  context.after(context.lasts(500, 20_000), () => {
    faults.readMs = [0, 0];
  });
  return true;
}

function briefly(context: FaultContext, fault: 'syncErrorRate' | 'readErrorRate'): boolean {
  const node = context.running();
  if (!node) return false;
  node.disk.faults[fault] = context.random.between(0.05, 0.5);
  context.after(context.random.magnitude(20, 3_000), () => {
    node.disk.faults[fault] = 0;
  });
  return true;
}

function fullDisk(context: FaultContext): boolean {
  const node = context.running();
  if (!node) return false;
  node.disk.faults.capacityBytes = node.disk.usedBytes() + context.random.integer(20_000);
  context.after(context.random.magnitude(200, 10_000), () => {
    node.disk.faults.capacityBytes = Number.POSITIVE_INFINITY;
  });
  return true;
}

function damageState(context: FaultContext): boolean {
  const node = context.running();
  if (!node || !context.mayHarm(node)) return false;
  harmState(context, node);
  context.restartLater(node, context.random.magnitude(5, 3_000));
  return true;
}

/** Its process ends, and its applied state is damaged. Its log is intact. */
export function harmState(context: FaultContext, node: SimNode): void {
  context.damagedState = node;
  node.crash({ machine: true });
  const directory = `${node.dataDirectory}/state`;
  const at = context.random.pick(['first', 'middle', 'last', 'any'] as const);
  if (context.random.chance(0.7)) node.disk.flipBit(directory, { at });
  else node.disk.loseRecord(directory, { at });
}

/**
 * The machine's log is not to be trusted any more: it must be refused, and the machine replaced.
 */
function destroy(context: FaultContext, how: 'damage' | 'stale' | 'wipe'): boolean {
  const node = context.running();
  if (!node || !context.mayHarm(node)) return false;
  // With an empty directory it would found a new cluster: it has no member to query.
  const { initialState, initialMembers } = node.identity;
  if (how === 'wipe' && initialState === 'new' && initialMembers.length === 1) return false;
  context.operator.lost.add(node);
  const { disk, dataDirectory } = node;
  // The mark has a head with stale data: two faults together would leave no trace.
  if (how === 'stale') disk.faults.markLossRate = 0;
  node.crash({ machine: true });
  let damaged: Buffer | undefined;
  if (how === 'wipe') for (const path of disk.directories()) disk.wipe(path);
  else {
    const at = context.random.pick(['first', 'middle', 'last', 'any'] as const);
    if (how === 'damage') damaged = disk.flipBit(`${dataDirectory}/log`, { at });
    else disk.makeStale(`${dataDirectory}/log`, { at });
  }
  // It may try: nothing that it says then may count.
  context.world.loop.after(context.random.magnitude(5, 3_000), () => {
    if (!node.isRunning && !context.operator.retired.has(node))
      void startDamaged(context, node, damaged);
  });
  context.world.loop.after(context.random.magnitude(2_000, 8_000), () => replaceLost(context));
  return true;
}

/** A log of which an entry was damaged is never opened. */
async function startDamaged(
  context: FaultContext,
  node: SimNode,
  key: Buffer | undefined,
): Promise<void> {
  await node.start();
  const { store, log } = node;
  if (!key || !store || !log || key[0] !== entryPrefix) return;
  const index = key.readUIntBE(3, 6);
  const { firstIndex, lastIndex } = log.status();
  if (index < firstIndex || index > lastIndex) return;
  context.world.failures.push(`${node.name} takes part although entry ${index} was damaged`);
}

function replaceLost(context: FaultContext): void {
  const { operator, world } = context;
  for (const node of operator.lost) {
    if (operator.isBusy) break;
    void operator.replace(node);
  }
  if (operator.lost.size > 0 && !operator.stopped) {
    world.loop.after(2_000, () => replaceLost(context));
  }
}
