import type { Express } from 'express';
import { codeOf } from '../../../domain/kernel/json.ts';
import { ConfigError, type Config } from '../../config.ts';
import { apiRoutes, operationRoutes } from '../../api/routes.ts';
import { httpApp } from '../../http/server/app.ts';
import { httpMetrics } from '../../http/server/metrics.ts';
import { runningRequests, type RunningRequests } from '../../http/server/runningRequests.ts';
import { listen, type HttpServer } from '../../http/server/server.ts';
import { rateLimitRefusals } from '../metrics/workMetrics.ts';
import { consoleOf } from '../parts/sessionParts.ts';
import type { Context } from '../context.ts';

/** A port that another process has is a mistake of configuration. */
const listenOn = (app: Express, { host, port }: Config): Promise<HttpServer> =>
  listen(app, { host, port }).catch((error: unknown) => {
    if (codeOf(error) !== 'EADDRINUSE') throw error;
    throw new ConfigError(
      `PORT: ${String(port)} on ${host} is in use. Stop that process, or name another port; ` +
        'each process of one machine needs its own.',
    );
  });

interface Served extends HttpServer {
  readonly running: RunningRequests;
}

/** Listens for the API, or in a process without that role for health and metrics alone. */
export const serve = async (from: Context, isApi: boolean): Promise<Served> => {
  const config = from.config;
  const parts = from.parts;
  const limits = from.tenantLimits;
  const { isDraining } = from.readiness;
  const running = runningRequests(isDraining);
  const app = httpApp({
    // A process without the role `api` answers health and metrics alone.
    routes: isApi ? apiRoutes : operationRoutes,
    api: from.api,
    logger: from.logger,
    metrics: httpMetrics(from.registry),
    publicUrl: config.publicUrl,
    trustProxy: config.trustProxy,
    pages: isApi ? consoleOf(config) : undefined,
    corsOrigins: config.corsOrigins,
    keys: from.authenticator,
    limits: {
      limiter: parts.limiter,
      bucketsOf: (tenantId) => limits.bucketsOf(tenantId),
      onLimited: rateLimitRefusals(from.registry),
      inUse: from.bucketsInUse,
    },
    replays: from.replays,
    uploads: {
      dir: parts.uploadDir,
      bytesMax: config.maxUploadBytes,
      inFlight: from.api.inFlight,
    },
    clock: from.clock,
    isDraining,
    running,
    tracer: config.tracing === undefined ? undefined : from.tracer,
  });
  const server = await listenOn(app, config);
  if (isApi) parts.address.url = server.url;
  return { ...server, running };
};
