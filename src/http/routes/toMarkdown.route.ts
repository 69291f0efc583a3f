import type { z } from 'zod';
import type { ApiDeps } from '../apiDeps.ts';
import { defineRoute, KEPT_A_DAY } from '../defineRoute.ts';
import { workFailure } from '../doneOrProblem.ts';
import { channelOf, workOf } from '../formFields.ts';
import { markdownResponse, toMarkdownForm } from '../wire/documents.ts';

export const toMarkdown = (deps: ApiDeps) =>
  defineRoute({
    method: 'post',
    path: '/v1/to-markdown',
    operationId: 'toMarkdown',
    summary: 'A document as markdown and plain text',
    tag: 'Documents',
    access: 'any',
    tenant: 'body',
    serviceActsForAll: true,
    bucket: 'heavy',
    idempotency: KEPT_A_DAY,
    body: toMarkdownForm,
    upload: true,
    reply: { status: 200, schema: markdownResponse },
    problems: [
      'unsupported_file_type',
      'unreadable_file',
      'too_many_pages',
      'unknown_model_provider',
      'insufficient_credits',
      'conversion_failed',
      'storage_error',
      'busy',
    ],
    handle: async (request) => {
      const { body } = request;
      const answer = await deps.convert({
        ...workOf(request),
        mode: body.conversion_mode,
        ocr: channelOf(body.ocr_provider_model, body.ocr_api_key),
      });
      if (answer.kind === 'problem') throw workFailure(answer);
      // The work is billed by now: its shape is held by specs, never by a refusal here.
      return answer.body as unknown as z.input<typeof markdownResponse>;
    },
  });
