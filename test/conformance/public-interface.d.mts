/** A proxy that passes on only what every API server of the interface has. */
export class PublicInterfaceProxy {
  constructor(options: {
    readonly url: string;
    readonly token: string;
    readonly pair: { readonly certificatePem: string; readonly keyPem: string };
  });

  /** After `start`. */
  readonly url: string;
  readonly refused: ReadonlySet<string>;
  readonly passedCount: number;
  start(): Promise<void>;
  stop(): Promise<void>;
}
