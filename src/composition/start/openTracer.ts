import type { Logger } from 'pino';
import type { Tracer } from '../../../domain/ports/log.ts';
import type { Config } from '../../config.ts';
import { NO_TRACER } from '../../telemetry/tracing.ts';
import { VERSION } from '../../version.ts';

/** The tracer that the configuration asks for. OpenTelemetry is loaded only where it does. */
export const openTracer = async ({ tracing }: Config, logger: Logger): Promise<Tracer> => {
  if (tracing === undefined) return NO_TRACER;
  const { openOtlpTracer } = await import('../../../adapters/telemetry.ts');
  const onError = (err: unknown) => logger.warn({ msg: 'traces could not be sent', err });
  return openOtlpTracer({ ...tracing, version: VERSION, onError });
};
