import { z } from 'zod';
import { defineRoute } from '../../defineRoute.ts';
import { ASSET_NAMES, docsAsset } from '../../openapi/docsPages.ts';

export const getDocsAsset = () =>
  defineRoute({
    method: 'get',
    path: '/docs/assets/{asset}',
    operationId: 'getDocsAsset',
    summary: 'A file of the reference page',
    tag: 'Operations',
    access: 'public',
    always: true,
    params: z.object({ asset: z.enum(ASSET_NAMES) }),
    reply: { status: 200, contentType: 'application/octet-stream' },
    problems: [],
    handle: ({ params, answer }) => {
      answer.header('Cache-Control', 'public, max-age=3600');
      return docsAsset(params.asset);
    },
  });
