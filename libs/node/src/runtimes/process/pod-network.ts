/**
 * The pod network. `BridgeNetwork` gives each sandbox a network namespace, connected by a veth pair
 * to a bridge of the node; host and pods communicate through the bridge. `LoopbackNetwork` only
 * allocates addresses; a pod listens on the loopback counterpart of its address, because endpoints
 * must not be loopback addresses. The runtime stores the addresses of sandboxes and passes them at
 * the start. Packets to other machines are sent unchanged: the operator configures routes and
 * address translation between machines.
 */
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import type { Logger } from '@orch/component';
import type { SandboxId } from '../container-runtime.js';
import { AddressPool, loopbackAddress } from './address-pool.js';
import { runHelper } from './helper-command.js';

export interface PodNetwork {
  /** Sets up the shared network and reserves the addresses of existing sandboxes. */
  start(addresses: ReadonlyMap<SandboxId, string>): Promise<void>;
  /** Connects the sandbox and returns its address. */
  attach(id: SandboxId): Promise<string>;
  /** Whether the sandbox is still connected; a reboot disconnects it. */
  isAttached(id: SandboxId): boolean;
  detach(id: SandboxId, address: string): Promise<void>;
  /** Returns the address that a pod with `address` listens on. */
  localAddress(address: string): string;
  /** Returns the path of the sandbox's network namespace; undefined for that of the host. */
  namespacePath(id: SandboxId): string | undefined;
  /** Removes the shared network. */
  teardown(): Promise<void>;
}

const namespaceDirectory = '/run/netns';
const forwardingFile = '/proc/sys/net/ipv4/ip_forward';

export class BridgeNetwork implements PodNetwork {
  private readonly pool: AddressPool;
  /** Contains a short digest of the owner, because interface names have at most 15 characters. */
  readonly bridge: string;
  private readonly digest: string;

  constructor(
    cidr: string,
    /** Identifies this node of this cluster on the machine. */
    owner: string,
    private readonly logger: Logger,
  ) {
    this.pool = new AddressPool(cidr);
    this.digest = createHash('sha256').update(owner).digest('hex').slice(0, 8);
    this.bridge = `pods-${this.digest}`;
  }

  async start(addresses: ReadonlyMap<SandboxId, string>): Promise<void> {
    if (!existsSync(`/sys/class/net/${this.bridge}`)) {
      await runHelper('ip', ['link', 'add', this.bridge, 'type', 'bridge']);
    }
    const own = `${this.pool.gateway}/${this.pool.prefixLength}`;
    await runHelper('ip', ['addr', 'replace', own, 'dev', this.bridge]);
    await runHelper('ip', ['link', 'set', this.bridge, 'up']);
    this.allowForwarding();
    for (const [id, address] of addresses) {
      if (!this.pool.reserve(address)) {
        this.logger.warn({ sandbox: id, address }, 'address of a sandbox is outside the pod CIDR');
      }
    }
  }

  async attach(id: SandboxId): Promise<string> {
    const address = this.pool.allocate();
    const namespace = this.namespaceName(id);
    const host = this.interfaceName(id);
    try {
      await runHelper(
        'ip',
        ['-batch', '-'],
        `netns add ${namespace}\n` +
          `link add ${host} type veth peer name eth0 netns ${namespace}\n` +
          `link set ${host} master ${this.bridge} up\n`,
      );
      await runHelper(
        'ip',
        ['-n', namespace, '-batch', '-'],
        'link set lo up\n' +
          `addr add ${address}/${this.pool.prefixLength} dev eth0\n` +
          'link set eth0 up\n' +
          `route add default via ${this.pool.gateway}\n`,
      );
      return address;
    } catch (error) {
      await this.detach(id, address);
      throw error;
    }
  }

  isAttached(id: SandboxId): boolean {
    return existsSync(`/sys/class/net/${this.interfaceName(id)}`);
  }

  async detach(id: SandboxId, address: string): Promise<void> {
    if (existsSync(`${namespaceDirectory}/${this.namespaceName(id)}`)) {
      await runHelper('ip', ['netns', 'delete', this.namespaceName(id)]);
    }
    // The kernel removes the interface with its namespace only after the last process in it has
    // ended.
    if (this.isAttached(id)) await this.removeInterface(this.interfaceName(id));
    this.pool.release(address);
  }

  localAddress(address: string): string {
    return address;
  }

  namespacePath(id: SandboxId): string {
    return `${namespaceDirectory}/${this.namespaceName(id)}`;
  }

  async teardown(): Promise<void> {
    if (existsSync(`/sys/class/net/${this.bridge}`)) await this.removeInterface(this.bridge);
  }

  private async removeInterface(name: string): Promise<void> {
    try {
      await runHelper('ip', ['link', 'delete', name]);
    } catch (error) {
      if (existsSync(`/sys/class/net/${name}`)) throw error;
    }
  }

  /** Enables IP forwarding, by which pods of different bridges on this machine communicate. */
  private allowForwarding(): void {
    if (readFileSync(forwardingFile, 'utf8').trim() === '1') return;
    try {
      writeFileSync(forwardingFile, '1');
      this.logger.info({ file: forwardingFile }, 'enabled IP forwarding');
    } catch (error) {
      this.logger.warn(
        { err: error },
        'cannot enable IP forwarding, pods of other bridges are unreachable',
      );
    }
  }

  private namespaceName(id: SandboxId): string {
    return `${this.bridge}-${id.slice(0, 12)}`;
  }

  private interfaceName(id: SandboxId): string {
    return `veth${this.digest.slice(0, 4)}${id.slice(0, 7)}`;
  }
}

export class LoopbackNetwork implements PodNetwork {
  private readonly pool: AddressPool;

  constructor(cidr: string) {
    this.pool = new AddressPool(cidr);
  }

  async start(addresses: ReadonlyMap<SandboxId, string>): Promise<void> {
    for (const address of addresses.values()) this.pool.reserve(address);
  }

  async attach(): Promise<string> {
    return this.pool.allocate();
  }

  isAttached(): boolean {
    return true;
  }

  async detach(_id: SandboxId, address: string): Promise<void> {
    this.pool.release(address);
  }

  localAddress(address: string): string {
    return loopbackAddress(address);
  }

  namespacePath(): undefined {
    return undefined;
  }

  async teardown(): Promise<void> {
    // Loopback addresses need no setup.
  }
}
