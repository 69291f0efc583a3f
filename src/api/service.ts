import { z } from 'zod';
import {
  type HealthReport,
  healthResponse,
  liveResponse,
  readyResponse,
  serviceState,
  type ServiceStateBody,
  type ReadyReport,
} from './schemas/serviceSchemas.ts';
import { type NamedRoute, type Route, routesOver } from '../server/routes.ts';
import {
  ASSET_NAMES,
  DOCS_PAGE,
  DOCS_POLICY,
  docsAsset,
  PROBLEM_PAGE_POLICY,
  problemPage,
  problemPageAsHtml,
} from '../server/pages.ts';
import { PAGE_HEADERS } from '../server/answers.ts';
import { openApiDocument } from '../server/openapi.ts';
import { webhookMessages } from './schemas/webhookMessages.ts';
import { WIRE_CODES } from '../problemTable.ts';
import { problem } from '../server/problems.ts';

/** What these routes need. */
export interface ServiceDeps {
  /** Where clients reach the service. */
  readonly baseUrl: () => string;
  readonly health: () => Promise<HealthReport>;
  /** How this process and what it stands on do. */
  readonly serviceState: () => Promise<ServiceStateBody>;
  /** Whether requests should be sent here. */
  readonly ready: () => Promise<ReadyReport>;
  /** Prometheus text, and its content type. */
  readonly metrics: { readonly contentType: string; readonly text: () => Promise<string> };
}

const { get } = routesOver<ServiceDeps>();

/** A part of the service. `facts` throws when the part is away; what it gives is shown. */
export interface HealthPart {
  readonly name: string;
  readonly facts: () => Promise<Readonly<Record<string, unknown>>>;
}

interface HealthDeps {
  readonly version: string;
  /** Milliseconds since the process started. */
  readonly upMs: () => number;
  readonly parts: readonly HealthPart[];
}

const PATIENCE_MS = 2_000;

const inTime = async <T>(work: Promise<T>): Promise<T> => {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer within ${String(PATIENCE_MS)} ms`)), PATIENCE_MS);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
};

const lookAt = async ({ name, facts }: HealthPart): Promise<readonly [string, Record<string, unknown>]> => {
  try {
    return [name, { status: 'ok', ...(await inTime(facts())) }];
  } catch {
    // Why is in the log; the page is public.
    return [name, { status: 'down' }];
  }
};

/** Asks every part how it is, all at once. A part may say `degraded` of itself. */
export const healthReport =
  ({ version, upMs, parts }: HealthDeps): (() => Promise<HealthReport>) =>
  async () => {
    const looked = Object.fromEntries(await Promise.all(parts.map(lookAt)));
    const isFine = Object.values(looked).every(({ status }) => status === 'ok');
    return {
      status: isFine ? 'ok' : 'degraded',
      version,
      uptime_seconds: Math.floor(upMs() / 1000),
      parts: looked,
    };
  };

export const getServiceState = get(
  '/v1/admin/service-state',
  {
    summary: 'The state of the service: its parts, read models, slots and open work',
    description:
      'Version, roles, slots held by tenants and rate-limit buckets that are not full are those of the process that ' +
      'answers. Parts, read models and open work are shared by all processes.',
    access: 'admin',
    reply: { status: 200, schema: serviceState },
  },
  (_request, deps) => deps.serviceState(),
);

const getDocs = get(
  '/docs',
  {
    summary: 'The reference page',
    description: 'Every operation with its schemas. A key that you type there is not stored.',
    access: 'public',
    always: true,
    reply: { status: 200, contentType: 'text/html' },
  },
  ({ answer }) => {
    answer.header('Content-Security-Policy', DOCS_POLICY);
    for (const [name, value] of Object.entries(PAGE_HEADERS)) answer.header(name, value);
    return Promise.resolve({ contentType: 'text/html; charset=utf-8', body: DOCS_PAGE });
  },
);

const getDocsAsset = get(
  '/docs/assets/{asset}',
  {
    summary: 'A file of the reference page',
    description: 'Scripts and styles of the reference page; it loads nothing from elsewhere.',
    access: 'public',
    always: true,
    params: z.object({ asset: z.enum(ASSET_NAMES) }),
    reply: { status: 200, contentType: 'application/octet-stream' },
  },
  ({ params, answer }) => {
    answer.header('Cache-Control', 'public, max-age=3600');
    return Promise.resolve(docsAsset(params.asset));
  },
);

const getHealth = get(
  '/health',
  {
    summary: 'Whether the service runs, and each of its parts',
    description: '503 with the same body when the event log or the read models cannot be reached.',
    access: 'public',
    always: true,
    reply: { status: 200, schema: healthResponse },
    alsoStatus: [503],
  },
  async ({ answer }, { health }) => {
    const report = await health();
    const isDown = ['event_log', 'read_models'].some((part) => report.parts[part]?.['status'] === 'down');
    if (isDown) answer.status(503);
    return report;
  },
);

const getLiveness = get(
  '/health/live',
  {
    summary: 'Whether the process runs',
    description:
      'It checks no part, and answers 200 during shutdown too. Restart a process that does not answer.',
    access: 'public',
    always: true,
    reply: { status: 200, schema: liveResponse },
  },
  () => Promise.resolve({ status: 'live' as const }),
);

const getMetrics = get(
  '/metrics',
  {
    summary: 'Metrics for Prometheus',
    description: 'In the text format of Prometheus; the list is in the documentation.',
    access: 'public',
    always: true,
    reply: { status: 200, contentType: 'text/plain' },
  },
  async (_request, { metrics }) => ({ contentType: metrics.contentType, body: await metrics.text() }),
);

/** Describes all routes, itself included. Made once: anybody may ask, and it costs a tenth of a second. */
export const getOpenApi = (routes: () => readonly NamedRoute[]) => {
  let made: { readonly url: string; readonly body: string } | undefined;
  return get(
    '/openapi.json',
    {
      summary: 'This interface as OpenAPI 3.1',
      description: 'Clients can be generated from it.',
      access: 'public',
      always: true,
      reply: { status: 200, contentType: 'application/json' },
    },
    (_, { baseUrl }) => {
      const url = baseUrl();
      if (made?.url !== url)
        made = {
          url,
          body: JSON.stringify(openApiDocument({ routes: routes(), webhooks: webhookMessages }, url)),
        };
      return Promise.resolve({ contentType: 'application/json', body: made.body });
    },
  );
};

const MARKDOWN = 'text/markdown';
const HTML = 'text/html';

const getProblemPage = get(
  '/docs/problems/{code}',
  {
    summary: 'What a problem means and what to do',
    description: 'The page that the `type` of a problem links to: HTML for a browser, else markdown.',
    access: 'public',
    always: true,
    params: z.object({ code: z.enum(WIRE_CODES) }),
    reply: { status: 200, contentType: MARKDOWN, alsoContentTypes: [HTML] },
    problems: ['not_found'],
  },
  async ({ params, prefers, answer }) => {
    answer.header('Vary', 'Accept');
    const isHtml = prefers([MARKDOWN, HTML]) === HTML;
    const body = await (isHtml ? problemPageAsHtml(params.code) : problemPage(params.code));
    if (body === undefined) throw problem('not_found', 'This problem has no page here.');
    if (!isHtml) return { contentType: `${MARKDOWN}; charset=utf-8`, body };
    answer.header('Content-Security-Policy', PROBLEM_PAGE_POLICY);
    for (const [name, value] of Object.entries(PAGE_HEADERS)) answer.header(name, value);
    return { contentType: `${HTML}; charset=utf-8`, body };
  },
);

const getReadiness = get(
  '/health/ready',
  {
    summary: 'Whether requests should be sent here',
    description:
      '503 with the same body during shutdown, while the event log or the read models cannot be reached, and in a ' +
      'projecting process until the read models have caught up after its start. If tables of read models were ' +
      'dropped, also until they are filled again. `waiting_for` says why, and names such tables.',
    access: 'public',
    always: true,
    reply: { status: 200, schema: readyResponse },
    alsoStatus: [503],
  },
  async ({ answer }, { ready }) => {
    const report = await ready();
    if (report.status !== 'ready') answer.status(503);
    return report;
  },
);

type Routes = Readonly<Record<string, Route<ServiceDeps>>>;

/** Health and metrics: what every process answers, whatever its roles. */
export const PROBES: Routes = { getHealth, getLiveness, getReadiness, getMetrics };

/** The service's own state. */
export const SERVICE: Routes = { ...PROBES, getDocs, getDocsAsset, getProblemPage };
