/**
 * A host that runs rendered pods as local processes: each has a copy of the image as root
 * directory, the volumes, environment and arguments of its spec, and the names of the host's DNS.
 * Limit: without network namespaces, each pod listens on its own loopback address instead of all
 * addresses.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { randomInt } from 'node:crypto';
import {
  appendFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import type { Container, PodSpec, Volume } from '@orch/types/core/v1';
import { must } from '../../e2e/support/process.js';
import { find, type Rendered } from './helm.js';

const initAttemptsMax = 20;
const jobTimeoutMs = 150_000;
const podCount = 8;

export interface Ended {
  readonly code: number;
  readonly output: string;
}

export class LocalHost {
  private readonly processes = new Map<string, { child: ChildProcess; ended: Promise<number> }>();
  private readonly network = `127.${randomInt(64, 250)}.${randomInt(1, 250)}`;

  /** `image`: an unpacked image. `secrets`: the rendered Secrets that pods mount. */
  constructor(
    private readonly image: string,
    readonly directory: string,
    private readonly secrets: readonly Rendered[],
  ) {}

  /** Runs the init containers until they succeed and starts the one container. */
  async startReplica(set: Rendered, ordinal: number): Promise<void> {
    const { template } = set.spec as { template: { spec: PodSpec } };
    const name = `${set.metadata.name}-${ordinal}`;
    const root = await this.place(name);
    const pod = { name, root, address: this.addressOf(ordinal), spec: template.spec };
    for (const container of template.spec.initContainers ?? []) {
      await this.untilDone(pod, container);
    }
    const { child, ended } = this.spawn(pod, template.spec.containers![0]!);
    this.processes.set(name, { child, ended });
  }

  /** Stops a pod by SIGTERM, or kills it immediately. */
  async stopReplica(name: string, signal: NodeJS.Signals = 'SIGTERM'): Promise<number> {
    const process = this.processes.get(name);
    if (!process) throw new Error(`${name} does not run`);
    this.processes.delete(name);
    process.child.kill(signal);
    return process.ended;
  }

  /** Deletes the volume of a stopped pod. */
  loseVolume(name: string): void {
    rmSync(join(this.directory, name, 'var/lib/orch'), { recursive: true, force: true });
  }

  /** Runs the container of a Job's or test's pod to completion. */
  async runOnce(name: string, spec: PodSpec): Promise<Ended> {
    const root = await this.place(name);
    const pod = { name, root, address: this.addressOf(podCount), spec };
    const { child, ended } = this.spawn(pod, spec.containers![0]!);
    const timer = setTimeout(() => child.kill('SIGKILL'), jobTimeoutMs);
    const code = await ended;
    clearTimeout(timer);
    this.keepClaims(pod);
    return { code, output: this.log(name) };
  }

  /** Runs orchctl as the administrator, inside the host. */
  async orchctl(args: readonly string[]): Promise<string> {
    const spec = this.clientSpec(args);
    const { code, output } = await this.runOnce(`orchctl-${randomInt(1e9)}`, spec);
    if (code !== 0) throw new Error(output);
    return output;
  }

  addressOf(ordinal: number): string {
    return `${this.network}.${ordinal + 1}`;
  }

  log(name: string): string {
    const file = join(this.directory, `${name}.log`);
    return existsSync(file) ? readFileSync(file, 'utf8') : '';
  }

  claim(name: string): string {
    const path = join(this.directory, 'claims', name);
    mkdirSync(path, { recursive: true });
    return path;
  }

  async stop(): Promise<void> {
    const all = [...this.processes.keys()];
    await Promise.all(all.map((name) => this.stopReplica(name, 'SIGKILL')));
  }

  private clientSpec(args: readonly string[]): PodSpec {
    const test = find(this.secrets, 'Pod', 'orch-test').spec as PodSpec;
    const [container] = test.containers!;
    return { ...test, containers: [{ ...container!, command: ['orchctl'], args: [...args] }] };
  }

  /** The root directory of the pod. A restarted pod keeps its directory. */
  private async place(name: string): Promise<string> {
    const root = join(this.directory, name);
    if (!existsSync(root)) {
      await must('cp', ['-al', this.image, root]);
      writeFileSync(join(root, 'etc/hosts'), this.hosts());
    }
    return root;
  }

  private hosts(): string {
    const { name, namespace } = find(this.secrets, 'StatefulSet', 'orch-apiserver').metadata;
    const domain = `${namespace}.svc.cluster.local`;
    const replicas = Array.from({ length: podCount }, (_, i) => {
      return `${this.addressOf(i)} ${name}-${i}.${name}-peers.${domain}`;
    });
    const service = `${this.addressOf(0)} ${name}.${domain}`;
    return ['127.0.0.1 localhost', service, ...replicas, ''].join('\n');
  }

  private async untilDone(pod: Pod, container: Container): Promise<void> {
    for (let attempt = 1; ; attempt++) {
      if ((await this.spawn(pod, container).ended) === 0) return;
      if (attempt >= initAttemptsMax) throw new Error(`${pod.name}: ${this.log(pod.name)}`);
    }
  }

  private spawn(pod: Pod, container: Container) {
    this.mount(pod, container);
    const environment = environmentOf(pod, container);
    const expanded = [...(container.command ?? []), ...(container.args ?? [])].map((word) =>
      word
        .replace(/\$\((\w+)\)/g, (_, name: string) => environment[name] ?? '')
        .replace('0.0.0.0', pod.address),
    );
    const isRoot = process.getuid?.() === 0;
    const [command, ...args] = isRoot
      ? ['/usr/sbin/chroot', pod.root, ...expanded]
      : ['/usr/bin/unshare', '--map-root-user', 'chroot', pod.root, ...expanded];
    const env = { PATH: '/opt/orch/bin:/usr/bin', NODE_ENV: 'production', ...environment };
    const child = spawn(command!, args, { env, stdio: ['ignore', 'pipe', 'pipe'] });
    const log = join(this.directory, `${pod.name}.log`);
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (chunk: Buffer) => appendFileSync(log, chunk));
    }
    const ended = new Promise<number>((done, fail) => {
      child.once('error', fail);
      child.once('close', (code) => done(code ?? 137));
    });
    return { child, ended };
  }

  private mount({ root, spec }: Pod, { volumeMounts = [] }: Container): void {
    for (const { name, mountPath } of volumeMounts) {
      const target = join(root, mountPath!);
      mkdirSync(target, { recursive: true });
      const volume = spec.volumes?.find((it) => it.name === name);
      for (const [file, content] of this.filesOf(volume)) {
        writeFileSync(join(target, file), content);
      }
      const claim = volume?.persistentVolumeClaim?.claimName;
      if (claim) cpSync(this.claim(claim), target, { recursive: true });
    }
  }

  private keepClaims({ root, spec }: Pod): void {
    for (const { name, mountPath } of spec.containers?.[0]?.volumeMounts ?? []) {
      const claim = spec.volumes?.find((it) => it.name === name)?.persistentVolumeClaim?.claimName;
      if (claim) cpSync(join(root, mountPath!), this.claim(claim), { recursive: true });
    }
  }

  private filesOf(volume: Volume | undefined): [string, Buffer][] {
    const sources = volume?.secret
      ? [{ name: volume.secret.secretName, items: volume.secret.items }]
      : (volume?.projected?.sources ?? []).map(({ secret }) => ({ ...secret! }));
    return sources.flatMap(({ name, items }) => {
      const all = this.secretFiles(name!);
      if (!items) return [...all];
      return items.map(({ key, path }): [string, Buffer] => [path!, all.get(key!)!]);
    });
  }

  private secretFiles(name: string): Map<string, Buffer> {
    const { data = {}, stringData = {} } = find(this.secrets, 'Secret', name) as {
      data?: Record<string, string>;
      stringData?: Record<string, string>;
    };
    return new Map([
      ...Object.entries(data).map(([key, it]) => [key, Buffer.from(it, 'base64')] as const),
      ...Object.entries(stringData).map(([key, it]) => [key, Buffer.from(it)] as const),
    ]);
  }
}

interface Pod {
  readonly name: string;
  readonly root: string;
  readonly address: string;
  readonly spec: PodSpec;
}

function environmentOf({ name, address }: Pod, { env = [] }: Container): Record<string, string> {
  const fields: Record<string, string> = { 'metadata.name': name, 'status.podIP': address };
  return Object.fromEntries(
    env.map((variable) => {
      const field = variable.valueFrom?.fieldRef?.fieldPath;
      return [variable.name!, field ? fields[field]! : (variable.value ?? '')];
    }),
  );
}
