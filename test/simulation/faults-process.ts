/** Processes and machines that end, stand still or are slow, and their clocks. */
import type { FaultInjector } from './fault-injector.js';

export const processFaults = {
  crash: (all: FaultInjector) => crash(all, false),
  machineCrash: (all: FaultInjector) => crash(all, true),
  crashLoop,
  crashAll,
  pause,
  clockJump,
  slowState,
};

function crash(all: FaultInjector, machine: boolean): boolean {
  const node = all.running();
  if (node) all.crash(node, machine);
  return node !== undefined;
}

function crashLoop(all: FaultInjector): boolean {
  const node = all.running();
  if (!node) return false;
  const again = (left: number) => {
    if (node.isRunning) {
      node.crash({ machine: all.random.chance(0.5) });
      all.restartLater(node, all.random.magnitude(1, 500));
    }
    if (left > 0) all.after(all.random.magnitude(5, 1_000), () => again(left - 1));
  };
  again(all.random.integer(6));
  return true;
}

function crashAll(all: FaultInjector): boolean {
  const machine = all.random.chance(0.5);
  const running = all.world.nodes.filter(({ isRunning }) => isRunning);
  for (const node of running) all.crash(node, machine);
  return running.length > 0;
}

function pause(all: FaultInjector): boolean {
  const node = all.running();
  node?.pause(all.lasts(20, 30_000));
  return node !== undefined;
}

function clockJump(all: FaultInjector): boolean {
  const node = all.running();
  node?.clock.jumpWall(all.random.between(-3_600_000, 3_600_000));
  return node !== undefined;
}

/** A state that takes its time to apply: the log has to wait for it. */
function slowState(all: FaultInjector): boolean {
  const node = all.running();
  if (!node) return false;
  node.applyMs = all.random.magnitude(5, 1_000);
  all.after(all.lasts(500, 10_000), () => {
    node.applyMs = 0;
  });
  return true;
}
