/** Requests pages of the reencryption until all objects are checked. */
import { CliError } from '../command-line/errors.js';
import type { Io } from '../command-line/io.js';

export interface ReencryptionPage {
  readonly checkedCount: number;
  readonly writtenCount: number;
  readonly failedCount: number;
  readonly failures: readonly string[];
  /** Where the next page continues; missing: this is the last page. */
  readonly after?: string;
}

/** Throws CliError if an object could not be written again. */
export async function reencrypt(
  request: (after: string | undefined) => Promise<ReencryptionPage>,
  io: Pick<Io, 'out' | 'err'>,
): Promise<void> {
  const total = { checked: 0, written: 0, failed: 0 };
  let after: string | undefined;
  do {
    const page: ReencryptionPage = await request(after);
    total.checked += page.checkedCount;
    total.written += page.writtenCount;
    total.failed += page.failedCount;
    for (const failure of page.failures) io.err(`${failure}\n`);
    after = page.after;
  } while (after !== undefined);
  io.out(`reencrypted ${total.written} of ${total.checked} objects\n`);
  if (total.failed > 0) {
    throw new CliError(
      `${total.failed} objects could not be reencrypted; keep the older keys in the configuration`,
    );
  }
}
