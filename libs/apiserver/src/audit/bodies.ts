/** Request and response bodies as JSON on one line, for the audit log. */
import { codecFor, kindNamed, SchemaError, StatusError, unwrapUnknown } from '@orch/apimachinery';
import { YAMLError } from 'yaml';
import { parseYamlText } from '../request/parse-yaml.js';

const lineEnd = 10;

/**
 * Returns undefined for a body that does not match its media type; the status of the response
 * reports that.
 */
export function jsonOfBody(body: Buffer, mediaType: string): string | undefined {
  if (body.length === 0) return undefined;
  try {
    if (mediaType.includes('protobuf')) return jsonOfProtobuf(body);
    if (mediaType.includes('yaml')) return JSON.stringify(parseYamlText(body.toString()));
    return JSON.stringify(JSON.parse(body.toString()));
  } catch (error) {
    if (
      error instanceof SyntaxError ||
      error instanceof SchemaError ||
      error instanceof YAMLError ||
      error instanceof StatusError
    ) {
      return undefined;
    }
    throw error;
  }
}

/** The same for a body that this server encoded: JSON on one line is returned unchanged. */
export function jsonOfResponse(body: Buffer, mediaType: string): string | undefined {
  const isLine = mediaType.includes('json') && body.length > 0 && !body.includes(lineEnd);
  return isLine ? body.toString() : jsonOfBody(body, mediaType);
}

function jsonOfProtobuf(body: Buffer): string | undefined {
  const { apiVersion, kind, raw } = unwrapUnknown(body);
  const registered = kindNamed(apiVersion, kind);
  if (!registered) return undefined;
  const codec = codecFor<object>(registered.type);
  return codec.toJson({ ...codec.fromProtobuf(raw), apiVersion, kind });
}
