/**
 * Probes running containers, each probe with its own period, and stores the results. Results belong
 * to one run of a container; a restart resets them. Liveness and readiness probes wait for the
 * startup probe. The pod worker acts on the results.
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
import { ProbeCounts } from './probe-counts.js';

export interface ProbeTarget {
  readonly pod: PodIdentity;
  readonly podIp: string;
  readonly containerId: ContainerId;
  readonly container: Container;
  readonly startedAtMs: number;
}

export interface ProberDependencies {
  readonly clock: Clock;
  readonly logger: Logger;
  /** Uniform in [0, 1). */
  readonly random: () => number;
  run(target: ProbeTarget, probe: Probe, timeoutMs: number): Promise<HandlerResult>;
  /** Called for each outcome that is not a success. */
  onFailure(target: ProbeTarget, kind: ProbeKind, output: string): void;
  /** Called when the result of a probe has changed. */
  onChanged(target: ProbeTarget, kind: ProbeKind): void;
}

interface ProbeLoop {
  readonly kind: ProbeKind;
  readonly probe: Probe;
  readonly counter: ProbeCounter;
  timer: Timer | undefined;
}

interface ProbedContainer {
  readonly target: ProbeTarget;
  readonly loops: readonly ProbeLoop[];
}

export class Prober {
  readonly counts = new ProbeCounts();
  private readonly probed = new Map<ContainerId, ProbedContainer>();

  constructor(private readonly dependencies: ProberDependencies) {}

  /** Probes the containers `running` of a pod and stops probing the others in `all`. */
  track(running: readonly ProbeTarget[], all: readonly ContainerId[]): void {
    const wanted = new Set(running.map(({ containerId }) => containerId));
    for (const id of all) if (!wanted.has(id)) this.forget(id);
    for (const target of running) {
      if (this.probed.has(target.containerId)) continue;
      const probed: ProbedContainer = { target, loops: loopsOf(target.container) };
      this.probed.set(target.containerId, probed);
      for (const loop of probed.loops) this.schedule(probed, loop, this.firstDelayMs(target, loop));
    }
  }

  /** Stops probing the container and drops its results. */
  forget(id: ContainerId): void {
    for (const loop of this.probed.get(id)?.loops ?? []) loop.timer?.cancel();
    this.probed.delete(id);
  }

  stop(): void {
    for (const id of [...this.probed.keys()]) this.forget(id);
  }

  /** Returns the result of a probe; undefined without such a probe or before its first result. */
  result(id: ContainerId, kind: ProbeKind): ProbeOutcome | undefined {
    return this.probed.get(id)?.loops.find((loop) => loop.kind === kind)?.counter.result;
  }

  private firstDelayMs(target: ProbeTarget, { probe }: ProbeLoop): number {
    const ageMs = this.dependencies.clock.nowMs() - target.startedAtMs;
    const initialMs = (probe.initialDelaySeconds ?? 0) * 1000 - ageMs;
    // Spreads the probes of containers that already run when the agent starts.
    return ageMs < 5_000 ? Math.max(0, initialMs) : this.dependencies.random() * periodMs(probe);
  }

  private schedule(probed: ProbedContainer, loop: ProbeLoop, delayMs: number): void {
    loop.timer = this.dependencies.clock.setTimer(delayMs, () => {
      this.probeOnce(probed, loop).catch((error: unknown) => {
        this.dependencies.logger.error({ err: error }, 'probe failed unexpectedly');
        this.scheduleNext(probed, loop);
      });
    });
  }

  private scheduleNext(probed: ProbedContainer, loop: ProbeLoop): void {
    if (this.probed.get(probed.target.containerId) !== probed) return;
    this.schedule(probed, loop, periodMs(loop.probe));
  }

  private async probeOnce(probed: ProbedContainer, loop: ProbeLoop): Promise<void> {
    const { target } = probed;
    const { dependencies } = this;
    const startup = probed.loops.find(({ kind }) => kind === 'startup');
    const isStarted = !startup || startup.counter.result === 'success';
    const isDue = loop.kind === 'startup' ? !isStarted : isStarted;
    if (isDue) {
      const timeoutMs = (loop.probe.timeoutSeconds || 1) * 1000;
      const { succeeded, output } = await dependencies.run(target, loop.probe, timeoutMs);
      if (this.probed.get(target.containerId) !== probed) return;
      if (!succeeded) dependencies.onFailure(target, loop.kind, output);
      const outcome = succeeded ? 'success' : 'failure';
      this.counts.add(target.pod, target.container.name, loop.kind, outcome);
      if (loop.counter.count(outcome)) {
        dependencies.onChanged(target, loop.kind);
      }
      if (loop.kind === 'startup' && loop.counter.result === 'success') {
        this.scheduleOtherProbes(probed);
        return;
      }
    }
    this.scheduleNext(probed, loop);
  }

  /** Starts the liveness and readiness probes immediately after the startup probe has succeeded. */
  private scheduleOtherProbes(probed: ProbedContainer): void {
    for (const loop of probed.loops) {
      if (loop.kind === 'startup') continue;
      loop.timer?.cancel();
      this.schedule(probed, loop, 0);
    }
  }
}

function loopsOf(container: Container): ProbeLoop[] {
  const probes = {
    startup: container.startupProbe,
    liveness: container.livenessProbe,
    readiness: container.readinessProbe,
  };
  return probeKinds.flatMap((kind): ProbeLoop[] => {
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
