/**
 * Makes answers of a proxied target lead back through the proxy: locations of redirects, and links of
 * HTML pages, that name the target or are absolute paths on it. Pages are rewritten as they pass.
 */
import { type IncomingMessage, type OutgoingHttpHeaders } from 'node:http';
import { Transform } from 'node:stream';
import { htmlTagBytesMax } from '../limits.js';
import type { Rewrite, Target } from './forward.js';

/** Links of a page that a browser follows by itself or on a click. */
const linkAttribute =
  /(\s(?:href|src|action|background|cite|classid|codebase|data|formaction|icon|longdesc|manifest|poster|profile|usemap)\s*=\s*)("[^"]*"|'[^']*'|[^\s"'>]+)/gi;

/** The url as the client has to ask for it; itself where it leads elsewhere. */
export function proxiedUrl(
  url: string,
  target: Pick<Target, 'scheme' | 'host' | 'port'>,
  prefix: string,
): string {
  const host = target.host.includes(':') ? `[${target.host}]` : target.host;
  const base = `${target.scheme}://${host}:${target.port}`;
  const isPath = url.startsWith('/') && !url.startsWith('//');
  const parsed = URL.canParse(url, base) ? new URL(url, base) : undefined;
  if (!parsed || (!isPath && parsed.origin !== new URL(base).origin)) return url;
  if (!isPath && !/^[a-z]+:\/\//i.test(url)) return url;
  const path = `${parsed.pathname}${parsed.search}${parsed.hash}`;
  return path.startsWith(`${prefix}/`) ? path : `${prefix}${path}`;
}

/** `prefix`: path of the proxied object, which ends in `/proxy`. */
export function rewriteFor(target: Target, prefix: string): Rewrite {
  return (answer, headers) => {
    const { location } = headers;
    const moved: OutgoingHttpHeaders =
      typeof location === 'string'
        ? { ...headers, location: proxiedUrl(location, target, prefix) }
        : headers;
    if (!isPlainHtml(answer)) return { headers: moved };
    const { 'content-length': _length, ...rest } = moved;
    return { headers: rest, body: htmlRewriter((url) => proxiedUrl(url, target, prefix)) };
  };
}

/** Pages that are compressed go through as they are: their clients have asked for that. */
function isPlainHtml({ headers, statusCode = 0 }: IncomingMessage): boolean {
  const encoding = headers['content-encoding'] ?? 'identity';
  const hasBody = statusCode !== 204 && statusCode !== 304;
  return hasBody && encoding === 'identity' && /^text\/html\b/i.test(headers['content-type'] ?? '');
}

/** A tag may arrive in pieces: what is not complete waits for the rest, up to a maximum. */
function htmlRewriter(rewrite: (url: string) => string): Transform {
  let held = '';
  const done = (text: string) => Buffer.from(rewriteTags(text, rewrite), 'latin1');
  return new Transform({
    transform(chunk: Buffer, _encoding, next) {
      // One character a byte: whatever the page's own encoding is, tags are in ASCII.
      held += chunk.toString('latin1');
      const open = held.lastIndexOf('<');
      const isComplete = open < 0 || held.indexOf('>', open) >= 0;
      const cut = isComplete || held.length - open > htmlTagBytesMax ? held.length : open;
      const ready = held.slice(0, cut);
      held = held.slice(cut);
      next(null, done(ready));
    },
    flush(next) {
      next(null, done(held));
    },
  });
}

export function rewriteTags(html: string, rewrite: (url: string) => string): string {
  return html.replace(/<[a-z][^<>]*>/gi, (tag) =>
    tag.replace(linkAttribute, (_whole, before: string, value: string) => {
      const quote = value[0] === '"' || value[0] === "'" ? value[0] : '';
      const url = quote === '' ? value : value.slice(1, -1);
      return `${before}${quote}${rewrite(url)}${quote}`;
    }),
  );
}
