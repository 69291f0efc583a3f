import { McpServer, type CallToolResult } from '@modelcontextprotocol/server';
import { z } from 'zod';
import { isProblem, UnexpectedAnswerError } from '../../sdk/src/index.ts';
import { VERSION } from '../version.ts';
import { converted, documentMembers, extracted, tenantOf, type DocumentCaller } from './givenDocument.ts';
import { ToolError } from './toolError.ts';

/** Whom the tools work for: the tenant is that of `quote` and `balance` too, if the agent names none. */
export type McpCaller = DocumentCaller;

const READS = { readOnlyHint: true, openWorldHint: false } as const;
/** They cost credits, so a client may ask before it calls them; a repeat costs again. */
const WORKS = {
  readOnlyHint: false,
  destructiveHint: false,
  idempotentHint: false,
  openWorldHint: false,
} as const;

const PAGES = z.string().max(1000).optional().describe('Pages to read, such as 1-3,7. Default: all.');
const TENANT = z.string().min(1).max(128).optional().describe('The tenant whose credits they are.');
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
const told = async (work: () => Promise<CallToolResult>): Promise<CallToolResult> => {
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
        'Convert a document (PDF, scan, picture, Office file, mail, …) to markdown. Costs credits a page.',
      inputSchema: z.object({ ...document, pages: PAGES }),
      annotations: WORKS,
    },
    ({ pages, ...file }) =>
      told(async () => answer((await converted(caller, file, given({ pages }))).markdown)),
  );
  server.registerTool(
    'extract',
    {
      description:
        'Extract data from a document by a JSON Schema, each value with the page and place that it was read from. ' +
        'What is not in the document is left out. Costs credits a page.',
      inputSchema: z.object({
        ...document,
        schema: z.looseObject({}).describe('JSON Schema with type "object" and properties.'),
        mode: MODE,
        pages: PAGES,
      }),
      annotations: WORKS,
    },
    ({ schema, mode, pages, ...file }) =>
      told(async () => {
        const asked = { schema, ...given({ mode, pages }) };
        const { status, result, meta, validation_errors, cost } = await extracted(caller, file, asked);
        return asJson({ status, result, citations: meta.citations, validation_errors, cost });
      }),
  );
  server.registerTool(
    'propose_schema',
    {
      description:
        'Propose a JSON Schema for extract from the labels and table headers of a document. Costs as convert does.',
      inputSchema: z.object({ ...document, pages: PAGES }),
      annotations: WORKS,
    },
    ({ pages, ...file }) =>
      told(async () => {
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
        'Get an address for a file over 700 kB: PUT its bytes to upload_url with the headers, within the hour, ' +
        'then name it by file_uri.',
      inputSchema: z.object({
        file_name: z.string().min(1).max(255).describe('Its name; the ending is a hint of its type.'),
        tenant_id: TENANT,
      }),
      annotations: { ...WORKS, idempotentHint: true },
    },
    ({ file_name, tenant_id }) =>
      told(async () => {
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
      description: 'Say what so many pages would cost in credits; free pages that are left are counted.',
      inputSchema: z.object({
        operation: z.enum(['extract', 'to_markdown']),
        pages: z.int().min(1),
        mode: MODE,
        tenant_id: TENANT,
      }),
      annotations: READS,
    },
    ({ operation, pages, mode, tenant_id }) =>
      told(async () => {
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
      told(async () =>
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
