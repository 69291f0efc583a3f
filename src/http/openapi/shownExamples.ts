import examples from './examples.json' with { type: 'json' };
import type { Json } from './openapiSchemas.ts';

/** What a spec sent to the real service, and what came back (`npm run docs:examples`). */
interface Example {
  readonly parameters?: Json;
  readonly body?: unknown;
  readonly status: number;
  readonly answer?: unknown;
}

const EXAMPLES: Readonly<Record<string, Example>> = examples;

/** What the example of an operation sends, by field. */
export const exampleBodyOf = (operationId: string): Json => (EXAMPLES[operationId]?.body ?? {}) as Json;

const inContent = (content: unknown, example: unknown): Json =>
  Object.fromEntries(
    Object.entries(content as Readonly<Record<string, Json>>).map(([type, media]) => [
      type,
      { ...media, example },
    ]),
  );

const shownParameters = (parameters: unknown, values: Json = {}): unknown =>
  (parameters as readonly Json[]).map((parameter) => {
    const value = values[String(parameter['name'])];
    return value === undefined ? parameter : { ...parameter, example: value };
  });

const shownAnswers = (responses: Json, { status, answer }: Example): Json => {
  const response = responses[String(status)] as Json | undefined;
  if (response?.['content'] === undefined || answer === undefined) return responses;
  return { ...responses, [String(status)]: { ...response, content: inContent(response['content'], answer) } };
};

/** An operation with the request and the answer that a spec holds against the service. */
export const withExample = (operationId: string, operation: Json): Json => {
  const example = EXAMPLES[operationId];
  if (example === undefined) return operation;
  const body = operation['requestBody'] as Json | undefined;
  return {
    ...operation,
    parameters: shownParameters(operation['parameters'], example.parameters),
    ...(body !== undefined &&
      example.body !== undefined && {
        requestBody: { ...body, content: inContent(body['content'], example.body) },
      }),
    responses: shownAnswers(operation['responses'] as Json, example),
  };
};
