/**
 * The interface between the node agent and a container runtime, modelled on the CRI, so that a
 * runtime behind gRPC and one of plain processes are interchangeable. A sandbox is the environment
 * that the containers of a pod share (network, host name, log directory). Stop and remove calls are
 * idempotent. The caller implements restart policies, probes and volumes.
 */

import type { Socket } from 'node:net';
import type { Readable, Writable } from 'node:stream';

export type SandboxId = string & { readonly __brand: 'SandboxId' };
export type ContainerId = string & { readonly __brand: 'ContainerId' };

/** Identifies the pod of a sandbox or container. */
export interface PodIdentity {
  readonly uid: string;
  readonly namespace: string;
  readonly name: string;
}

export interface SandboxConfig {
  readonly pod: PodIdentity;
  /** The number of previous sandboxes of this pod. */
  readonly attempt: number;
  readonly hostname: string;
  /** The parent directory of `ContainerConfig.logPath`. Created if missing. */
  readonly logDirectory: string;
  /** Use the host's network, without an address of its own; see the host's processes. */
  readonly hostNetwork: boolean;
  readonly hostPid: boolean;
}

export interface SandboxStatus {
  readonly id: SandboxId;
  readonly pod: PodIdentity;
  readonly attempt: number;
  readonly state: 'ready' | 'notReady';
  readonly createdAtMs: number;
  /** Absent with the host's network, and after the sandbox is stopped. */
  readonly podIp?: string;
  /** The address on this host that the pod's programs listen on; usually `podIp`. */
  readonly localIp?: string;
}

export interface Mount {
  /** Absolute path on the host; must exist. A file or a directory. */
  readonly hostPath: string;
  /** Absolute path inside the container. */
  readonly containerPath: string;
  readonly readOnly: boolean;
  /** Whether the container may run without the mount if the runtime cannot create it. */
  readonly optional?: boolean;
}

export interface ContainerUser {
  readonly uid: number;
  readonly gid: number;
  readonly supplementalGroups: readonly number[];
}

export interface ContainerConfig {
  readonly name: string;
  /** The number of previous runs of this container. */
  readonly attempt: number;
  readonly image: string;
  /** The entry point; empty for that of the image. */
  readonly command: readonly string[];
  readonly args: readonly string[];
  /** The default of the runtime if absent. */
  readonly workingDirectory?: string;
  /** Later entries override earlier ones. */
  readonly environment: readonly { readonly name: string; readonly value: string }[];
  readonly mounts: readonly Mount[];
  /** Relative to the log directory of the sandbox. */
  readonly logPath: string;
  readonly user?: ContainerUser;
  readonly readOnlyRoot?: boolean;
  /** Whether the command reads the input of `attach`; otherwise its input is empty. */
  readonly stdin?: boolean;
  /** Whether the command has a terminal. */
  readonly tty?: boolean;
  /** Stored and returned unchanged; the runtime does not interpret them. */
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
  /** For an exited container: `Completed`, `Error` or `OOMKilled`. */
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
  /** Truncated to `execOutputBytesMax`. */
  readonly stdout: Buffer;
  readonly stderr: Buffer;
}

export interface TerminalSize {
  readonly columns: number;
  readonly rows: number;
}

/** A command inside a container, or the container's main command, connected to a client. */
export interface RunningCommand {
  /** Undefined if the command reads no input. */
  readonly stdin: Writable | undefined;
  readonly stdout: Readable;
  /** Undefined with a terminal, which merges both outputs. */
  readonly stderr: Readable | undefined;
  /** Has no effect without a terminal. */
  resize(size: TerminalSize): void;
  /** Disconnects the client. Ends a command that was run for it; a main command continues. */
  disconnect(): void;
  /** Exit code. Rejects with RuntimeError when the command cannot be run. */
  readonly exited: Promise<number>;
}

export interface RuntimeStatus {
  readonly runtimeReady: boolean;
  readonly networkReady: boolean;
  /** The reason why it is not ready, for operators. */
  readonly message?: string;
}

export type RuntimeErrorCode =
  /** No such sandbox or container. */
  | 'NotFound'
  /** The image cannot be used. */
  | 'InvalidImage'
  /** This runtime does not support the configuration. */
  | 'InvalidConfig'
  /** The command could not be started. */
  | 'StartFailed'
  | 'DeadlineExceeded'
  /** A limit of `limits.ts` is reached, or no address is free. */
  | 'Exhausted'
  /** A helper command of the runtime failed; a retry may succeed. */
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
  /** Whether pods listen on `localIp` instead of `podIp`; proxies must connect accordingly. */
  readonly localPodAddresses: boolean;
}

/** Called when the status of a container has changed. */
export type ContainerListener = (id: ContainerId, pod: PodIdentity) => void;

export interface ContainerRuntime {
  /** Recovers the state of the previous process. Must be called first, once. */
  start(): Promise<void>;
  /** Stops the runtime. Containers continue to run; `teardown` removes them and their network. */
  stop(options: { teardown: boolean }): Promise<void>;
  info(): Promise<RuntimeInfo>;
  status(): Promise<RuntimeStatus>;

  runSandbox(config: SandboxConfig): Promise<SandboxId>;
  /** Kills the containers of the sandbox and releases its network. */
  stopSandbox(id: SandboxId): Promise<void>;
  /** Removes the sandbox and its containers. */
  removeSandbox(id: SandboxId): Promise<void>;
  sandboxStatus(id: SandboxId): Promise<SandboxStatus>;
  listSandboxes(podUid?: string): Promise<SandboxStatus[]>;

  /** Pulls the image and returns its reference. Rejects with `InvalidImage`. */
  pullImage(image: string): Promise<string>;
  createContainer(sandboxId: SandboxId, config: ContainerConfig): Promise<ContainerId>;
  /** Resolves when the command runs. Rejects with `StartFailed`. */
  startContainer(id: ContainerId): Promise<void>;
  /** Sends TERM, then KILL after `graceMs`. Resolves when the container has exited. */
  stopContainer(id: ContainerId, graceMs: number): Promise<void>;
  /** Kills the container if it runs. The caller removes the log. */
  removeContainer(id: ContainerId): Promise<void>;
  containerStatus(id: ContainerId): Promise<ContainerStatus>;
  listContainers(podUid?: string): Promise<ContainerStatus[]>;
  /** Opens a new log file after the caller has renamed the current one. */
  reopenContainerLog(id: ContainerId): Promise<void>;
  execSync(id: ContainerId, command: readonly string[], timeoutMs: number): Promise<ExecResult>;
  /** Runs a command with connected streams, with a terminal if `tty`. */
  exec(
    id: ContainerId,
    command: readonly string[],
    options: { readonly stdin: boolean; readonly tty: boolean },
  ): Promise<RunningCommand>;
  /**
   * Connects to the future output and the input of the container. With `endsInput` the command sees
   * the end of its input when the client ends it; otherwise it waits for the next client.
   */
  attach(
    id: ContainerId,
    options: { readonly stdin: boolean; readonly endsInput: boolean },
  ): Promise<RunningCommand>;
  /** Connects to a port of the pod, like a program inside the pod to its localhost. */
  dial(id: SandboxId, port: number): Promise<Socket>;
  listContainerStats(): Promise<ContainerStats[]>;
  /** Returns a function that removes the listener. */
  onContainerChanged(listener: ContainerListener): () => void;
}
