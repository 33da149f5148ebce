export interface ConditionsChange {
  delayMs?: number;
  jitterMs?: number;
  bytesPerSecond?: number;
  isBlackHole?: boolean;
  isRefusing?: boolean;
}

export class Conditions {
  readonly delayMs: number;
  readonly jitterMs: number;
  readonly bytesPerSecond: number;
  readonly isBlackHole: boolean;
  readonly isRefusing: boolean;
  set(change: ConditionsChange): void;
}

export class FaultProxy {
  constructor(options?: { random?: () => number });
  listen(member: string, target: { host: string; port: number }, port?: number): Promise<number>;
  identify(member: string, pid: number): void;
  between(from: string, to: string): Conditions;
  cut(from: string, to: string): void;
  partition(groups: readonly (readonly string[])[]): void;
  heal(): void;
  drop(one?: string, other?: string): number;
  readonly open: string[];
  close(): Promise<void>;
}
