/** Validates names of environment variables. */

/** Whether `name` has only letters, digits, `_`, `-` and `.`, and does not start with a digit. */
export function isEnvironmentName(name: string): boolean {
  return /^[-._a-zA-Z][-._a-zA-Z0-9]*$/.test(name) && name !== '.' && !name.startsWith('..');
}
