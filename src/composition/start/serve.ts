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
import { resolve, type Container } from '../token.ts';
import * as t from '../tokens.ts';

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
export const serve = async (from: Container, isApi: boolean): Promise<Served> => {
  const config = resolve(from, t.CONFIG);
  const parts = resolve(from, t.PARTS);
  const limits = resolve(from, t.TENANT_LIMITS);
  const { isDraining } = resolve(from, t.READINESS);
  const running = runningRequests(isDraining);
  const app = httpApp({
    // A process without the role `api` answers health and metrics alone.
    routes: isApi ? apiRoutes : operationRoutes,
    api: resolve(from, t.API),
    logger: resolve(from, t.LOGGER),
    metrics: httpMetrics(resolve(from, t.REGISTRY)),
    publicUrl: config.publicUrl,
    trustProxy: config.trustProxy,
    pages: isApi ? consoleOf(config) : undefined,
    corsOrigins: config.corsOrigins,
    keys: resolve(from, t.AUTHENTICATOR),
    limits: {
      limiter: parts.limiter,
      bucketsOf: (tenantId) => limits.bucketsOf(tenantId),
      onLimited: rateLimitRefusals(resolve(from, t.REGISTRY)),
      inUse: resolve(from, t.BUCKETS_IN_USE),
    },
    replays: resolve(from, t.REPLAYS),
    uploads: {
      dir: parts.uploadDir,
      bytesMax: config.maxUploadBytes,
      inFlight: resolve(from, t.API).inFlight,
    },
    clock: resolve(from, t.CLOCK),
    isDraining,
    running,
    tracer: config.tracing === undefined ? undefined : resolve(from, t.TRACER),
  });
  const server = await listenOn(app, config);
  if (isApi) parts.address.url = server.url;
  return { ...server, running };
};
