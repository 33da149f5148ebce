/** Requests of the administrator to a cluster that `up` starts. */
import { RestClient } from '@orch/client';
import { errorMessage } from '@orch/component';
import { initialObjectsTimeoutMs } from './limits.js';
import { UserError } from './user-error.js';

export interface ApiAccess {
  readonly port: number;
  readonly authorityPem: string;
  readonly token: string;
}

/** Runs `act` with a client. Throws `UserError` with `problem` if it fails. */
export async function asAdministrator(
  { port, authorityPem, token }: ApiAccess,
  problem: string,
  act: (client: RestClient) => Promise<void>,
): Promise<void> {
  const client = new RestClient({
    servers: [`https://127.0.0.1:${port}`],
    ca: authorityPem,
    token,
    requestTimeoutMs: initialObjectsTimeoutMs,
  });
  try {
    await act(client);
  } catch (error) {
    throw new UserError(`${problem}: ${errorMessage(error)}`);
  } finally {
    await client.close();
  }
}
