/** A key management service on a unix socket for specs. It encrypts with a byte of its own. */
import { Server, ServerCredentials, type ServerUnaryCall, type sendUnaryData } from '@grpc/grpc-js';
import protobuf from 'protobufjs/light.js';
import namespace from '../../generated/kms-v1beta1.js';

type Message = Record<string, unknown>;
type Respond = (request: Message) => Message;

const root = protobuf.Root.fromJSON(namespace);
const prefix = Buffer.from('wrapped:');

export class KmsPlugin {
  readonly calls = { Version: 0, Encrypt: 0, Decrypt: 0 };
  version = 'v1beta1';
  /** Refuses calls with this message. */
  failure: string | undefined;
  /** Holds back responses until it resolves. */
  gate: Promise<void> = Promise.resolve();
  private server: Server | undefined;

  constructor(
    readonly path: string,
    private readonly mask = 0x5a,
  ) {}

  get endpoint(): string {
    return `unix://${this.path}`;
  }

  async start(): Promise<void> {
    const server = new Server();
    server.addService(
      {
        Version: method('Version'),
        Encrypt: method('Encrypt'),
        Decrypt: method('Decrypt'),
      },
      {
        Version: this.handler('Version', () => ({ version: this.version, runtimeName: 'spec' })),
        Encrypt: this.handler('Encrypt', ({ plain }) => ({
          cipher: Buffer.concat([prefix, this.masked(plain as Buffer)]),
        })),
        Decrypt: this.handler('Decrypt', ({ cipher }) => ({
          plain: this.masked((cipher as Buffer).subarray(prefix.length)),
        })),
      },
    );
    await new Promise<void>((resolve, reject) => {
      server.bindAsync(this.endpoint, ServerCredentials.createInsecure(), (error) =>
        error ? reject(error) : resolve(),
      );
    });
    this.server = server;
  }

  stop(): void {
    this.server?.forceShutdown();
    this.server = undefined;
  }

  private masked(bytes: Buffer): Buffer {
    return Buffer.from(bytes.map((byte) => byte ^ this.mask));
  }

  private handler(name: keyof KmsPlugin['calls'], respond: Respond) {
    return async (call: ServerUnaryCall<Message, Message>, callback: sendUnaryData<Message>) => {
      this.calls[name] += 1;
      await this.gate;
      if (this.failure === undefined) callback(null, respond(call.request));
      else callback({ code: 13, details: this.failure });
    };
  }
}

function method(name: string) {
  const { requestType, responseType } = root.lookupService('v1beta1.KeyManagementService').methods[
    name
  ]!;
  const requests = root.lookupType(`v1beta1.${requestType}`);
  const responses = root.lookupType(`v1beta1.${responseType}`);
  return {
    path: `/v1beta1.KeyManagementService/${name}`,
    requestStream: false,
    responseStream: false,
    requestSerialize: (value: Message) => requests.encode(value).finish() as Buffer,
    requestDeserialize: (bytes: Buffer) => requests.toObject(requests.decode(bytes)) as Message,
    responseSerialize: (value: Message) => responses.encode(value).finish() as Buffer,
    responseDeserialize: (bytes: Buffer) => responses.toObject(responses.decode(bytes)) as Message,
  };
}
