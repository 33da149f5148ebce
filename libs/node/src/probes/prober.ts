/**
 * Probes running containers, each probe on its own beat, and remembers what holds of each container.
 * Results belong to one run of a container: a restarted one starts anew. Liveness and readiness wait for
 * the startup probe. What follows from a result is the pod worker's.
 */
import type { Clock, Logger, Timer } from '@orch/component';
import type { Container, Probe } from '@orch/types/core/v1';
import type { ContainerId, PodIdentity } from '../runtimes/container-runtime.js';
import type { HandlerResult } from './handlers.js';
import {
  initialResult,
  ProbeCounter,
  type ProbeKind,
  type ProbeOutcome,
  probeKinds,
} from './probe-counter.js';

export interface ProbeTarget {
  readonly pod: PodIdentity;
  readonly podIp: string;
  readonly containerId: ContainerId;
  readonly container: Container;
  readonly startedAtMs: number;
}

export interface ProberSettings {
  readonly clock: Clock;
  readonly logger: Logger;
  /** Uniform in [0, 1). */
  readonly random: () => number;
  run(target: ProbeTarget, probe: Probe, timeoutMs: number): Promise<HandlerResult>;
  /** An outcome that is not a success. */
  onFailure(target: ProbeTarget, kind: ProbeKind, output: string): void;
  /** What holds of a container has changed. */
  onChanged(target: ProbeTarget, kind: ProbeKind): void;
}

interface Loop {
  readonly kind: ProbeKind;
  readonly probe: Probe;
  readonly counter: ProbeCounter;
  timer: Timer | undefined;
}

interface Probed {
  readonly target: ProbeTarget;
  readonly loops: readonly Loop[];
}

export class Prober {
  private readonly probed = new Map<ContainerId, Probed>();

  constructor(private readonly settings: ProberSettings) {}

  /** Probes exactly these containers of the pod from now on; `known` are all that were before. */
  track(running: readonly ProbeTarget[], known: readonly ContainerId[]): void {
    const wanted = new Set(running.map(({ containerId }) => containerId));
    for (const id of known) if (!wanted.has(id)) this.forget(id);
    for (const target of running) {
      if (this.probed.has(target.containerId)) continue;
      const probed: Probed = { target, loops: loopsOf(target.container) };
      this.probed.set(target.containerId, probed);
      for (const loop of probed.loops) this.schedule(probed, loop, this.firstDelayMs(target, loop));
    }
  }

  forget(id: ContainerId): void {
    for (const loop of this.probed.get(id)?.loops ?? []) loop.timer?.cancel();
    this.probed.delete(id);
  }

  stop(): void {
    for (const id of [...this.probed.keys()]) this.forget(id);
  }

  /** What holds; undefined where there is no such probe or nothing is known yet. */
  result(id: ContainerId, kind: ProbeKind): ProbeOutcome | undefined {
    return this.probed.get(id)?.loops.find((loop) => loop.kind === kind)?.counter.result;
  }

  private firstDelayMs(target: ProbeTarget, { probe }: Loop): number {
    const ageMs = this.settings.clock.nowMs() - target.startedAtMs;
    const initialMs = (probe.initialDelaySeconds ?? 0) * 1000 - ageMs;
    // Containers found running by a restarted agent are not all probed in the same moment.
    return ageMs < 5_000 ? Math.max(0, initialMs) : this.settings.random() * periodMs(probe);
  }

  private schedule(probed: Probed, loop: Loop, delayMs: number): void {
    loop.timer = this.settings.clock.setTimer(delayMs, () => {
      this.probeOnce(probed, loop).catch((error: unknown) => {
        this.settings.logger.error({ err: error }, 'probe failed unexpectedly');
        this.scheduleNext(probed, loop);
      });
    });
  }

  private scheduleNext(probed: Probed, loop: Loop): void {
    if (this.probed.get(probed.target.containerId) !== probed) return;
    this.schedule(probed, loop, periodMs(loop.probe));
  }

  private async probeOnce(probed: Probed, loop: Loop): Promise<void> {
    const { target } = probed;
    const { settings } = this;
    const startup = probed.loops.find(({ kind }) => kind === 'startup');
    const isStarted = !startup || startup.counter.result === 'success';
    const isDue = loop.kind === 'startup' ? !isStarted : isStarted;
    if (isDue) {
      const timeoutMs = (loop.probe.timeoutSeconds || 1) * 1000;
      const { succeeded, output } = await settings.run(target, loop.probe, timeoutMs);
      if (this.probed.get(target.containerId) !== probed) return;
      if (!succeeded) settings.onFailure(target, loop.kind, output);
      if (loop.counter.count(succeeded ? 'success' : 'failure')) {
        settings.onChanged(target, loop.kind);
      }
      if (loop.kind === 'startup' && loop.counter.result === 'success') {
        this.hastenOthers(probed);
        return;
      }
    }
    this.scheduleNext(probed, loop);
  }

  /** Once it has started, the other probes begin at once. */
  private hastenOthers(probed: Probed): void {
    for (const loop of probed.loops) {
      if (loop.kind === 'startup') continue;
      loop.timer?.cancel();
      this.schedule(probed, loop, 0);
    }
  }
}

function loopsOf(container: Container): Loop[] {
  const probes = {
    startup: container.startupProbe,
    liveness: container.livenessProbe,
    readiness: container.readinessProbe,
  };
  return probeKinds.flatMap((kind): Loop[] => {
    const probe = probes[kind];
    if (!probe) return [];
    const { successThreshold = 1, failureThreshold = 3 } = probe;
    const counter = new ProbeCounter({ successThreshold, failureThreshold }, initialResult(kind));
    return [{ kind, probe, counter, timer: undefined }];
  });
}

function periodMs(probe: Probe): number {
  return (probe.periodSeconds || 10) * 1000;
}
