/** Processes and machines that end, stand still or are slow, and their clocks. */
import type { FaultContext } from './fault-context.js';

export const processFaults = {
  crash: (context: FaultContext) => crash(context, false),
  machineCrash: (context: FaultContext) => crash(context, true),
  crashLoop,
  crashAll,
  pause,
  clockJump,
  slowState,
};

function crash(context: FaultContext, machine: boolean): boolean {
  const node = context.running();
  if (node) context.crash(node, machine);
  return node !== undefined;
}

function crashLoop(context: FaultContext): boolean {
  const node = context.running();
  if (!node) return false;
  const again = (left: number) => {
    if (node.isRunning) {
      node.crash({ machine: context.random.chance(0.5) });
      context.restartLater(node, context.random.magnitude(1, 500));
    }
    if (left > 0) context.after(context.random.magnitude(5, 1_000), () => again(left - 1));
  };
  again(context.random.integer(6));
  return true;
}

function crashAll(context: FaultContext): boolean {
  const machine = context.random.chance(0.5);
  const running = context.world.nodes.filter(({ isRunning }) => isRunning);
  for (const node of running) context.crash(node, machine);
  return running.length > 0;
}

function pause(context: FaultContext): boolean {
  const node = context.running();
  node?.pause(context.lasts(20, 30_000));
  return node !== undefined;
}

function clockJump(context: FaultContext): boolean {
  const node = context.running();
  node?.clock.jumpWall(context.random.between(-3_600_000, 3_600_000));
  return node !== undefined;
}

/** A state that takes its time to apply: the log has to wait for it. */
function slowState(context: FaultContext): boolean {
  const node = context.running();
  if (!node) return false;
  node.applyMs = context.random.magnitude(5, 1_000);
  context.after(context.lasts(500, 10_000), () => {
    node.applyMs = 0;
  });
  return true;
}
