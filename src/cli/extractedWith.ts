import { pageSummary } from '../../domain/document/document.ts';
import type { ExtractionRequest, ExtractionResult } from '../../domain/ports/extractionEngine.ts';
import type { LocalArtifact } from '../../domain/training/artifact.ts';
import { extractWith } from '../../domain/training/extractWith.ts';
import type { DocumentParts } from '../composition/documentParts.ts';

/** Extracts as the local engine does, with what an artifact learned. The document is read in isolation. */
export const extractedWith = async (
  artifact: LocalArtifact,
  request: ExtractionRequest,
  { parser, schemas }: Pick<DocumentParts, 'parser' | 'schemas'>,
): Promise<ExtractionResult> => {
  const { schema, citations, signal } = request;
  const parsed = await parser.parse(request);
  if (parsed.kind !== 'ok') return parsed;
  const { mimeType, pages, warnings } = parsed.document;
  const extracted = extractWith(artifact, parsed.document, schema);
  const checked = await schemas.validate(schema, extracted.value, signal);
  if (checked.kind === 'unavailable') return { kind: 'timed_out', detail: checked.detail };
  if (checked.kind !== 'ok') return checked;
  const { value, errors: validationErrors } = checked;
  return {
    kind: 'ok',
    extraction: {
      mimeType,
      value,
      validationErrors,
      citations: citations ? extracted.citations : [],
      pages: pages.map(pageSummary),
      warnings,
    },
  };
};
