/**
 * The gRPC client of a key management service on a unix socket, version 1 of the interface. The
 * number of calls in flight is limited; further calls wait, each with a deadline of its own from
 * the time it is sent.
 */
import { Client, credentials, Metadata } from '@grpc/grpc-js';
import type { Clock } from '@orch/component';
import protobuf from 'protobufjs/light.js';
import namespace from '../generated/kms-v1beta1.js';
import { kmsCallsMax, kmsCallsWaitingMax } from '../limits.js';
import type { KeyManagementService } from './envelope.js';
import { KmsError } from './kms-error.js';

export interface KmsClientOptions {
  readonly providerName: string;
  /** `unix:///path`. */
  readonly endpoint: string;
  readonly timeoutMs: number;
  readonly clock: Clock;
}

export const kmsInterfaceVersion = 'v1beta1';
const serviceName = `${kmsInterfaceVersion}.KeyManagementService`;
const root = protobuf.Root.fromJSON(namespace);

export class KmsClient implements KeyManagementService {
  private readonly client: Client;
  private versionChecked: Promise<void> | undefined;
  private callCount = 0;
  private readonly waiting: (() => void)[] = [];

  constructor(private readonly options: KmsClientOptions) {
    this.client = new Client(options.endpoint, credentials.createInsecure(), {
      'grpc.use_local_subchannel_pool': 1,
      'grpc.enable_retries': 0,
      'grpc.service_config_disable_resolution': 1,
    });
  }

  async encrypt(dataKey: Buffer): Promise<Buffer> {
    const { cipher } = await this.checked('Encrypt', { plain: dataKey });
    return bytesOf(cipher);
  }

  async decrypt(encryptedDataKey: Buffer): Promise<Buffer> {
    const { plain } = await this.checked('Decrypt', { cipher: encryptedDataKey });
    return bytesOf(plain);
  }

  /** Calls that are in flight end normally. */
  close(): void {
    this.client.close();
  }

  private async checked(
    method: string,
    request: Record<string, unknown>,
  ): Promise<Record<string, unknown>> {
    await this.admit();
    try {
      this.versionChecked ??= this.checkVersion();
      await this.versionChecked;
      return await this.call(method, request);
    } finally {
      this.callCount -= 1;
      this.waiting.shift()?.();
    }
  }

  /** Resolves when fewer calls than the limit are in flight. */
  private async admit(): Promise<void> {
    if (this.callCount >= kmsCallsMax) {
      if (this.waiting.length >= kmsCallsWaitingMax) {
        throw this.failure(`more than ${kmsCallsWaitingMax} calls wait`);
      }
      this.callCount += 1;
      await new Promise<void>((resolve) => this.waiting.push(resolve));
      return;
    }
    this.callCount += 1;
  }

  private async checkVersion(): Promise<void> {
    try {
      const { version } = await this.call('Version', {});
      if (version !== kmsInterfaceVersion) {
        throw this.failure(
          `it serves version ${JSON.stringify(version)}, only ${kmsInterfaceVersion} is supported`,
        );
      }
    } catch (error) {
      this.versionChecked = undefined;
      throw error;
    }
  }

  private call(method: string, request: Record<string, unknown>): Promise<Record<string, unknown>> {
    const { clock, timeoutMs } = this.options;
    const { requestType, responseType } = root.lookupService(serviceName).methods[method]!;
    const requests = root.lookupType(`${kmsInterfaceVersion}.${requestType}`);
    const responses = root.lookupType(`${kmsInterfaceVersion}.${responseType}`);
    return new Promise((resolve, reject) => {
      this.client.makeUnaryRequest(
        `/${serviceName}/${method}`,
        (value: Record<string, unknown>) => requests.encode(value).finish() as Buffer,
        (bytes) => responses.toObject(responses.decode(bytes), { defaults: true }),
        { version: kmsInterfaceVersion, ...request },
        new Metadata({ waitForReady: true }),
        { deadline: new Date(clock.nowMs() + timeoutMs) },
        (error, response) => {
          if (response && !error) resolve(response);
          else reject(this.failure(error?.details ?? 'no response', error));
        },
      );
    });
  }

  private failure(reason: string, cause?: unknown): KmsError {
    const { providerName } = this.options;
    return new KmsError(`KMS provider ${providerName}: ${reason}`, { cause });
  }
}

function bytesOf(value: unknown): Buffer {
  return value instanceof Uint8Array ? Buffer.from(value) : Buffer.alloc(0);
}
