import { withoutEnd } from '@quire/engine/kernel/text';
import { z } from 'zod';

const httpUrl = z.string().refine((value) => /^https?:\/\//.test(value) && URL.canParse(value), {
  error: 'must be a URL that starts with http:// or https://',
});

const ratio = z
  .string()
  .regex(/^(0|1|0?\.\d+|1\.0*)$/, 'must be a share from 0 to 1, like 0.1')
  .transform(Number);

/** OpenTelemetry's own variables, as far as this service has them. */
export const tracingVariables = {
  OTEL_EXPORTER_OTLP_ENDPOINT: httpUrl.optional(),
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: httpUrl.optional(),
  OTEL_SERVICE_NAME: z.string().min(1).max(255).default('quire'),
  OTEL_TRACES_SAMPLER_ARG: ratio.default(1),
};

type TracingVariables = z.output<z.ZodObject<typeof tracingVariables>>;

/** Where traces go, and how many. */
interface TracingConfig {
  readonly url: string;
  readonly serviceName: string;
  readonly sampleRatio: number;
}

/** undefined: no exporter is configured, nothing is recorded. The endpoint of all signals gets OTLP's path. */
export const tracingFrom = (given: TracingVariables): TracingConfig | undefined => {
  const { OTEL_EXPORTER_OTLP_ENDPOINT: all, OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: own } = given;
  const url = own ?? (all === undefined ? undefined : `${withoutEnd(all, /\//)}/v1/traces`);
  if (url === undefined) return undefined;
  return { url, serviceName: given.OTEL_SERVICE_NAME, sampleRatio: given.OTEL_TRACES_SAMPLER_ARG };
};
