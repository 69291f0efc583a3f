import type { ExtractionRequest } from '../../ports/extractionEngine.ts';
import type { PackedDocument } from '../../document/document.ts';
import { ownMember, type Json, type JsonObject } from '../../kernel/json.ts';
import { limitsOf, type Running } from './modelWorkDeps.ts';

/** A value that the local engine found, as a model is told of it. */
export interface Found {
  readonly page: number;
  readonly line: string;
}

/** Values that are told, and letters of each: a model is to read the document, not these. */
const FOUND_MAX = 300;
const TEXT_MAX = 200;

/**
 * What the local engine finds in the document, for a model to confirm or correct. Where it finds nothing, or
 * cannot end in its time, the model has the document alone.
 */
export async function foundByRules(
  running: Running,
  document: PackedDocument,
  { schema, learned }: Pick<ExtractionRequest, 'schema' | 'learned'>,
): Promise<readonly Found[]> {
  const work = { document, schema, citations: true, learned };
  const result = await running.deps.tools.extractFrom(work, limitsOf(running));
  if (result.kind !== 'ok') return [];
  const { value, citations } = result.extraction;
  return citations.slice(0, FOUND_MAX).flatMap(({ path, text, page, confidence }) => {
    const said = valueAt(value, path);
    if (said === undefined) return [];
    const quoted = `page ${page}: ${JSON.stringify(text.slice(0, TEXT_MAX))}`;
    const line = `${path} = ${JSON.stringify(said).slice(0, TEXT_MAX)} (${quoted}, ${confidence.toFixed(2)})`;
    return [{ page, line }];
  });
}

function valueAt(value: JsonObject, pointer: string): Json | undefined {
  let at: Json | undefined = value;
  for (const part of pointer.split('/').slice(1)) {
    if (typeof at !== 'object' || at === null) return undefined;
    const key = part.replaceAll('~1', '/').replaceAll('~0', '~');
    at = Array.isArray(at) ? (at as readonly Json[])[Number(key)] : ownMember(at as JsonObject, key);
  }
  return at;
}
