/**
 * Formats a pino record as a readable line: time, level, component, message, then `field=value`.
 * Line breaks in values are escaped, so that an event is always one line.
 */

const frameCountMax = 8;
const headFields: ReadonlySet<string> = new Set(['time', 'level', 'component', 'msg']);

/** Formats `record`, a JSON line of pino; the result ends in a line break. */
export function textLine(record: string): string {
  const fields = JSON.parse(record) as Record<string, unknown>;
  const level = String(fields.level).toUpperCase().padEnd(5);
  const parts = [
    `${fields.time} ${level} ${fields.component}: ${oneLine(String(fields.msg ?? ''))}`,
  ];
  for (const [name, value] of Object.entries(fields)) {
    if (!headFields.has(name)) parts.push(fieldText(name, value));
  }
  return `${parts.join(' ')}\n`;
}

function fieldText(name: string, value: unknown): string {
  if (isErrorRecord(value)) {
    const frames = value.stack
      .split('\n')
      .filter((line) => line.startsWith('    at '))
      .slice(0, frameCountMax)
      .map((line) => line.trim());
    const stack = frames.length > 0 ? ` stack=${JSON.stringify(frames.join(' '))}` : '';
    return `${name}=${quoted(value.message)}${stack}`;
  }
  return `${name}=${quoted(typeof value === 'string' ? value : JSON.stringify(value))}`;
}

function isErrorRecord(value: unknown): value is { message: string; stack: string } {
  return (
    typeof value === 'object' &&
    value !== null &&
    'message' in value &&
    typeof value.message === 'string' &&
    'stack' in value &&
    typeof value.stack === 'string'
  );
}

function quoted(text: string): string {
  return /^[^\s"=]+$/.test(text) || /^[[{]/.test(text) ? oneLine(text) : JSON.stringify(text);
}

function oneLine(text: string): string {
  return text.replaceAll('\r', '\\r').replaceAll('\n', '\\n');
}
