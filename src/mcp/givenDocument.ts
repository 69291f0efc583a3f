import { z } from 'zod';
import { fileAt } from '../../sdk/src/files.ts';
import type { ExtractionResult, MarkdownResult, Quire } from '../../sdk/src/index.ts';
import { ToolError } from './toolError.ts';

/** What names a document where the agent's files are this process's files. */
const LOCAL = {
  path: z.string().min(1).optional().describe('Path of the document on this machine.'),
};

/** What names a document wherever the agent is. */
const SENT = {
  content_base64: z.string().min(1).optional().describe('The bytes of the document in base64.'),
  file_name: z.string().min(1).max(255).optional().describe('Its name; the ending is a hint of its type.'),
};

/** What names a document that is too large for a request. */
const UPLOADED = {
  file_uri: z.string().min(1).max(200).optional().describe('As `upload` gave it, for files over 700 kB.'),
  tenant_id: z.string().min(1).max(128).optional().describe('With file_uri: the tenant of the upload.'),
};

export interface GivenDocument {
  readonly path?: string | undefined;
  readonly content_base64?: string | undefined;
  readonly file_name?: string | undefined;
  readonly file_uri?: string | undefined;
  readonly tenant_id?: string | undefined;
}

/** Members of a tool's input that name a document; `isLocal`: files of this machine may be named. */
export const documentMembers = (isLocal: boolean) =>
  (isLocal ? { ...LOCAL, ...SENT } : { ...SENT, ...UPLOADED }) as typeof LOCAL &
    typeof SENT &
    typeof UPLOADED;

const fromPath = async (path: string): Promise<File> => {
  try {
    return await fileAt(path);
  } catch (error) {
    throw new ToolError(`${path} cannot be read.`, { cause: error });
  }
};

/** A document that was uploaded, and the tenant that it belongs to. */
interface Uploaded {
  readonly file_uri: string;
  readonly tenant_id: string;
}

/** Who asks for work on a document, and how documents may be named. */
export interface DocumentCaller {
  readonly quire: Quire;
  readonly isLocal: boolean;
  /** The tenant that is meant where none is named. */
  readonly tenant: string | undefined;
}

const TENANT_MISSING = 'Give tenant_id, or set QUIRE_TENANT.';

export const tenantOf = (named: string | undefined, { tenant }: Pick<DocumentCaller, 'tenant'>): string => {
  const found = named ?? tenant;
  if (found === undefined) throw new ToolError(TENANT_MISSING);
  return found;
};

/** The document that a tool was given; a path counts only where files may be named. */
const documentOf = (
  { path, content_base64, file_name = 'document', file_uri, tenant_id }: GivenDocument,
  caller: DocumentCaller,
): Promise<File> | File | Uploaded => {
  const { isLocal } = caller;
  if (isLocal && path !== undefined) return fromPath(path);
  if (!isLocal && file_uri !== undefined) return { file_uri, tenant_id: tenantOf(tenant_id, caller) };
  if (content_base64 === undefined)
    throw new ToolError(isLocal ? 'Give path or content_base64.' : 'Give content_base64 or file_uri.');
  return new File([Buffer.from(content_base64, 'base64')], file_name);
};

interface ConversionAsked {
  readonly pages?: string;
  readonly include?: string;
}

/** Converts a document, however it is given. */
export const converted = async (
  caller: DocumentCaller,
  given: GivenDocument,
  asked: ConversionAsked,
): Promise<MarkdownResult> => {
  const file = await documentOf(given, caller);
  if (file instanceof File) return caller.quire.toMarkdown({ file, ...asked });
  const { file_name } = given;
  const body = { ...file, ...asked, ...(file_name !== undefined && { file_name }) };
  return (await caller.quire.api.ocrToMarkdown({ body })) as MarkdownResult;
};

interface ExtractionAsked {
  readonly schema: object;
  readonly mode?: 'fast' | 'standard' | 'robust';
  readonly pages?: string;
}

/** Extracts data from a document, however it is given; what does not fit the schema is listed. */
export const extracted = async (
  caller: DocumentCaller,
  given: GivenDocument,
  asked: ExtractionAsked,
): Promise<ExtractionResult> => {
  const file = await documentOf(given, caller);
  if (file instanceof File) return caller.quire.extract({ file, allow_partial: true, ...asked });
  const { file_uri, tenant_id } = file;
  const { file_name } = given;
  const envelope = {
    schema_version: '1.0',
    operation: 'inference.extract',
    scope: { tenant_id },
    resource: { file_uri },
    payload: { allow_partial: true, ...asked, ...(file_name !== undefined && { file_name }) },
  };
  // The generated union names operations by their schemas.
  const { result } = await caller.quire.api.canonical({ body: envelope as never });
  return result as ExtractionResult;
};
