/** Links that carry nothing, stand still, or lead elsewhere. */
import type { FaultContext } from './fault-context.js';

export const networkFaults = {
  isolateBoth: (context: FaultContext) => isolate(context, 'both'),
  isolateIn: (context: FaultContext) => isolate(context, 'in'),
  isolateOut: (context: FaultContext) => isolate(context, 'out'),
  halves: (context: FaultContext) => partition(context, 'halves'),
  ring: (context: FaultContext) => partition(context, 'ring'),
  bridge: (context: FaultContext) => partition(context, 'bridge'),
  clog,
  misroute,
  oversize,
  stranger,
};

function isolate(context: FaultContext, direction: 'both' | 'in' | 'out'): boolean {
  const node = context.running();
  if (!node || context.world.nodes.length < 3) return false;
  context.isolate(node, direction);
  context.healAfter(context.lasts(100, 30_000));
  return true;
}

function partition(context: FaultContext, kind: 'halves' | 'ring' | 'bridge'): boolean {
  const urls = context.urls();
  if (urls.length < 3) return false;
  const { network } = context.world;
  const one = context.running()?.identity.peerUrl ?? context.random.pick(urls);
  const others = urls.filter((url) => url !== one).sort(() => context.random.next() - 0.5);
  const half = others.length >>> 1;
  if (kind === 'halves') network.partition([[one, ...others.slice(0, half)], others.slice(half)]);
  else if (kind === 'ring') network.ring([one, ...others]);
  else network.bridge(others.slice(0, half), one, others.slice(half));
  context.healAfter(context.lasts(100, 30_000));
  return true;
}

function clog(context: FaultContext): boolean {
  const urls = context.urls();
  if (urls.length < 2) return false;
  const link = context.world.network.link(context.random.pick(urls), context.random.pick(urls));
  link.set({ clogged: true });
  context.world.loop.after(context.lasts(50, 10_000), () => link.set({ clogged: false }));
  return true;
}

/** Messages come to machines that they are not for. */
function misroute(context: FaultContext): boolean {
  const { post, nodes } = context.world;
  if (nodes.length < 2) return false;
  post.misroutedRate = context.random.between(0.01, 0.2);
  context.after(context.lasts(500, 10_000), () => {
    post.misroutedRate = 0;
  });
  return true;
}

/** A non-member of a later term responds: it must not depose the leader. */
function stranger(context: FaultContext): boolean {
  const to = context.running();
  return to !== undefined && context.world.post.answerAsStranger(to);
}

/** A member of a release with larger limits forwards a command that is too large here. */
function oversize(context: FaultContext): boolean {
  const leader = context.leader();
  const from = context.follower();
  return (
    leader !== undefined && from !== undefined && context.world.post.forwardOversize(from, leader)
  );
}
