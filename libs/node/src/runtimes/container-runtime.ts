/**
 * What the node agent needs of whatever runs containers, in the terms of the container runtime
 * interface, so that a runtime behind gRPC and one made of plain processes are the same to pod workers.
 * A sandbox is the environment the containers of one pod share (network, host name, log directory).
 * All calls are idempotent where that makes sense: stopping what is stopped and removing what is gone
 * succeed. Restart policies, probes and volumes' content are the caller's.
 */

import type { Socket } from 'node:net';
import type { Readable, Writable } from 'node:stream';

export type SandboxId = string & { readonly __brand: 'SandboxId' };
export type ContainerId = string & { readonly __brand: 'ContainerId' };

/** Which pod something belongs to. */
export interface PodIdentity {
  readonly uid: string;
  readonly namespace: string;
  readonly name: string;
}

export interface SandboxConfig {
  readonly pod: PodIdentity;
  /** Counts the sandboxes made for this pod, from 0. */
  readonly attempt: number;
  readonly hostname: string;
  /** Directory below which `ContainerConfig.logPath` lies. Made if it does not exist. */
  readonly logDirectory: string;
  /** Share the host's network (no address of its own) and see the host's processes. */
  readonly hostNetwork: boolean;
  readonly hostPid: boolean;
}

export interface SandboxStatus {
  readonly id: SandboxId;
  readonly pod: PodIdentity;
  readonly attempt: number;
  readonly state: 'ready' | 'notReady';
  readonly createdAtMs: number;
  /** Absent with the host's network, and once the sandbox is stopped. */
  readonly podIp?: string;
  /** Where the pod is reached on this host and what its programs listen on; mostly `podIp` again. */
  readonly localIp?: string;
}

export interface Mount {
  /** Absolute path on the host; must exist. A file or a directory. */
  readonly hostPath: string;
  /** Absolute path inside the container. */
  readonly containerPath: string;
  readonly readOnly: boolean;
  /** The container runs without it where the runtime has no way to place it. */
  readonly optional?: boolean;
}

export interface ContainerUser {
  readonly uid: number;
  readonly gid: number;
  readonly supplementalGroups: readonly number[];
}

export interface ContainerConfig {
  readonly name: string;
  /** Counts the restarts of this container, from 0. */
  readonly attempt: number;
  readonly image: string;
  /** Entry point; empty means the image's own. */
  readonly command: readonly string[];
  readonly args: readonly string[];
  /** The runtime's default when absent. */
  readonly workingDirectory?: string;
  /** In order; later ones win. */
  readonly environment: readonly { readonly name: string; readonly value: string }[];
  readonly mounts: readonly Mount[];
  /** Below the sandbox's log directory. */
  readonly logPath: string;
  readonly user?: ContainerUser;
  readonly readOnlyRoot?: boolean;
  /** What is sent by `attach` reaches the command; otherwise it reads nothing. */
  readonly stdin?: boolean;
  /** The command has a terminal of its own. */
  readonly tty?: boolean;
  /** Kept and given back; the runtime does not look at them. */
  readonly annotations: Readonly<Record<string, string>>;
}

export type ContainerState = 'created' | 'running' | 'exited' | 'unknown';

export interface ContainerStatus {
  readonly id: ContainerId;
  readonly sandboxId: SandboxId;
  readonly pod: PodIdentity;
  readonly name: string;
  readonly attempt: number;
  readonly state: ContainerState;
  readonly createdAtMs: number;
  readonly startedAtMs?: number;
  readonly finishedAtMs?: number;
  readonly exitCode?: number;
  /** Of an exited container: `Completed`, `Error` or `OOMKilled`. */
  readonly reason?: string;
  readonly message?: string;
  readonly image: string;
  readonly imageRef: string;
  /** Absolute. */
  readonly logPath: string;
  readonly annotations: Readonly<Record<string, string>>;
}

export interface ContainerStats {
  readonly id: ContainerId;
  readonly pod: PodIdentity;
  readonly name: string;
  readonly atMs: number;
  readonly cpuNanoseconds: number;
  readonly memoryBytes: number;
  readonly processCount: number;
}

export interface ExecResult {
  readonly exitCode: number;
  /** Cut at `execOutputBytesMax`. */
  readonly stdout: Buffer;
  readonly stderr: Buffer;
}

export interface TerminalSize {
  readonly columns: number;
  readonly rows: number;
}

/** A command inside a container, or the container's own, with somebody at its other end. */
export interface RunningCommand {
  /** Absent where it reads nothing. */
  readonly stdin: Writable | undefined;
  readonly stdout: Readable;
  /** Absent with a terminal, which mixes the two. */
  readonly stderr: Readable | undefined;
  /** Without effect where there is no terminal. */
  resize(size: TerminalSize): void;
  /** The other end has gone. Ends a command that was run for it; a container's own goes on. */
  leave(): void;
  /** Exit code. Rejects with RuntimeError when the command cannot be run. */
  readonly exited: Promise<number>;
}

export interface RuntimeStatus {
  readonly runtimeReady: boolean;
  readonly networkReady: boolean;
  /** Why not, in words for an operator. */
  readonly message?: string;
}

export type RuntimeErrorCode =
  /** No such sandbox or container. */
  | 'NotFound'
  /** The image, or what stands for it here, cannot be used. */
  | 'InvalidImage'
  /** The configuration cannot be carried out by this runtime. */
  | 'InvalidConfig'
  /** The command could not be run. */
  | 'StartFailed'
  | 'DeadlineExceeded'
  /** A maximum of `limits.ts` or the address range is used up. */
  | 'Exhausted'
  /** A helper of the runtime failed; worth another try. */
  | 'Internal';

export class RuntimeError extends Error {
  override readonly name = 'RuntimeError';
  constructor(
    readonly code: RuntimeErrorCode,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

export interface RuntimeInfo {
  /** `containerd`, `process`, ... */
  readonly name: string;
  readonly version: string;
  /** Pods listen on `localIp`, which is not their `podIp`: whoever forwards to them must know. */
  readonly localPodAddresses: boolean;
}

/** Something about a container has changed; its status tells what. */
export type ContainerListener = (id: ContainerId, pod: PodIdentity) => void;

export interface ContainerRuntime {
  /** Takes over what an earlier life left behind. Call once, before anything else. */
  start(): Promise<void>;
  /** Stops watching. Containers go on; with `teardown` they and all else the runtime made are removed. */
  stop(options: { teardown: boolean }): Promise<void>;
  info(): Promise<RuntimeInfo>;
  status(): Promise<RuntimeStatus>;

  runSandbox(config: SandboxConfig): Promise<SandboxId>;
  /** Ends what still runs in it and gives its network back. */
  stopSandbox(id: SandboxId): Promise<void>;
  /** Removes it and its containers. */
  removeSandbox(id: SandboxId): Promise<void>;
  sandboxStatus(id: SandboxId): Promise<SandboxStatus>;
  listSandboxes(podUid?: string): Promise<SandboxStatus[]>;

  /** Makes the image usable; the reference under which it will run. `InvalidImage` when it cannot be. */
  pullImage(image: string): Promise<string>;
  createContainer(sandboxId: SandboxId, config: ContainerConfig): Promise<ContainerId>;
  /** Resolves once the command runs; `StartFailed` if it cannot. */
  startContainer(id: ContainerId): Promise<void>;
  /** TERM, then KILL after `graceMs`. Resolves once it has exited. */
  stopContainer(id: ContainerId, graceMs: number): Promise<void>;
  /** Kills it if it runs. The log stays: it is the caller's. */
  removeContainer(id: ContainerId): Promise<void>;
  containerStatus(id: ContainerId): Promise<ContainerStatus>;
  listContainers(podUid?: string): Promise<ContainerStatus[]>;
  /** The log file has been moved away: go on in a new one. */
  reopenContainerLog(id: ContainerId): Promise<void>;
  execSync(id: ContainerId, command: readonly string[], timeoutMs: number): Promise<ExecResult>;
  /** Runs a command with its streams open, with a terminal of its own if `tty`. */
  exec(
    id: ContainerId,
    command: readonly string[],
    options: { readonly stdin: boolean; readonly tty: boolean },
  ): Promise<RunningCommand>;
  /**
   * Joins what the container writes from now on, and what it reads. With `endsInput` the command sees the
   * end of its input when the caller ends it; otherwise it waits for whoever comes next.
   */
  attach(
    id: ContainerId,
    options: { readonly stdin: boolean; readonly endsInput: boolean },
  ): Promise<RunningCommand>;
  /** A connection to a port of the pod, as a program inside the pod would make to its own host. */
  dial(id: SandboxId, port: number): Promise<Socket>;
  listContainerStats(): Promise<ContainerStats[]>;
  /** Returns a function that ends it. */
  onContainerChanged(listener: ContainerListener): () => void;
}
