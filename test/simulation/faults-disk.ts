/** Disks that are slow, refuse, or hold something else than what was written. */
import type { FaultInjector } from './fault-injector.js';
import type { SimNode } from './sim-node.js';

export const diskFaults = {
  slowDisk,
  slowRead,
  syncError: (all: FaultInjector) => briefly(all, 'syncErrorRate'),
  readError: (all: FaultInjector) => briefly(all, 'readErrorRate'),
  fullDisk,
  damageState,
  damageLog: (all: FaultInjector) => destroy(all, 'damage'),
  staleLog: (all: FaultInjector) => destroy(all, 'stale'),
  wipe: (all: FaultInjector) => destroy(all, 'wipe'),
};

/** `e`, then the index in eight bytes: an entry of a log in its database. */
const entryPrefix = 0x65;

function slowDisk(all: FaultInjector): boolean {
  const node = all.running();
  if (!node) return false;
  const { faults } = node.disk;
  faults.slowSyncRate = all.random.pick([0.1, 0.5, 1]);
  faults.slowSyncMs = [10, all.random.magnitude(20, 5_000)];
  faults.writeMs = [0.1, all.random.magnitude(1, 500)];
  all.after(all.lasts(500, 20_000), () => {
    faults.slowSyncRate = 0;
    faults.writeMs = all.world.tuning.writeMs;
  });
  return true;
}

function slowRead(all: FaultInjector): boolean {
  const node = all.running();
  if (!node) return false;
  const { faults } = node.disk;
  faults.readMs = [0.1, all.random.magnitude(1, 2_000)];
  all.after(all.lasts(500, 20_000), () => {
    faults.readMs = [0, 0];
  });
  return true;
}

function briefly(all: FaultInjector, fault: 'syncErrorRate' | 'readErrorRate'): boolean {
  const node = all.running();
  if (!node) return false;
  node.disk.faults[fault] = all.random.between(0.05, 0.5);
  all.after(all.random.magnitude(20, 3_000), () => {
    node.disk.faults[fault] = 0;
  });
  return true;
}

function fullDisk(all: FaultInjector): boolean {
  const node = all.running();
  if (!node) return false;
  node.disk.faults.capacityBytes = node.disk.usedBytes() + all.random.integer(20_000);
  all.after(all.random.magnitude(200, 10_000), () => {
    node.disk.faults.capacityBytes = Number.POSITIVE_INFINITY;
  });
  return true;
}

function damageState(all: FaultInjector): boolean {
  const node = all.running();
  if (!node || !all.mayHarm(node)) return false;
  harmState(all, node);
  all.restartLater(node, all.random.magnitude(5, 3_000));
  return true;
}

/** Its process ends, and what it had applied is damaged. Its log is as it was. */
export function harmState(all: FaultInjector, node: SimNode): void {
  all.damagedState = node;
  node.crash({ machine: true });
  const directory = `${node.dataDirectory}/state`;
  const at = all.random.pick(['first', 'middle', 'last', 'any'] as const);
  if (all.random.chance(0.7)) node.disk.flipBit(directory, { at });
  else node.disk.loseRecord(directory, { at });
}

/** The machine's log is not to be trusted any more: it must be refused, and the machine replaced. */
function destroy(all: FaultInjector, how: 'damage' | 'stale' | 'wipe'): boolean {
  const node = all.running();
  if (!node || !all.mayHarm(node)) return false;
  // With an empty directory it would found the cluster anew: it knows nobody to ask.
  const { initialState, initialMembers } = node.identity;
  if (how === 'wipe' && initialState === 'new' && initialMembers.length === 1) return false;
  all.operator.lost.add(node);
  const { disk, dataDirectory } = node;
  // The mark tells of a head that reads as it was: two faults at once would leave no trace.
  if (how === 'stale') disk.faults.markLossRate = 0;
  node.crash({ machine: true });
  let damaged: Buffer | undefined;
  if (how === 'wipe') for (const path of disk.directories()) disk.wipe(path);
  else {
    const at = all.random.pick(['first', 'middle', 'last', 'any'] as const);
    if (how === 'damage') damaged = disk.flipBit(`${dataDirectory}/log`, { at });
    else disk.makeStale(`${dataDirectory}/log`, { at });
  }
  // It may try: nothing that it says then may count.
  all.world.loop.after(all.random.magnitude(5, 3_000), () => {
    if (!node.isRunning && !all.operator.retired.has(node)) void startDamaged(all, node, damaged);
  });
  all.world.loop.after(all.random.magnitude(2_000, 8_000), () => replaceLost(all));
  return true;
}

/** A log of which an entry was damaged is never opened. */
async function startDamaged(
  all: FaultInjector,
  node: SimNode,
  key: Buffer | undefined,
): Promise<void> {
  await node.start();
  const { store, log } = node;
  if (!key || !store || !log || key[0] !== entryPrefix) return;
  const index = key.readUIntBE(3, 6);
  const { firstIndex, lastIndex } = log.status();
  if (index < firstIndex || index > lastIndex) return;
  all.world.failures.push(`${node.name} takes part although entry ${index} was damaged`);
}

function replaceLost(all: FaultInjector): void {
  const { operator, world } = all;
  for (const node of operator.lost) {
    if (operator.isBusy) break;
    void operator.replace(node);
  }
  if (operator.lost.size > 0 && !operator.stopped) {
    world.loop.after(2_000, () => replaceLost(all));
  }
}
