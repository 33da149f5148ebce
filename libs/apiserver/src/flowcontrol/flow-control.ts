/**
 * Priority and fairness: each request belongs to a flow schema and through it to a priority level,
 * which has a share of the server's concurrency. A request takes a seat of its level or queues for
 * one, is dispatched fairly, and is rejected when the queues are full or its wait times out.
 * Requests of the exempt level are always admitted. The queue set decides which request is next;
 * time, promises, response headers and metrics are handled here.
 */
import { type Clock, dialect } from '@orch/component';
import type {
  GateRequest,
  RequestGate,
  RequestKind,
  RequestLimits,
  Seat,
} from '../http/request-gate.js';
import { isClosed } from '../http/respond.js';
import { seatWaitPart } from '../limits.js';
import type { FlowControlMetrics, Phase } from '../observability/flow-control-metrics.js';
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

export interface FlowControlDependencies {
  /** Their sum is shared by the levels. */
  readonly limits: RequestLimits;
  /** A request queues for a fraction of it. */
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
  private readonly clock: Clock;
  private objects: FlowControlObjects = { schemas: [], levels: [] };
  private levelsByName: ReadonlyMap<string, PriorityLevel<FlowRequest>> = new Map();
  private classifier!: Classifier<ActiveSchema<FlowRequest>>;

  /** Uses the mandatory schemas and levels until it is configured. */
  constructor(private readonly dependencies: FlowControlDependencies) {
    this.clock = dependencies.clock;
    this.configure(this.objects);
  }

  executingCount(kind: RequestKind): number {
    return this.counts[kind].executing;
  }

  waitingCount(kind: RequestKind): number {
    return this.counts[kind].waiting;
  }

  /** Active levels, including draining ones. */
  get levels(): readonly PriorityLevel<FlowRequest>[] {
    return [...this.levelsByName.values()];
  }

  /** Replaces schemas and levels. Queued requests stay in their queues. */
  configure(objects: FlowControlObjects): void {
    const { limits, metrics } = this.dependencies;
    const nowMs = this.clock.monotonicMs();
    const plans = planLevels(objects, this.levels, limits.readOnly + limits.mutating);
    this.objects = objects;
    const levels = new Map<string, PriorityLevel<FlowRequest>>();
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

  enter(gateRequest: GateRequest): Seat | undefined | Promise<Seat | undefined> {
    const nowMs = this.clock.monotonicMs();
    const schema = this.classifier.schemaOf(gateRequest.user, gateRequest.info);
    const request = new FlowRequest(this, gateRequest, schema, nowMs);
    const { level, series } = schema;
    if (!level.queues) return this.execute(request, nowMs);
    const flow = schema.flowOf(gateRequest);
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
    const nowMs = this.clock.monotonicMs();
    const { kind, schema, ticket } = request;
    const { level, series } = schema;
    series.executed((nowMs - request.startMs) / 1_000);
    this.count(kind, 'executing', -1, nowMs);
    if (!ticket || !level.queues) return;
    series.counts.executing -= 1;
    this.dispatch(level.queues.leave(ticket, nowMs), nowMs);
    level.sample(nowMs);
    this.dropWhenDone(level);
  }

  refreshMetrics(): void {
    this.dependencies.metrics.refresh(this.clock.monotonicMs());
  }

  private levelOf(plan: LevelPlan, nowMs: number): PriorityLevel<FlowRequest> {
    const { metrics, requestTimeoutMs } = this.dependencies;
    const waitMs = requestTimeoutMs * seatWaitPart;
    const name = plan.object.metadata?.name ?? '';
    const level =
      this.levelsByName.get(name) ??
      new PriorityLevel(plan, waitMs, metrics.ofLevel(name, nowMs), nowMs);
    this.dispatch(level.configure(plan, nowMs), nowMs);
    level.sample(nowMs);
    return level;
  }

  private execute(request: FlowRequest, nowMs: number): Seat {
    const { kind, schema, arrivalMs } = request;
    const { headers } = request.request;
    request.startMs = nowMs;
    if (schema.uid !== '') headers[this.schemaHeader] = schema.uid;
    if (schema.level.uid !== '') headers[this.levelHeader] = schema.level.uid;
    schema.series.dispatched();
    this.dependencies.metrics.filter.observe((nowMs - arrivalMs) / 1_000);
    this.count(kind, 'executing', 1, nowMs);
    return request;
  }

  private wait(request: FlowRequest, nowMs: number): Promise<Seat | undefined> {
    const { kind, schema } = request;
    const { response } = request.request;
    const { level } = schema;
    schema.series.counts.waiting += 1;
    this.count(kind, 'waiting', 1, nowMs);
    level.sample(nowMs);
    if (!level.expiry) this.watchExpiry(level, nowMs);
    return new Promise((resolve) => {
      const disconnected = () => this.cancel(request);
      request.decide = (isExecuted) => {
        response.off('close', disconnected);
        resolve(isExecuted ? request : undefined);
      };
      response.once('close', disconnected);
      if (isClosed(response)) disconnected();
    });
  }

  /** Starts the requests that have received a seat. */
  private dispatch(tickets: readonly Ticket<FlowRequest>[], nowMs: number): void {
    for (const { request } of tickets) {
      this.decided(request, true, nowMs);
      request.schema.series.counts.executing += 1;
      this.execute(request, nowMs);
      request.decide!(true);
    }
  }

  /** Cancels the wait of a request whose client has disconnected. */
  private cancel(request: FlowRequest): void {
    const nowMs = this.clock.monotonicMs();
    const { ticket, schema } = request;
    schema.level.queues!.cancel(ticket!, nowMs);
    this.reject(request, nowMs);
    schema.level.sample(nowMs);
    this.dropWhenDone(schema.level);
  }

  private watchExpiry(level: PriorityLevel<FlowRequest>, nowMs: number): void {
    const nextMs = level.queues!.nextExpiryMs;
    level.expiry =
      nextMs === undefined
        ? undefined
        : this.clock.setTimer(Math.max(1, Math.ceil(nextMs - nowMs)), () => this.expire(level));
  }

  private expire(level: PriorityLevel<FlowRequest>): void {
    const nowMs = this.clock.monotonicMs();
    for (const { request } of level.queues!.expire(nowMs)) {
      request.schema.series.rejected('time-out');
      this.reject(request, nowMs);
    }
    level.sample(nowMs);
    this.watchExpiry(level, nowMs);
    this.dropWhenDone(level);
  }

  private reject(request: FlowRequest, nowMs: number): void {
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
    this.dependencies.metrics.ofKind(kind)[phase].set(counts[phase], nowMs);
  }

  /** Distributes the share of a removed level among the others. */
  private dropWhenDone(level: PriorityLevel<FlowRequest>): void {
    if (level.isQuiescing && level.isIdle) this.configure(this.objects);
  }
}
