/**
 * String formats; unknown formats and those of numbers are not checked. Hyphens in names are
 * ignored. Each format accepts the values that upstream accepts.
 */
import { isIP } from 'node:net';
import { isCidr } from '@orch/apimachinery';

type Check = (text: string) => boolean;

const matching =
  (expression: RegExp): Check =>
  (text) =>
    expression.test(text);

const uuid = (third: string, fourth: string): Check =>
  matching(new RegExp(`^[0-9a-f]{8}-?[0-9a-f]{4}-?${third}-?${fourth}-?[0-9a-f]{12}$`, 'i'));
const anyFour = '[0-9a-f]{4}';
const part = '(?:0|[1-9]\\d?|1\\d\\d?|2[0-4]\\d|25[0-5])';

const checks: Readonly<Record<string, Check>> = {
  bsonobjectid: matching(/^[0-9a-fA-F]{24}$/),
  uri: isUri,
  email: isEmail,
  hostname: isHostname,
  ipv4: (text) => isIP(text) !== 0 && text.includes('.'),
  ipv6: (text) => isIP(text) === 6,
  cidr: isCidr,
  mac: isMac,
  uuid: uuid(anyFour, anyFour),
  uuid3: uuid('3[0-9a-f]{3}', anyFour),
  uuid4: uuid('4[0-9a-f]{3}', '[89ab][0-9a-f]{3}'),
  uuid5: uuid('5[0-9a-f]{3}', '[89ab][0-9a-f]{3}'),
  isbn: (text) => isIsbn10(text) || isIsbn13(text),
  isbn10: isIsbn10,
  isbn13: isIsbn13,
  creditcard: isCreditCard,
  ssn: matching(/^\d{3}[- ]?\d{2}[- ]?\d{4}$/),
  hexcolor: matching(/^#?(?:[0-9a-fA-F]{3}|[0-9a-fA-F]{6})$/),
  rgbcolor: matching(new RegExp(`^rgb\\(\\s*${part}\\s*,\\s*${part}\\s*,\\s*${part}\\s*\\)$`)),
  byte: isBase64,
  password: () => true,
  date: isDate,
  duration: isDuration,
  datetime: isDateTime,
};

/** The check for a format; undefined if it is not checked. */
export function formatCheck(format: string): Check | undefined {
  const name = format.replaceAll('-', '');
  return Object.hasOwn(checks, name) ? checks[name] : undefined;
}

/** An absolute URI or an absolute path. */
function isUri(text: string): boolean {
  if (text.startsWith('/')) return !/[\s\p{Cc}]/u.test(text) && hasWholeEscapes(text);
  return /^[a-zA-Z][a-zA-Z0-9+.-]*:./.test(text) && URL.canParse(text) && hasWholeEscapes(text);
}

function hasWholeEscapes(text: string): boolean {
  return !/%(?![0-9a-fA-F]{2})/.test(text);
}

/** An address, optionally with a display name: `A Name <a@example.com>`. */
function isEmail(text: string): boolean {
  const named = /^[^<>@]*<([^<>]*)>$/.exec(text.trim());
  const address = named?.[1] ?? text.trim();
  const atom = "[A-Za-z0-9!#$%&'*+/=?^_`{|}~\\u0080-\\uffff-]+";
  const local = `(?:${atom}(?:\\.${atom})*|"(?:[^"\\\\\\r\\n]|\\\\.)*")`;
  return new RegExp(`^${local}@(?:${atom}(?:\\.${atom})*|\\[[^\\[\\]\\s]+\\])$`, 'u').test(address);
}

function isHostname(text: string): boolean {
  if (text.length > 255 || text === '') return false;
  const labels = text.split('.');
  const label = /^[a-zA-Z0-9\p{S}\p{L}](?:[a-zA-Z0-9\p{S}\p{L}-]{0,61}[a-zA-Z0-9\p{S}\p{L}])?$/u;
  if (!labels.every((part) => label.test(part))) return false;
  return labels.length === 1 || /^[a-zA-Z\p{L}]{2,63}$/u.test(labels.at(-1)!);
}

/** Six, eight or twenty bytes: pairs separated by colons or hyphens, groups of four by dots. */
function isMac(text: string): boolean {
  for (const pairs of [6, 8, 20]) {
    const more = pairs - 1;
    if (new RegExp(`^[0-9a-f]{2}(?::[0-9a-f]{2}){${more}}$`, 'i').test(text)) return true;
    if (new RegExp(`^[0-9a-f]{2}(?:-[0-9a-f]{2}){${more}}$`, 'i').test(text)) return true;
    if (new RegExp(`^[0-9a-f]{4}(?:\\.[0-9a-f]{4}){${pairs / 2 - 1}}$`, 'i').test(text))
      return true;
  }
  return false;
}

function isIsbn10(text: string): boolean {
  const digits = text.replace(/[\s-]+/g, '');
  if (!/^\d{9}[\dX]$/.test(digits)) return false;
  let sum = 0;
  for (let index = 0; index < 10; index += 1) {
    sum += (10 - index) * (digits[index] === 'X' ? 10 : Number(digits[index]));
  }
  return sum % 11 === 0;
}

function isIsbn13(text: string): boolean {
  const digits = text.replace(/[\s-]+/g, '');
  if (!/^\d{13}$/.test(digits)) return false;
  let sum = 0;
  for (let index = 0; index < 13; index += 1) sum += Number(digits[index]) * (index % 2 ? 3 : 1);
  return sum % 10 === 0;
}

/** A number of a known issuer with a valid check digit. */
function isCreditCard(text: string): boolean {
  const digits = text.replace(/[^0-9]+/g, '');
  const issuers =
    /^(?:4\d{12}(?:\d{3})?|5[1-5]\d{14}|(?:222[1-9]|22[3-9]\d|2[3-6]\d{2}|27[01]\d|2720)\d{12}|6(?:011|5\d\d)\d{12}|3[47]\d{13}|3(?:0[0-5]|[68]\d)\d{11}|(?:2131|1800|35\d{3})\d{11}|6[27]\d{14})$/;
  if (!issuers.test(digits)) return false;
  let sum = 0;
  for (let place = 0; place < digits.length; place += 1) {
    const digit = Number(digits[digits.length - 1 - place]) * (place % 2 ? 2 : 1);
    sum += digit > 9 ? digit - 9 : digit;
  }
  return sum % 10 === 0;
}

/** Padded and not empty. */
function isBase64(text: string): boolean {
  return text !== '' && text.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(text);
}

function isDate(text: string): boolean {
  const [, year, month, day] = /^(\d{4})-(\d{2})-(\d{2})$/.exec(text) ?? [];
  if (year === undefined) return false;
  const date = new Date(0);
  date.setUTCFullYear(Number(year), Number(month) - 1, Number(day));
  return date.getUTCMonth() === Number(month) - 1 && date.getUTCDate() === Number(day);
}

function isDateTime(text: string): boolean {
  const [date = '', time = ''] = text.toLowerCase().split('t');
  const [, hour, minute, second] =
    /^(\d{2}):(\d{2}):(\d{2})(?:.\d+)?(?:z|[+-]\d{2}:\d{2})$/.exec(time) ?? [];
  if (hour === undefined || !isDate(date)) return false;
  return hour <= '23' && minute! <= '59' && second! <= '59';
}

const unitNames = 'ns us µs μs ms s m h d w hr wk'.split(' ');
const unitStarts = ['nano', 'micro', 'milli', 'sec', 'min', 'hour', 'day', 'week'];

/** `1h30m`, or an amount with a unit name: `2 days`. */
function isDuration(text: string): boolean {
  if (/^[+-]?(?:0|(?:(?:\d+(?:\.\d*)?|\.\d+)(?:ns|us|µs|μs|ms|s|m|h))+)$/.test(text)) return true;
  return [...text.matchAll(/\d\s*([A-Za-zµ]+)/g)].some(([, unit = '']) => {
    const name = unit.toLowerCase();
    return unitNames.includes(name) || unitStarts.some((start) => name.startsWith(start));
  });
}
