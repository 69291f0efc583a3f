import { McpServer, type CallToolResult } from '@modelcontextprotocol/server';
import { z } from 'zod';
import { isProblem, UnexpectedAnswerError, type Quire } from '../../sdk/src/index.ts';
import { VERSION } from '../version.ts';
import { documentMembers, documentOf } from './givenDocument.ts';
import { ToolError } from './toolError.ts';

/** Whom the tools work for. */
export interface McpCaller {
  readonly quire: Quire;
  /** The tenant of `quote` and `balance`, if the agent names none. */
  readonly tenant: string | undefined;
  /** The agent's files are this process's files: it may name them by their paths. */
  readonly isLocal: boolean;
}

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

const addDocumentTools = (server: McpServer, { quire, isLocal }: McpCaller): void => {
  const document = documentMembers(isLocal);
  server.registerTool(
    'convert',
    {
      description:
        'Convert a document (PDF, scan, picture, Office file, mail, …) to markdown. Costs credits a page.',
      inputSchema: z.object({ ...document, pages: PAGES }),
      annotations: WORKS,
    },
    ({ pages, ...file }) =>
      told(async () => {
        const converted = await quire.toMarkdown({
          file: await documentOf(file, isLocal),
          ...given({ pages }),
        });
        return answer(converted.markdown);
      }),
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
        const body = { file: await documentOf(file, isLocal), schema, allow_partial: true };
        const { status, result, meta, validation_errors, cost } = await quire.extract({
          ...body,
          ...given({ mode, pages }),
        });
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
        const document = await documentOf(file, isLocal);
        const asked = { file: document, include: 'proposed_schema', ...given({ pages }) };
        return asJson((await quire.toMarkdown(asked)).proposed_schema ?? {});
      }),
  );
};

const addMoneyTools = (server: McpServer, { quire, tenant }: McpCaller): void => {
  const tenantOf = (named: string | undefined): string => {
    const found = named ?? tenant;
    if (found === undefined) throw new ToolError('Give tenant_id, or set QUIRE_TENANT.');
    return found;
  };
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
          tenant_id: tenantOf(tenant_id),
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
      told(async () => asJson(await quire.api.getBalance({ path: { tenant_id: tenantOf(tenant_id) } }))),
  );
};

/** A Model Context Protocol server whose tools are calls of a Quire service. */
export const mcpServer = (caller: McpCaller): McpServer => {
  const server = new McpServer({ name: 'quire', version: VERSION });
  addDocumentTools(server, caller);
  addMoneyTools(server, caller);
  return server;
};
