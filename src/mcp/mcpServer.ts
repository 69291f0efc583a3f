import { z } from 'zod';
import { type CallToolResult, McpServer } from '@modelcontextprotocol/server';
import { fileAt } from '../../sdk/src/files.ts';
import {
  type ExtractionResult,
  isProblem,
  type MarkdownResult,
  type Quire,
  UnexpectedAnswerError,
} from '../../sdk/src/index.ts';
import { ratedOperation } from '../../domain/account/messages.ts';
import { VERSION } from '../version.ts';

/** The input of a tool is invalid; the agent gets the message. */
export class ToolError extends Error {
  override readonly name = 'ToolError';
}

/** What names a document where the agent's files are this process's files. */
const LOCAL = {
  path: z.string().min(1).optional().describe('Path of the document on this machine.'),
};

/** What names a document wherever the agent is. */
const SENT = {
  content_base64: z.string().min(1).optional().describe('The bytes of the document in base64.'),
  file_name: z.string().min(1).max(255).optional().describe('Its name; the ending hints at its type.'),
};

/** What names a document that is too large for a request. */
const UPLOADED = {
  file_uri: z
    .string()
    .min(1)
    .max(200)
    .optional()
    .describe('The file_uri from `upload`, for files over 700 kB.'),
  tenant_id: z.string().min(1).max(128).optional().describe('With file_uri: the tenant of the upload.'),
};

interface GivenDocument {
  readonly path?: string | undefined;
  readonly content_base64?: string | undefined;
  readonly file_name?: string | undefined;
  readonly file_uri?: string | undefined;
  readonly tenant_id?: string | undefined;
}

/** Members of a tool's input that name a document; `isLocal`: files of this machine may be named. */
const documentMembers = (isLocal: boolean) =>
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

/** The caller of work on a document, and how documents may be named. */
interface DocumentCaller {
  readonly quire: Quire;
  readonly isLocal: boolean;
  /** The tenant that is meant where none is named. */
  readonly tenant: string | undefined;
}

const TENANT_MISSING = 'Give tenant_id, or set QUIRE_TENANT.';

const tenantOf = (named: string | undefined, { tenant }: Pick<DocumentCaller, 'tenant'>): string => {
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
const converted = async (
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
const extracted = async (
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

/** Whom the tools work for: the tenant is that of `quote` and `balance` too, if the agent names none. */
type McpCaller = DocumentCaller;

const READS = { readOnlyHint: true, openWorldHint: false } as const;
/** They cost credits, so a client may ask before it calls them; a repeat costs again. */
const WORKS = {
  readOnlyHint: false,
  destructiveHint: false,
  idempotentHint: false,
  openWorldHint: false,
} as const;

const PAGES = z.string().max(1000).optional().describe('Pages to read, such as 1-3,7. Default: all.');
const TENANT = z.string().min(1).max(128).optional().describe('The tenant whose credits are used.');
const MODE = z
  .enum(['fast', 'standard', 'robust'])
  .optional()
  .describe('fast reads text only, robust recognises all pages. Default: standard.');

const answer = (text: string, data?: object): CallToolResult => ({
  content: [{ type: 'text', text }],
  ...(data === undefined ? {} : { structuredContent: { ...data } }),
});

const asJson = (data: object): CallToolResult => answer(JSON.stringify(data, undefined, 2), data);

const refused = (text: string): CallToolResult => ({ ...answer(text), isError: true });

/** Problems are told to the agent, which can mend some; all else ends the call. */
const mendable = async (work: () => Promise<CallToolResult>): Promise<CallToolResult> => {
  try {
    return await work();
  } catch (error) {
    if (isProblem(error) || error instanceof ToolError || error instanceof UnexpectedAnswerError)
      return refused(error.message);
    if (error instanceof TypeError) return refused('The service does not answer.');
    throw error;
  }
};

const given = <T extends object>(members: T): { [Name in keyof T]: Exclude<T[Name], undefined> } =>
  Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as never;

const addDocumentTools = (server: McpServer, caller: McpCaller): void => {
  const document = documentMembers(caller.isLocal);
  server.registerTool(
    'convert',
    {
      description:
        'Convert a document (PDF, scan, picture, Office file, mail, …) to markdown. Costs credits for each page.',
      inputSchema: z.object({ ...document, pages: PAGES }),
      annotations: WORKS,
    },
    ({ pages, ...file }) =>
      mendable(async () => answer((await converted(caller, file, given({ pages }))).markdown)),
  );
  server.registerTool(
    'extract',
    {
      description:
        'Extract data from a document by a JSON Schema, each value with the page and place where it was read. Values ' +
        'that are not in the document are left out. Costs credits for each page.',
      inputSchema: z.object({
        ...document,
        schema: z.looseObject({}).describe('JSON Schema with type "object" and properties.'),
        mode: MODE,
        pages: PAGES,
      }),
      annotations: WORKS,
    },
    ({ schema, mode, pages, ...file }) =>
      mendable(async () => {
        const asked = { schema, ...given({ mode, pages }) };
        const { status, result, meta, validation_errors, cost } = await extracted(caller, file, asked);
        return asJson({ status, result, citations: meta.citations, validation_errors, cost });
      }),
  );
  server.registerTool(
    'propose_schema',
    {
      description:
        'Propose a JSON Schema for extract from the labels and table headers of a document. Costs the same as convert.',
      inputSchema: z.object({ ...document, pages: PAGES }),
      annotations: WORKS,
    },
    ({ pages, ...file }) =>
      mendable(async () => {
        const asked = { include: 'proposed_schema', ...given({ pages }) };
        return asJson((await converted(caller, file, asked)).proposed_schema ?? {});
      }),
  );
};

/** Files that are too large for a request are sent to the service itself. */
const addUpload = (server: McpServer, caller: McpCaller): void => {
  server.registerTool(
    'upload',
    {
      description:
        'Get an address for a file over 700 kB. PUT its bytes to upload_url with the headers within an hour, then ' +
        'name the file by file_uri.',
      inputSchema: z.object({
        file_name: z.string().min(1).max(255).describe('Its name; the ending hints at its type.'),
        tenant_id: TENANT,
      }),
      annotations: { ...WORKS, idempotentHint: true },
    },
    ({ file_name, tenant_id }) =>
      mendable(async () => {
        const body = { file_name, tenant_id: tenantOf(tenant_id, caller) };
        const { upload_url, headers, file_uri, expires_at } = await caller.quire.api.presignUpload({ body });
        return asJson({ upload_url, headers, file_uri, expires_at });
      }),
  );
};

const addMoneyTools = (server: McpServer, caller: McpCaller): void => {
  const { quire } = caller;
  server.registerTool(
    'quote',
    {
      description:
        'Say what this number of pages would cost in credits; free pages that are left are taken into account.',
      inputSchema: z.object({
        operation: ratedOperation,
        pages: z.int().min(1),
        mode: MODE,
        tenant_id: TENANT,
      }),
      annotations: READS,
    },
    ({ operation, pages, mode, tenant_id }) =>
      mendable(async () => {
        const query = {
          operation,
          pages,
          billing_type: 'full_service' as const,
          tenant_id: tenantOf(tenant_id, caller),
        };
        return asJson(await quire.api.getQuote({ query: { ...query, ...given({ extraction_mode: mode }) } }));
      }),
  );
  server.registerTool(
    'balance',
    {
      description: 'Show how many credits and free pages a tenant has left.',
      inputSchema: z.object({ tenant_id: TENANT }),
      annotations: READS,
    },
    ({ tenant_id }) =>
      mendable(async () =>
        asJson(await quire.api.getBalance({ path: { tenant_id: tenantOf(tenant_id, caller) } })),
      ),
  );
};

/** A Model Context Protocol server whose tools are calls of a Quire service. */
export const mcpServer = (caller: McpCaller): McpServer => {
  const server = new McpServer({ name: 'quire', version: VERSION });
  addDocumentTools(server, caller);
  if (!caller.isLocal) addUpload(server, caller);
  addMoneyTools(server, caller);
  return server;
};
