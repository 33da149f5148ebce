/** The flags of every command. */
export interface GlobalOptions {
  readonly kubeconfig?: string;
  readonly context?: string;
  readonly namespace?: string;
  readonly server?: string;
  readonly token?: string;
  readonly certificateAuthority?: string;
  readonly insecureSkipTlsVerify?: boolean;
  readonly requestTimeout?: string;
  /** The user to impersonate. */
  readonly as?: string;
  readonly asGroup?: readonly string[];
}
