/**
 * Keeps one certificate of the node valid: requests the next one between 70% and 90% of its
 * lifetime, stores it and puts it into use. A failed request is retried with back-off while the old
 * certificate remains in use.
 */
import {
  Backoff,
  type Clock,
  errorMessage,
  type KeyPairPem,
  type Logger,
  type Metrics,
  type Timer,
} from '@orch/component';
import { renewalCheckMsMax, requestRetryMaxMs, requestRetryMinMs } from '../limits.js';
import { type CertificateStore, validityOf } from './certificate-store.js';
import { renewalMs } from './rotation-plan.js';

export interface CertificateManagerDependencies {
  readonly store: CertificateStore;
  /** The certificate in use; undefined if there is none yet. */
  readonly current: KeyPairPem | undefined;
  /** Resolves with the certificate (PEM) for the key. */
  readonly request: (keyPem: string, signal: AbortSignal) => Promise<string>;
  /** Puts a new certificate into use. */
  readonly onRotated: (pair: KeyPairPem) => void;
  readonly metrics: Metrics;
  /** Names of the metrics: seconds until the certificate expires, and failed renewals. */
  readonly metricNames: { readonly ttl: string; readonly errors: string };
  readonly clock: Clock;
  readonly logger: Logger;
  /** Uniform in [0, 1). */
  readonly random: () => number;
}

export class CertificateManager {
  private current: KeyPairPem | undefined;
  private dueMs = Number.NEGATIVE_INFINITY;
  private timer: Timer | undefined;
  private readonly stopping = new AbortController();
  private readonly backoff: Backoff;
  private readonly errors: { inc(): void };
  private running: Promise<void> = Promise.resolve();

  constructor(private readonly dependencies: CertificateManagerDependencies) {
    const { metrics, metricNames, clock, random } = dependencies;
    this.backoff = new Backoff({
      initialMs: requestRetryMinMs,
      maxMs: requestRetryMaxMs,
      factor: 2,
      jitter: 0.1,
      random,
    });
    metrics.gauge({
      name: metricNames.ttl,
      help: 'Seconds until the certificate expires; negative after that, infinite without one.',
      collect: (gauge) => {
        const { toMs } = this.current ? validityOf(this.current) : { toMs: Infinity };
        gauge.set((toMs - clock.nowMs()) / 1_000);
      },
    });
    this.errors = metrics.counter({
      name: metricNames.errors,
      help: 'Failed renewals of the certificate.',
    });
    this.use(dependencies.current);
  }

  /** Whether the certificate in use can still authenticate. */
  get isValid(): boolean {
    const { clock } = this.dependencies;
    return this.current !== undefined && validityOf(this.current).toMs > clock.nowMs();
  }

  start(): void {
    this.wait(0);
  }

  async stop(): Promise<void> {
    this.stopping.abort(new Error('the certificate manager is stopped'));
    this.timer?.cancel();
    await this.running;
  }

  /** Wall time decides, because a machine may have been suspended. */
  private wait(delayMs: number): void {
    if (this.stopping.signal.aborted) return;
    const { clock } = this.dependencies;
    this.timer = clock.setTimer(Math.min(delayMs, renewalCheckMsMax), () => {
      this.running = this.check();
    });
  }

  /** Never rejects. */
  private async check(): Promise<void> {
    const { clock, logger } = this.dependencies;
    const remainingMs = this.dueMs - clock.nowMs();
    if (remainingMs > 0) return this.wait(remainingMs);
    try {
      await this.rotate();
      this.backoff.reset();
      this.wait(Math.max(requestRetryMinMs, this.dueMs - clock.nowMs()));
    } catch (error) {
      if (this.stopping.signal.aborted) return;
      this.errors.inc();
      const delayMs = this.backoff.nextMs();
      logger.warn({ reason: errorMessage(error), delayMs }, 'certificate was not renewed');
      this.wait(delayMs);
    }
  }

  private async rotate(): Promise<void> {
    const { store, request, onRotated, logger } = this.dependencies;
    const keyPem = await store.pendingKey();
    const certificatePem = await request(keyPem, this.stopping.signal);
    const pair = store.save({ certificatePem, keyPem });
    this.use(pair);
    onRotated(pair);
    const { toMs } = validityOf(pair);
    logger.info({ until: new Date(toMs).toISOString() }, 'certificate renewed');
  }

  private use(pair: KeyPairPem | undefined): void {
    this.current = pair;
    if (pair) this.dueMs = renewalMs(validityOf(pair), this.dependencies.random());
  }
}
