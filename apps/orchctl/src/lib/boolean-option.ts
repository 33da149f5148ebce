/** A switch that may be given bare or as `--name=true|false`. Anything else is refused, not guessed at. */
import { UsageError } from './errors.js';

/** For commander's `[boolean]` options, which are `true` when bare. */
export function booleanOption(flag: string): (text: string) => boolean {
  return (text) => {
    if (text === 'true') return true;
    if (text === 'false') return false;
    throw new UsageError(`${flag}: want ${flag}=true or ${flag}=false, got ${text}`);
  };
}
