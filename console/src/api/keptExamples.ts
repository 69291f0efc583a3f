import { sendUpload } from './uploads.ts';

/** A document and what should be read from it, as a training takes it. */
export interface Example {
  readonly document_id: string;
  readonly expected: Readonly<Record<string, unknown>>;
}

interface Kept extends Example {
  /** Tells a file of this browser from others: one that is kept again is not sent again. */
  readonly source: string;
}

/** Examples of a browser session, by tenant: the next person at this window may act for another. */
const keyOf = (tenantId: string): string => `quire.examples.${tenantId}`;

const keptOf = (tenantId: string): readonly Kept[] => {
  try {
    const kept: unknown = JSON.parse(sessionStorage.getItem(keyOf(tenantId)) ?? '[]');
    return Array.isArray(kept) ? (kept as readonly Kept[]) : [];
  } catch {
    return [];
  }
};

/** The examples that were kept for a tenant in this browser session. */
export const keptExamples = (tenantId: string): readonly Example[] =>
  keptOf(tenantId).map(({ document_id, expected }) => ({ document_id, expected }));

/** Keeps an example; one of the same file takes its place. Trainings read uploads, so the file becomes one. */
export const keepExample = async (
  tenantId: string,
  { file, expected }: { readonly file: File; readonly expected: Example['expected'] },
): Promise<readonly Example[]> => {
  const source = `${file.name} ${String(file.size)} ${String(file.lastModified)}`;
  const known = keptOf(tenantId).find((kept) => kept.source === source);
  const { document_id } = known ?? (await sendUpload(file, { tenant_id: tenantId }));
  const others = keptOf(tenantId).filter((kept) => kept.source !== source);
  sessionStorage.setItem(keyOf(tenantId), JSON.stringify([...others, { source, document_id, expected }]));
  return keptExamples(tenantId);
};
