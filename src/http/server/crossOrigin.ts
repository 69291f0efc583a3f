import cors from 'cors';
import type { RequestHandler } from 'express';

/** What a page elsewhere may read of an answer, beside its body. */
const READABLE = [
  'Content-Disposition',
  'Idempotent-Replayed',
  'Location',
  'Preference-Applied',
  'RateLimit-Limit',
  'RateLimit-Remaining',
  'RateLimit-Reset',
  'Retry-After',
  'X-Request-Id',
];

const SENT = ['Content-Type', 'Idempotency-Key', 'Prefer', 'X-API-KEY', 'X-Request-Id'];

/** How long a browser remembers that it may ask, seconds. */
const REMEMBERED_S = 600;

/**
 * Lets web pages of the named origins call the service from a browser. Keys travel in a header, so no cookie is
 * let through. Without an origin there is nothing to let in, and browsers keep every page out.
 */
export const crossOrigin = (origins: readonly string[]): readonly RequestHandler[] =>
  origins.length === 0
    ? []
    : [
        cors({
          origin: [...origins],
          methods: ['GET', 'POST', 'PUT', 'DELETE'],
          allowedHeaders: SENT,
          exposedHeaders: READABLE,
          maxAge: REMEMBERED_S,
        }),
      ];
