/** Opens the encryption configuration of the flags. */
import { exitCodes, FatalError, type Logger, type Metrics, systemClock } from '@orch/component';
import { EncryptionConfigurationError, EncryptionFile, EncryptionMetrics } from '@orch/security';

/** Period of the checks of the file. Higher: new keys are used later. Lower: more file reads. */
const encryptionPollMs = 10_000;

/**
 * Returns undefined without a file; the metrics exist nevertheless, as in the interface. Rejects
 * with FatalError if the file cannot be used.
 */
export async function openEncryptionFile(
  path: string,
  logger: Logger,
  metrics: Metrics,
): Promise<EncryptionFile | undefined> {
  const observer = new EncryptionMetrics(metrics, systemClock);
  if (path === '') return undefined;
  const file = new EncryptionFile({
    ...{ path, periodMs: encryptionPollMs, clock: systemClock, observer, logger },
  });
  try {
    await file.open();
    return file;
  } catch (error) {
    if (!(error instanceof EncryptionConfigurationError)) throw error;
    throw new FatalError(exitCodes.usage, error.message, { cause: error });
  }
}
