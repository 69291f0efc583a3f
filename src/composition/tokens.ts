import type { Logger } from 'pino';
import type { Clock, Tracer } from '../../domain/ports/log.ts';
import type { ExtractDeps } from '../commands/extract.ts';
import type { Config } from '../config.ts';
import type { Parts } from './parts/openParts.ts';
import { token } from './token.ts';

// What differs from one environment to another.
export const CONFIG = token<Config>('configuration');
/** Log, database, objects, limits and workers, as they were opened. */
export const OPENED = token<Parts>('opened parts');
export const LOGGER = token<Logger>('logger');
export const TRACER = token<Tracer>('tracer');
export const CLOCK = token<Clock>('clock');
export const EXTRACT_DEADLINES = token<ExtractDeps['deadlineMs']>('deadlines of extraction by mode, ms');
