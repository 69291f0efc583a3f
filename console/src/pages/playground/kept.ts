import type { ExtractionResult, MarkdownResult, Run } from '@quire/client';
import { useEffect } from 'react';

/** What was typed beside a run, in this browser session. */
interface Draft {
  readonly run: string;
  readonly schema: string;
  readonly corrections: readonly (readonly [path: string, value: string])[];
}

const keyOf = (tenantId: string): string => `quire.playground.${tenantId}`;

/** The draft of a run; undefined: there is none, or it is of another. */
export const draftOf = (tenantId: string, run: string | undefined): Draft | undefined => {
  try {
    const kept = JSON.parse(sessionStorage.getItem(keyOf(tenantId)) ?? 'null') as Draft | null;
    return kept !== null && kept.run === run ? kept : undefined;
  } catch {
    return undefined;
  }
};

/** Keeps what is typed: a reload loses nothing of it. */
export const useKeptDraft = (
  tenantId: string,
  {
    run,
    schema,
    corrections,
  }: Pick<Draft, 'schema'> & {
    readonly run: string | undefined;
    readonly corrections: ReadonlyMap<string, string>;
  },
): void => {
  useEffect(() => {
    if (run === undefined) return;
    const draft: Draft = { run, schema, corrections: [...corrections] };
    sessionStorage.setItem(keyOf(tenantId), JSON.stringify(draft));
  }, [tenantId, run, schema, corrections]);
};

const isOpen = ({ status }: Run): boolean => status === 'queued' || status === 'running';

/** Whether a run may still get a result. */
export const isUnderWay = (run: Run | undefined): boolean => run !== undefined && isOpen(run);

/** The values of a run; undefined where it has none. */
export const valuesOf = ({ kind, result }: Run): ExtractionResult | undefined =>
  kind === 'extract' && result !== null ? (result as unknown as ExtractionResult) : undefined;

/** The markdown of a run; undefined where it has none. */
export const markdownOf = ({ kind, result }: Run): MarkdownResult | undefined =>
  kind === 'to_markdown' && result !== null ? (result as unknown as MarkdownResult) : undefined;

/** The schema that a run was asked with, as people edit it. */
export const schemaOf = ({ request }: Run): string | undefined => {
  const schema = request?.['schema'];
  return typeof schema === 'object' && schema !== null ? JSON.stringify(schema, undefined, 2) : undefined;
};
