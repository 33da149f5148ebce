/** Links that carry nothing, stand still, or lead elsewhere. */
import type { FaultInjector } from './fault-injector.js';

export const networkFaults = {
  isolateBoth: (all: FaultInjector) => isolate(all, 'both'),
  isolateIn: (all: FaultInjector) => isolate(all, 'in'),
  isolateOut: (all: FaultInjector) => isolate(all, 'out'),
  halves: (all: FaultInjector) => partition(all, 'halves'),
  ring: (all: FaultInjector) => partition(all, 'ring'),
  bridge: (all: FaultInjector) => partition(all, 'bridge'),
  clog,
  misroute,
  oversize,
  stranger,
};

function isolate(all: FaultInjector, direction: 'both' | 'in' | 'out'): boolean {
  const node = all.running();
  if (!node || all.world.nodes.length < 3) return false;
  all.isolate(node, direction);
  all.healAfter(all.lasts(100, 30_000));
  return true;
}

function partition(all: FaultInjector, kind: 'halves' | 'ring' | 'bridge'): boolean {
  const urls = all.urls();
  if (urls.length < 3) return false;
  const { network } = all.world;
  const one = all.running()?.identity.peerUrl ?? all.random.pick(urls);
  const others = urls.filter((url) => url !== one).sort(() => all.random.next() - 0.5);
  const half = others.length >>> 1;
  if (kind === 'halves') network.partition([[one, ...others.slice(0, half)], others.slice(half)]);
  else if (kind === 'ring') network.ring([one, ...others]);
  else network.bridge(others.slice(0, half), one, others.slice(half));
  all.healAfter(all.lasts(100, 30_000));
  return true;
}

function clog(all: FaultInjector): boolean {
  const urls = all.urls();
  if (urls.length < 2) return false;
  const link = all.world.network.link(all.random.pick(urls), all.random.pick(urls));
  link.set({ clogged: true });
  all.world.loop.after(all.lasts(50, 10_000), () => link.set({ clogged: false }));
  return true;
}

/** Messages come to machines that they are not for. */
function misroute(all: FaultInjector): boolean {
  const { post, nodes } = all.world;
  if (nodes.length < 2) return false;
  post.misroutedRate = all.random.between(0.01, 0.2);
  all.after(all.lasts(500, 10_000), () => {
    post.misroutedRate = 0;
  });
  return true;
}

/** Somebody of a later term who is no member answers: it must depose nobody. */
function stranger(all: FaultInjector): boolean {
  const to = all.running();
  return to !== undefined && all.world.post.answerAsStranger(to);
}

/** A member of a release with larger limits forwards what is too much here. */
function oversize(all: FaultInjector): boolean {
  const leader = all.leader();
  const from = all.follower();
  return leader !== undefined && from !== undefined && all.world.post.forwardOversize(from, leader);
}
