/**
 * Rewrites responses of a proxied target so that they lead back through the proxy: redirect
 * locations and HTML links that name the target or are absolute paths on it. Pages are rewritten
 * while they are streamed.
 */
import { type IncomingMessage, type OutgoingHttpHeaders } from 'node:http';
import { Transform } from 'node:stream';
import { htmlTagBytesMax } from '../limits.js';
import type { Rewrite, Target } from './forward.js';

/** Links of a page that a browser follows automatically or on a click. */
const linkAttribute =
  /(\s(?:href|src|action|background|cite|classid|codebase|data|formaction|icon|longdesc|manifest|poster|profile|usemap)\s*=\s*)("[^"]*"|'[^']*'|[^\s"'>]+)/gi;

/** The URL through the proxy; unchanged if it leads elsewhere. */
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
  return (response, headers) => {
    const { location } = headers;
    const moved: OutgoingHttpHeaders =
      typeof location === 'string'
        ? { ...headers, location: proxiedUrl(location, target, prefix) }
        : headers;
    if (!isPlainHtml(response)) return { headers: moved };
    const { 'content-length': _length, ...rest } = moved;
    return { headers: rest, body: htmlRewriter((url) => proxiedUrl(url, target, prefix)) };
  };
}

/** Compressed pages are not rewritten: their clients have requested the compression. */
function isPlainHtml({ headers, statusCode = 0 }: IncomingMessage): boolean {
  const encoding = headers['content-encoding'] ?? 'identity';
  const hasBody = statusCode !== 204 && statusCode !== 304;
  return hasBody && encoding === 'identity' && /^text\/html\b/i.test(headers['content-type'] ?? '');
}

/** A tag may arrive in pieces: an incomplete one is buffered up to a maximum size. */
function htmlRewriter(rewrite: (url: string) => string): Transform {
  let buffered = '';
  const done = (text: string) => Buffer.from(rewriteTags(text, rewrite), 'latin1');
  return new Transform({
    transform(chunk: Buffer, _encoding, next) {
      // One character a byte: whatever the page's own encoding is, tags are in ASCII.
      buffered += chunk.toString('latin1');
      const open = buffered.lastIndexOf('<');
      const isComplete = open < 0 || buffered.indexOf('>', open) >= 0;
      const end = isComplete || buffered.length - open > htmlTagBytesMax ? buffered.length : open;
      const ready = buffered.slice(0, end);
      buffered = buffered.slice(end);
      next(null, done(ready));
    },
    flush(next) {
      next(null, done(buffered));
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
