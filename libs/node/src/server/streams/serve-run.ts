/** `/run/<namespace>/<pod>/<container>?cmd=...`: runs a command and returns its output. */
import type { ServerResponse } from 'node:http';
import { commandRunTimeoutMs } from '../../limits.js';
import { HttpError } from '../request/http-error.js';
import { findRunningContainer, type StreamDependencies } from './stream-target.js';

export async function serveRun(
  dependencies: StreamDependencies,
  names: readonly string[],
  parameters: URLSearchParams,
  response: ServerResponse,
): Promise<void> {
  const plain = { 'content-type': 'text/plain; charset=utf-8' };
  try {
    const { status } = await findRunningContainer(dependencies, names);
    const command = (parameters.get('cmd') ?? '').split(' ').filter((word) => word !== '');
    if (command.length === 0) throw new HttpError(400, 'the parameter cmd contains no command');
    const { stdout, stderr } = await dependencies.runtime.execSync(
      status.id,
      command,
      commandRunTimeoutMs,
    );
    response.writeHead(200, plain).end(Buffer.concat([stdout, stderr]));
  } catch (error) {
    if (!(error instanceof HttpError)) throw error;
    response.writeHead(error.statusCode, plain).end(`${error.message}\n`);
  }
}
