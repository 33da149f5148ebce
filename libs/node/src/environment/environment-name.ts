/** Which keys of config maps and secrets may become variables. */

/** Letters, digits, `_`, `-` and `.`, not starting with a digit. */
export function isEnvironmentName(name: string): boolean {
  return /^[-._a-zA-Z][-._a-zA-Z0-9]*$/.test(name) && name !== '.' && !name.startsWith('..');
}
