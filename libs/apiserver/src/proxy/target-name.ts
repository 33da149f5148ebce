/**
 * Names of proxied objects: `name`, `name:port` or `scheme:name:port`; the port may be a name.
 * Pure.
 */
import { badRequest } from '@orch/apimachinery';

const schemes = ['', 'http', 'https'] as const;

export interface TargetName {
  readonly scheme: (typeof schemes)[number];
  readonly name: string;
  /** Empty: the target's default. */
  readonly port: string;
}

/** Throws 400 for any other form. */
export function parseTargetName(text: string, kind: string): TargetName {
  const parts = text.split(':');
  const [first = '', second = '', third = ''] = parts;
  const target =
    parts.length === 1
      ? { scheme: '', name: first, port: '' }
      : parts.length === 2
        ? { scheme: '', name: first, port: second }
        : { scheme: first, name: second, port: third };
  const scheme = schemes.find((known) => known === target.scheme);
  if (parts.length > 3 || scheme === undefined || target.name === '') {
    throw badRequest(`invalid ${kind} request ${JSON.stringify(text)}`);
  }
  return { ...target, scheme };
}

/** The number that a text is as a port, or undefined. */
export function portNumber(text: string): number | undefined {
  const port = /^\d{1,5}$/.test(text) ? Number(text) : 0;
  return port >= 1 && port <= 65_535 ? port : undefined;
}

/** The part of a path below `.../proxy`, unchanged; empty if there is none. */
export function pathBelow(path: string, restCount: number): string {
  const withoutEnd = path.length > 1 && path.endsWith('/') ? path.slice(0, -1) : path;
  const segments = withoutEnd.split('/');
  const below = segments.slice(segments.length - restCount).join('/');
  const slash = path.endsWith('/') ? '/' : '';
  return restCount === 0 ? slash : `/${below}${slash}`;
}
