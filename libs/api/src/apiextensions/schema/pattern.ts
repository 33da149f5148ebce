/**
 * Patterns of schemas: the RE2 dialect, matched in time linear in the text, so that no pattern stops the
 * server. A pattern may match anywhere in the text.
 */
import { RE2JS, RE2JSSyntaxException } from 're2js';
import type { Outcome } from './outcome.js';

/** Matching a character costs a share of the pattern's instructions; this many are one step. */
const instructionsPerStep = 16;

/** What is wrong with a pattern; undefined when it compiles. */
export function patternFault(pattern: string): string | undefined {
  const compiled = compiledOrFault(pattern);
  return typeof compiled === 'string' ? compiled : undefined;
}

function compiledOrFault(pattern: string): RE2JS | string {
  try {
    return RE2JS.compile(pattern);
  } catch (error) {
    if (error instanceof RE2JSSyntaxException) return error.message;
    throw error;
  }
}

/** A pattern that does not compile, which older definitions may hold, matches nothing. */
export function compilePattern(pattern: string): (text: string, outcome: Outcome) => boolean {
  const compiled = compiledOrFault(pattern);
  if (typeof compiled === 'string') return () => false;
  const cost = compiled.programSize() / instructionsPerStep;
  return (text, outcome) => {
    outcome.spend(Math.ceil(text.length * cost));
    return compiled.test(text);
  };
}
