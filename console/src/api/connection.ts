import { Quire } from '@quire/client';
import { connection } from './send.ts';

/**
 * The service as the signed-in person sees it: `quire.api.<operationId>({ path, query, body })`, typed by the
 * service's description.
 */
export const quire = new Quire(connection);

/** Every call of the service by its operation ID. */
export const api = quire.api;
