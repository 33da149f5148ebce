/**
 * Starts the processes of a cluster, waits until all are ready, restarts dead ones, and stops
 * them in reverse order. The API servers start first, concurrently. The others start when all of
 * them are ready.
 */
import { type Clock, sleep } from '@orch/component';
import { logCheckPeriodMs, readyTimeoutMs, serviceAccountTimeoutMs } from '../cluster/limits.js';
import { UserError } from '../cluster/user-error.js';
import { logPath, rotateLog } from './log-files.js';
import { ManagedProcess } from './managed-process.js';
import { missingServiceAccount, unhealthyReason, unreadyNodes } from './probe.js';
import type { ComponentName, ComponentSpec, ProcessSpec } from './process-spec.js';
import { type ChildRecord, recordChildren, recordsOf } from './run-state.js';
import { tearDown } from './teardown.js';

export interface SupervisorDependencies {
  readonly dataDirectory: string;
  readonly specs: readonly ProcessSpec[];
  /** Port of one API server. */
  readonly apiPort: number;
  readonly authorityPem: string;
  readonly adminToken: string;
  readonly clock: Clock;
  readonly random: () => number;
  readonly report: (text: string) => void;
  /** Called when the API servers are ready, before the other components start. */
  readonly onApiServersReady: () => Promise<void>;
}

const probePauseMs = 100;

export class Supervisor {
  private readonly processes: readonly ManagedProcess[];
  private readonly stopped = new AbortController();

  constructor(private readonly dependencies: SupervisorDependencies) {
    const { dataDirectory, clock, random, report } = dependencies;
    const changed = () => recordChildren(dataDirectory, this.records());
    this.processes = dependencies.specs.map(
      (spec) => new ManagedProcess(spec, { dataDirectory, clock, random, report, changed }),
    );
  }

  /**
   * Resolves when everything is ready. Rejects with `UserError` if a process fails or times out.
   */
  async start(): Promise<void> {
    const first = this.ofComponent('apiserver');
    const others = this.processes.filter((member) => !first.includes(member));
    await this.startAll(first);
    if (first.length > 0) await this.dependencies.onApiServersReady();
    await this.startAll(others);
    await this.untilNodesReady();
    await this.untilPodsAdmitted();
    for (const member of this.processes) member.startAgainFromNowOn();
    this.watchLogs();
  }

  private async startAll(members: readonly ManagedProcess[]): Promise<void> {
    for (const member of members) member.start();
    await Promise.all(
      members.flatMap((member) =>
        member.spec.components.map((component) => this.untilHealthy(member, component)),
      ),
    );
  }

  /**
   * Stops everything in reverse order, the API servers last and concurrently, because a server that
   * stops after the majority waits for a leader until its timeout. A failure stops no less; the
   * first one is thrown at the end.
   */
  async stop(): Promise<void> {
    this.stopped.abort(new Error('stopped'));
    const failures: unknown[] = [];
    const end = (member: ManagedProcess) =>
      this.end(member).catch((error: unknown) => failures.push(error));
    const servers = this.ofComponent('apiserver');
    for (const member of [...this.processes].reverse()) {
      if (!servers.includes(member)) await end(member);
    }
    await Promise.all(servers.map(end));
    if (failures.length > 0) throw failures[0];
  }

  private async end(member: ManagedProcess): Promise<void> {
    const inOrder = await member.stop();
    if (inOrder) return;
    for (const component of [...member.spec.components].reverse()) {
      if (component.hasTeardown) await tearDown(this.dependencies.dataDirectory, component);
    }
  }

  killNow(): void {
    for (const member of this.processes) member.killNow();
  }

  private records(): ChildRecord[] {
    return this.processes.flatMap(({ spec, identity }) => recordsOf(spec, identity));
  }

  private async untilHealthy(
    member: ManagedProcess,
    { name, probe }: ComponentSpec,
  ): Promise<void> {
    const { authorityPem, report, clock } = this.dependencies;
    const startedMs = clock.monotonicMs();
    await this.until(
      () => unhealthyReason({ ...probe, authorityPem }),
      [member],
      `${name} did not become ready`,
    );
    report(`${name} is ready after ${((clock.monotonicMs() - startedMs) / 1000).toFixed(1)} s`);
  }

  private async untilNodesReady(): Promise<void> {
    const agents = this.ofComponent('node-agent');
    const names = agents.flatMap(({ spec }) =>
      spec.components.flatMap(({ nodeName }) => nodeName ?? []),
    );
    if (names.length === 0 || this.ofComponent('apiserver').length === 0) return;
    await this.until(
      () => unreadyNodes(this.apiAccess(), names),
      agents,
      'the nodes did not become Ready',
    );
  }

  /**
   * Waits for the service account of pods that name none, without which they are refused. Continues
   * after the timeout, because the user may have disabled its controller.
   */
  private async untilPodsAdmitted(): Promise<void> {
    const managers = this.ofComponent('controller-manager');
    if (managers.length === 0 || this.ofComponent('apiserver').length === 0) return;
    const { clock, report } = this.dependencies;
    const deadlineMs = clock.monotonicMs() + serviceAccountTimeoutMs;
    await this.until(
      async () => {
        const why = await missingServiceAccount(this.apiAccess());
        if (why === undefined || clock.monotonicMs() < deadlineMs) return why;
        report(`pods without a service account are refused: ${why}`);
        return undefined;
      },
      managers,
      'the default service account was not created',
    );
  }

  private ofComponent(component: ComponentName): ManagedProcess[] {
    return this.processes.filter(({ spec }) =>
      spec.components.some((one) => one.component === component),
    );
  }

  private apiAccess() {
    const { apiPort: port, authorityPem, adminToken: token } = this.dependencies;
    return { port, authorityPem, token };
  }

  /**
   * Polls until `reason` returns undefined. Rejects at the deadline or when one of `members` has
   * exited.
   */
  private async until(
    reason: () => Promise<string | undefined>,
    members: readonly ManagedProcess[],
    failure: string,
  ): Promise<void> {
    const { clock } = this.dependencies;
    const deadlineMs = clock.monotonicMs() + readyTimeoutMs;
    for (;;) {
      this.stopped.signal.throwIfAborted();
      for (const member of members) {
        if (member.startFailure !== undefined) {
          throw this.startError(member, `${member.spec.name} ${member.startFailure}`);
        }
      }
      const why = await reason();
      if (why === undefined) return;
      if (clock.monotonicMs() > deadlineMs) {
        const seconds = readyTimeoutMs / 1000;
        throw this.startError(members[0], `${failure} within ${seconds} s: ${why}`);
      }
      await sleep(probePauseMs, this.stopped.signal, clock);
    }
  }

  private startError(member: ManagedProcess | undefined, text: string): UserError {
    if (!member) return new UserError(text);
    const log = logPath(this.dependencies.dataDirectory, member.spec.name);
    return new UserError(
      [`${text}; its log ${log} ends with:`, ...member.lastLines()].join('\n  '),
    );
  }

  private watchLogs(): void {
    const check = () => {
      if (this.stopped.signal.aborted) return;
      for (const { spec } of this.processes) rotateLog(this.dependencies.dataDirectory, spec.name);
      this.dependencies.clock.setTimer(logCheckPeriodMs, check);
    };
    check();
  }
}
