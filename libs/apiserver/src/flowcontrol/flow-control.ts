/**
 * Priority and fairness: each request belongs to a flow schema and by it to a priority level, which has
 * a share of what the server does at a time. A request takes a seat of its level or waits for one, is
 * let in in fair turn, and is turned away when its level takes no more or its wait is over. Requests of
 * the exempt level are always let in. Whose turn it is decides the queue set; here are time, promises
 * and what is told to clients and metrics.
 */
import { type Clock, dialect } from '@orch/component';
import { seatWaitPart } from '../limits.js';
import type { FlowControlMetrics, Phase } from '../observability/flow-control-metrics.js';
import { isCutOff } from '../response/exchange.js';
import type {
  GateRequest,
  Place,
  RequestGate,
  RequestKind,
  RequestLimits,
} from '../server/request-gate.js';
import { ActiveSchema } from './active-schema.js';
import { Classifier } from './classifier.js';
import {
  catchAllOf,
  type FlowControlObjects,
  type LevelPlan,
  orderSchemas,
  planLevels,
} from './configuration.js';
import { FlowRequest, type FlowRequestOwner } from './flow-request.js';
import { PriorityLevel } from './priority-level.js';
import type { Ticket } from './queue-set.js';

export interface FlowControlSettings {
  /** Together they are what the levels share. */
  readonly limits: RequestLimits;
  /** A request waits for a seat during a part of it. */
  readonly requestTimeoutMs: number;
  readonly clock: Clock;
  readonly metrics: FlowControlMetrics;
}

type Counts = Record<Phase, number>;

export class FlowControl implements RequestGate, FlowRequestOwner {
  private readonly counts: Readonly<Record<RequestKind, Counts>> = {
    readOnly: { waiting: 0, executing: 0 },
    mutating: { waiting: 0, executing: 0 },
  };
  private readonly schemaHeader = dialect().header('pf-flowschema-uid');
  private readonly levelHeader = dialect().header('pf-prioritylevel-uid');
  private objects: FlowControlObjects = { schemas: [], levels: [] };
  private levelsByName: ReadonlyMap<string, PriorityLevel> = new Map();
  private classifier!: Classifier<ActiveSchema>;

  /** Until it is configured only the mandatory schemas and levels count. */
  constructor(private readonly settings: FlowControlSettings) {
    this.configure(this.objects);
  }

  executingCount(kind: RequestKind): number {
    return this.counts[kind].executing;
  }

  waitingCount(kind: RequestKind): number {
    return this.counts[kind].waiting;
  }

  /** Levels in force, and those that drain. */
  get levels(): readonly PriorityLevel[] {
    return [...this.levelsByName.values()];
  }

  /** What counts from now on. Requests that wait stay where they are. */
  configure(objects: FlowControlObjects): void {
    const { limits, metrics } = this.settings;
    const nowMs = this.nowMs();
    const plans = planLevels(objects, this.levels, limits.readOnly + limits.mutating);
    this.objects = objects;
    const levels = new Map<string, PriorityLevel>();
    for (const [name, plan] of plans) levels.set(name, this.levelOf(plan, nowMs));
    this.levelsByName = levels;
    const ordered = orderSchemas(objects, plans);
    const active = new Map(
      ordered.map((schema) => {
        const level = levels.get(schema.spec!.priorityLevelConfiguration.name)!;
        const series = metrics.ofFlow(level.name, schema.metadata!.name!);
        return [schema, new ActiveSchema(schema, level, series)];
      }),
    );
    this.classifier = new Classifier([...active.values()], active.get(catchAllOf(ordered))!);
    const seatCounts = [...plans].flatMap(([name, { seatCount }]) =>
      seatCount === undefined ? [] : [[name, seatCount] as const],
    );
    metrics.configured(new Map(seatCounts));
  }

  enter(asked: GateRequest): Place | undefined | Promise<Place | undefined> {
    const nowMs = asked.arrivalMs;
    const schema = this.classifier.schemaOf(asked.user, asked.info);
    const request = new FlowRequest(this, asked, schema);
    const { level, series } = schema;
    if (!level.queues) return this.execute(request, nowMs);
    const flow = schema.flowOf(asked);
    const outcome = level.queues.arrive(request, flow.hand, nowMs);
    series.isLimited = true;
    if (typeof outcome === 'string') {
      series.rejected(outcome);
      series.waited(false, 0);
      return undefined;
    }
    request.ticket = outcome;
    request.flow = flow;
    if (outcome.state === 'executing') {
      if (outcome.queue) series.queued(1);
      series.waited(true, 0);
      series.counts.executing += 1;
      level.sample(nowMs);
      return this.execute(request, nowMs);
    }
    series.queued(outcome.queue!.waiting.length);
    return this.wait(request, nowMs);
  }

  ended(request: FlowRequest): void {
    const nowMs = this.nowMs();
    const { kind, schema, ticket } = request;
    const { level, series } = schema;
    series.executed((nowMs - request.startMs) / 1_000);
    this.count(kind, 'executing', -1, nowMs);
    if (!ticket || !level.queues) return;
    series.counts.executing -= 1;
    this.goOn(level.queues.leave(ticket, nowMs), nowMs);
    level.sample(nowMs);
    this.dropWhenDone(level);
  }

  refreshMetrics(): void {
    this.settings.metrics.refresh(this.nowMs());
  }

  private nowMs(): number {
    return this.settings.clock.monotonicMs();
  }

  private levelOf(plan: LevelPlan, nowMs: number): PriorityLevel {
    const { metrics, requestTimeoutMs } = this.settings;
    const waitMs = requestTimeoutMs * seatWaitPart;
    const name = plan.object.metadata?.name ?? '';
    const level =
      this.levelsByName.get(name) ??
      new PriorityLevel(plan, waitMs, metrics.ofLevel(name, nowMs), nowMs);
    this.goOn(level.configure(plan, nowMs), nowMs);
    level.sample(nowMs);
    return level;
  }

  private execute(request: FlowRequest, nowMs: number): Place {
    const { kind, schema, asked, arrivalMs } = request;
    const { headers } = asked.exchange;
    request.startMs = nowMs;
    if (schema.uid !== '') headers[this.schemaHeader] = schema.uid;
    if (schema.level.uid !== '') headers[this.levelHeader] = schema.level.uid;
    schema.series.dispatched();
    this.settings.metrics.filter.observe((nowMs - arrivalMs) / 1_000);
    this.count(kind, 'executing', 1, nowMs);
    return request;
  }

  private wait(request: FlowRequest, nowMs: number): Promise<Place | undefined> {
    const { kind, schema, asked } = request;
    const { response } = asked.exchange;
    const { level } = schema;
    schema.series.counts.waiting += 1;
    this.count(kind, 'waiting', 1, nowMs);
    level.sample(nowMs);
    if (!level.expiry) this.watchExpiry(level, nowMs);
    return new Promise((resolve) => {
      const gone = () => this.giveUp(request);
      request.decide = (isExecuted) => {
        response.off('close', gone);
        resolve(isExecuted ? request : undefined);
      };
      response.once('close', gone);
      if (isCutOff(response)) gone();
    });
  }

  /** Tickets that have just got their seats. */
  private goOn(tickets: readonly Ticket<FlowRequest>[], nowMs: number): void {
    for (const { request } of tickets) {
      this.decided(request, true, nowMs);
      request.schema.series.counts.executing += 1;
      this.execute(request, nowMs);
      request.decide!(true);
    }
  }

  /** The client waits no longer. */
  private giveUp(request: FlowRequest): void {
    const nowMs = this.nowMs();
    const { ticket, schema } = request;
    schema.level.queues!.cancel(ticket!, nowMs);
    this.refuse(request, nowMs);
    schema.level.sample(nowMs);
    this.dropWhenDone(schema.level);
  }

  private watchExpiry(level: PriorityLevel, nowMs: number): void {
    const nextMs = level.queues!.nextExpiryMs;
    level.expiry =
      nextMs === undefined
        ? undefined
        : this.settings.clock.setTimer(Math.max(1, Math.ceil(nextMs - nowMs)), () =>
            this.expire(level),
          );
  }

  private expire(level: PriorityLevel): void {
    const nowMs = this.nowMs();
    for (const { request } of level.queues!.expire(nowMs)) {
      request.schema.series.rejected('time-out');
      this.refuse(request, nowMs);
    }
    level.sample(nowMs);
    this.watchExpiry(level, nowMs);
    this.dropWhenDone(level);
  }

  private refuse(request: FlowRequest, nowMs: number): void {
    this.decided(request, false, nowMs);
    request.decide!(false);
  }

  private decided({ kind, schema, arrivalMs }: FlowRequest, isExecuted: boolean, nowMs: number) {
    schema.series.counts.waiting -= 1;
    schema.series.waited(isExecuted, (nowMs - arrivalMs) / 1_000);
    this.count(kind, 'waiting', -1, nowMs);
  }

  private count(kind: RequestKind, phase: Phase, change: 1 | -1, nowMs: number): void {
    const counts = this.counts[kind];
    counts[phase] += change;
    this.settings.metrics.ofKind(kind)[phase].set(counts[phase], nowMs);
  }

  /** Gives the share of a level that is no more to the others. */
  private dropWhenDone(level: PriorityLevel): void {
    if (level.isQuiescing && level.isIdle) this.configure(this.objects);
  }
}
