/** Paths of volumes. Pure. */

/** Whether the path is absolute, not `/`, and has no empty, `.` or `..` segment. */
export function isCanonicalPath(path: string): boolean {
  const [first, ...names] = path.split('/');
  return first === '' && names.length > 0 && names.every((name) => !['', '.', '..'].includes(name));
}
