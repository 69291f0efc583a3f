import { z } from 'zod';
import type { Operation } from './protocol.ts';

/** What a service says of itself to those who may open its socket. */
export const serviceFacts = z.object({
  pid: z.number(),
  version: z.string(),
  /** null without the role `api`. */
  url: z.string().nullable(),
  roles: z.array(z.string()),
  up_seconds: z.number(),
});
export type ServiceFacts = z.output<typeof serviceFacts>;

/** Says which service this is. */
export const aboutService =
  (known: Pick<ServiceFacts, 'version' | 'url' | 'roles'>): Operation =>
  (_input, { send }) =>
    send({ ...known, pid: process.pid, up_seconds: Math.floor(process.uptime()) });
